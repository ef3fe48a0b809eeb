import { createRootRoute, Outlet, useLocation } from '@tanstack/react-router'
import { Frame, Lost } from './frame/frame.tsx'

/** Whoever comes by a public link has no other page to go to, and need not be known. */
const Root = () => (useLocation().pathname.startsWith('/shared/') ? <Outlet /> : <Frame />)

/** What all pages lie in. */
export const root = createRootRoute({ component: Root, notFoundComponent: Lost })
