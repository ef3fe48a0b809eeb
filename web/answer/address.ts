/** Everything that the answer's page shows is in its address, so that it can be sent to a colleague. */
import { present, text } from '../parts/address.ts'

/** Whose answer: that of one of these, or of all. */
interface WhoseSearch {
  readonly project?: string
  readonly team?: string
  readonly group?: string
}

interface AnswerSearch extends WhoseSearch {
  /** Months back from now, if no range is set. */
  readonly months?: number
  readonly from?: string
  readonly to?: string
  /** The metric whose heaviest items are shown. */
  readonly look?: string
  /** The metric whose items are open, and their part of the range. */
  readonly items?: string
  readonly since?: string
  readonly until?: string
}

export const MONTHS = [1, 3, 6, 12] as const
export const DEFAULT_MONTHS = 6

const moment = (value: unknown): string | undefined => {
  const time = new Date(String(value))
  return typeof value === 'string' && !Number.isNaN(time.getTime()) ? time.toISOString() : undefined
}

export const view = (search: Record<string, unknown>): AnswerSearch => {
  const [from, to] = [moment(search.from), moment(search.to)]
  return present({
    project: text(search.project),
    team: text(search.team),
    group: text(search.group),
    months: MONTHS.find((each) => each === Number(search.months) && each !== DEFAULT_MONTHS),
    ...(from && to && from < to && { from, to }),
    look: text(search.look),
    items: text(search.items),
    since: moment(search.since),
    until: moment(search.until),
  })
}
