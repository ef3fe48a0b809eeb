/** Two people who edit the same thing: what a page saw goes with what it saves. */
import { Refused } from './ask.ts'

export interface Version {
  readonly updatedAt: string
}

/** As `header` of a PATCH: it is refused when somebody changed the record since. */
export const unlessChanged = ({ updatedAt }: Version) => ({ 'if-match': `"${updatedAt}"` })

/** The record as it is now, where that is why a change was refused. */
export const changedSince = <Stored extends Version>(error: unknown): Stored | undefined =>
  error instanceof Refused && error.status === 412 ? (error.data as Stored) : undefined
