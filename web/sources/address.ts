import { text } from '../parts/address.ts'

export interface ConnectionListView {
  /** Words that the connection must contain. */
  readonly find?: string
}

export interface ConnectionView {
  readonly find?: string
  /** The drawer with the settings is open. */
  readonly edit?: true
  /** The drawer with scopes that could be collected is open. */
  readonly add?: true
}

export const found = (search: Record<string, unknown>) =>
  text(search.find) ? { find: text(search.find) as string } : {}
