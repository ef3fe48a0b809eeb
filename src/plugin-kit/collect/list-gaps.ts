import { type Page, safeUrl } from '../http/index.ts'
import type { Gap } from '../raw/gaps.ts'
import type { List } from './collection.ts'

/** The name under which the gaps of a list are stored. All parts by time count as one list. */
export const gapList = ({ kind, key }: Pick<List, 'kind' | 'key'>): string => (kind === 'window' ? '' : key)

/** The gap for a page in which the source itself says that something is missing. */
export const problemGap = (list: List, { problems, response }: Page, since: Date | null): Gap => ({
  list: gapList(list),
  kind: 'count',
  address: safeUrl(response.url),
  status: null,
  input: list.input,
  reason: problems.join('; '),
  since: list.since ?? since,
  missing: problems.length,
})

export const cappedGap = (list: Pick<List, 'kind' | 'key'>, reason: string, address: string): Gap => ({
  list: gapList(list),
  kind: 'capped',
  address,
  status: null,
  reason,
  input: null,
  since: null,
  missing: null,
})
