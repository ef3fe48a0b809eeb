/** Finds changes by making them: it compares the stored state before and after, whatever was sent. */
import { isDeepStrictEqual } from 'node:util'
import type { Database } from '../database/database.ts'
import { maskSecrets } from '../secrets/secrets.ts'

export interface ConfigChange {
  readonly action: 'create' | 'update'
  /** Such as `github connection main`. */
  readonly subject: string
  readonly fields: readonly ChangedField[]
  /** Further consequences, in sentences that begin with the verb. */
  readonly notes?: readonly string[]
}
export interface ChangedField {
  readonly name: string
  readonly before: unknown
  readonly after: unknown
}
export type State = Readonly<Record<string, unknown>>

export interface Changing {
  /** The transaction in which all changes are made. */
  readonly database: Database
  readonly changes: ConfigChange[]
}

interface Subject {
  readonly subject: string
  /** Returns the state with secrets in clear, or undefined if it does not exist yet. */
  readonly read: () => Promise<State | undefined>
  readonly write: () => Promise<unknown>
  /** Values that something new has by default, and that need not be reported. */
  readonly standard?: State
  readonly isSecret?: (field: string) => boolean
  /** Converts a value for people, such as an id to a name. */
  readonly show?: (field: ChangedField) => ChangedField
  readonly notes?: (before: State | undefined, after: State) => readonly string[] | Promise<readonly string[]>
}

/** Rolls back a part of a transaction. */
class Discarded extends Error {}

/** Writes, and keeps the result only if it makes a difference. */
export async function change({ database, changes }: Changing, subject: Subject): Promise<void> {
  const { read, write, standard = {}, isSecret = () => false, show = (field) => field, notes = () => [] } = subject
  const before = await read()
  try {
    await database.transaction(async () => {
      await write()
      const after = (await read()) ?? {}
      const fields = differences(before ?? { ...emptied(after), ...standard }, after)
      if (before && fields.length === 0) throw new Discarded()
      const action = before ? 'update' : 'create'
      const told = await notes(before, after)
      changes.push({
        action,
        subject: subject.subject,
        fields: fields.map((each) => masked(show(each), isSecret(each.name))),
        ...(told.length > 0 && { notes: told }),
      })
    })
  } catch (error) {
    if (!(error instanceof Discarded)) throw error
  }
}

const emptied = (state: State): State => Object.fromEntries(Object.keys(state).map((name) => [name, null]))
export const isEmpty = (value: unknown) =>
  ([undefined, null, '', 0, false] as unknown[]).includes(value) || isDeepStrictEqual(value, [])
export const isSame = (left: unknown, right: unknown): boolean => isDeepStrictEqual(left ?? null, right ?? null)

function differences(before: State, after: State): ChangedField[] {
  return [...new Set([...Object.keys(before), ...Object.keys(after)])]
    .map((name) => ({ name, before: before[name] ?? null, after: after[name] ?? null }))
    .filter((each) => !isSame(each.before, each.after) && !(isEmpty(each.before) && isEmpty(each.after)))
}

const HIDDEN = '(secret)'
function masked({ name, before, after }: ChangedField, isSecret: boolean): ChangedField {
  const mask = (value: unknown) => (isSecret && value ? HIDDEN : maskSecrets(value, name))
  return { name, before: mask(before), after: mask(after) }
}
