import { text } from '../../parts/address.ts'

interface RuleView {
  /** The drawer with the scopes that use the rules is open. */
  readonly scopes?: true
  /** The project that the effect is shown for. */
  readonly project?: string
}

export const known = (search: Record<string, unknown>): RuleView => ({
  ...(Boolean(search.scopes) && { scopes: true as const }),
  ...(text(search.project) && { project: text(search.project) as string }),
})
