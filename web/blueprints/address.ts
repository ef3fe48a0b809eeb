const DRAWERS = ['plan', 'selector'] as const
export type OpenDrawer = (typeof DRAWERS)[number]
export interface Opened {
  /** The open drawer: the plan, or a new selector. */
  readonly drawer?: OpenDrawer
}
export const opened = (search: Record<string, unknown>): Opened =>
  DRAWERS.includes(search.drawer as OpenDrawer) ? { drawer: search.drawer as OpenDrawer } : {}

export interface Beginning {
  /** The project that the new blueprint is for. */
  readonly project?: string
}
