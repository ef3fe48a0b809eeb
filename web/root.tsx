import { createRootRoute, Outlet, useLocation } from '@tanstack/react-router'
import { Frame, Lost } from './frame/frame.tsx'

/** Visitors with a public link have no other page to go to, and need not sign in. */
const Root = () => (useLocation().pathname.startsWith('/shared/') ? <Outlet /> : <Frame />)

/** The root of all pages. */
export const root = createRootRoute({ component: Root, notFoundComponent: Lost })
