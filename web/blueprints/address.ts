export const DRAWERS = ['plan', 'selector'] as const
export type OpenDrawer = (typeof DRAWERS)[number]
export interface Opened {
  /** The drawer with the plan, or the one for a new selector, is open. */
  readonly drawer?: OpenDrawer
}
export const opened = (search: Record<string, unknown>): Opened =>
  DRAWERS.includes(search.drawer as OpenDrawer) ? { drawer: search.drawer as OpenDrawer } : {}

export interface Beginning {
  /** Whose blueprint it will be. */
  readonly project?: string
}
