import { createRootRoute } from '@tanstack/react-router'
import { Frame, Lost } from './frame/frame.tsx'

/** What all pages lie in. */
export const root = createRootRoute({ component: Frame, notFoundComponent: Lost })

/** Of an address: what it says after the question mark is text that anybody may have written. */
export const text = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value : typeof value === 'number' ? String(value) : undefined
