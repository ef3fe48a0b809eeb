import { type Opened, opened } from '../blueprints/address.ts'
import { text } from '../parts/address.ts'

const SORTS = ['newest', 'oldest', 'name'] as const
export type Sort = (typeof SORTS)[number]

interface Listing {
  readonly find?: string
  readonly sort?: Sort
  /** The drawer for a new project is open. */
  readonly new?: true
}

export const listing = (search: Record<string, unknown>): Listing => ({
  ...(text(search.find) && { find: text(search.find) as string }),
  ...(SORTS.includes(search.sort as Sort) && { sort: search.sort as Sort }),
  ...(Boolean(search.new) && { new: true as const }),
})

export const TABS = ['keys', 'blueprint', 'webhooks', 'policies', 'rollouts', 'settings'] as const
export type Tab = (typeof TABS)[number]

interface View extends Opened {
  readonly tab?: Tab
  /** Months back from now. */
  readonly months?: number
  /** The metric whose explanation is open. */
  readonly explain?: string
  readonly reason?: string
}

export const view = (search: Record<string, unknown>): View => ({
  ...(TABS.includes(search.tab as Tab) && search.tab !== 'keys' && { tab: search.tab as Tab }),
  ...([1, 3, 6, 12].includes(Number(search.months)) && { months: Number(search.months) }),
  ...(text(search.explain) && { explain: text(search.explain) as string }),
  ...(text(search.reason) && { reason: text(search.reason) as string }),
  ...opened(search),
})
