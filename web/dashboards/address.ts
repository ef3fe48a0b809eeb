import { text } from '../parts/address.ts'

export const REFRESHES = ['1m', '5m', '15m'] as const
export type Refresh = (typeof REFRESHES)[number]
export const MARKS = ['deployment', 'incident', 'switch', 'change'] as const
export type Mark = (typeof MARKS)[number]

/** The state of a dashboard in its address, which is read and written as in Grafana. */
export interface DashboardSearch {
  readonly from?: string
  readonly to?: string
  readonly refresh?: Refresh
  readonly compare?: true
  /** Kinds of annotations, separated by commas. Left out: all kinds; `none`: no kind. */
  readonly marks?: string
  /** Shows nothing but panels. */
  readonly kiosk?: true
  /** The metric whose items are shown, for the whole range or for a part of it. */
  readonly explain?: string
  readonly reason?: string
  readonly since?: string
  readonly until?: string
  /** True while the user arranges the panels of an own dashboard. */
  readonly edit?: true
  /** The drawer with public links is open. */
  readonly share?: true
  readonly [variable: `var-${string}`]: string | readonly string[] | undefined
}

const TEXTS = ['from', 'to', 'explain', 'reason', 'since', 'until', 'marks'] as const
const FLAGS = ['compare', 'kiosk', 'edit', 'share'] as const

export const view = (search: Record<string, unknown>): DashboardSearch => {
  const entries: [string, unknown][] = []
  for (const name of TEXTS) if (text(search[name])) entries.push([name, text(search[name])])
  for (const name of FLAGS) if (search[name]) entries.push([name, true])
  if (REFRESHES.includes(search.refresh as Refresh)) entries.push(['refresh', search.refresh])
  for (const [name, value] of Object.entries(search)) {
    if (name.startsWith('var-') && value !== undefined) entries.push([name, value])
  }
  return Object.fromEntries(entries) as DashboardSearch
}

export interface ListSearch {
  /** The form for a new one is open. */
  readonly new?: true
}
