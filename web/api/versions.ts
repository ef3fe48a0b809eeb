/** For two people who edit the same record: each change is sent with the version that its page has seen. */
import { Refused } from './ask.ts'

export interface Version {
  readonly updatedAt: string
}

/** The `header` of a PATCH, which is refused if somebody has changed the record since. */
export const unlessChanged = ({ updatedAt }: Version) => ({ 'if-match': `"${updatedAt}"` })

/** Returns the present record if a change was refused because of it. */
export const changedSince = <Stored extends Version>(error: unknown): Stored | undefined =>
  error instanceof Refused && error.status === 412 ? (error.data as Stored) : undefined
