import { createRootRoute, Outlet, useLocation } from '@tanstack/react-router'
import { Frame, Lost } from './frame/frame.tsx'

/** Whoever comes by a public link has no other page to go to, and need not be known. */
const Root = () => (useLocation().pathname.startsWith('/shared/') ? <Outlet /> : <Frame />)

/** What all pages lie in. */
export const root = createRootRoute({ component: Root, notFoundComponent: Lost })

/** Of an address: what it says after the question mark is text that anybody may have written. */
export const text = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value : typeof value === 'number' ? String(value) : undefined
