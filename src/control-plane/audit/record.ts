/** Every change leaves an entry: who, when, what, and how it was before and after, secrets masked. */
import type { Database } from '../../database/database.ts'
import { retrying } from '../../database/write.ts'
import { maskSecrets } from '../../secrets.ts'
import { auditEntries } from '../../system/access.ts'
import { insertRow, type Queries } from '../store.ts'

/** Who changes something: a person, the holder of a token or an API key, or Weir itself. */
export interface Actor {
  /** The same for the same one, whatever they are called: `token:ci`, `work:ada`, `api-key:7`, `schedule`. */
  readonly id: string
  readonly name: string
  readonly email: string
  /** Network address, or `command line`. */
  readonly address: string
}

/** Runs that the schedule starts, and scopes that selectors find. */
export const SCHEDULE: Actor = { id: 'schedule', name: 'schedule', email: '', address: '' }
export const SELECTORS: Actor = { id: 'selectors', name: 'scope selectors', email: '', address: '' }
/** Calculations of projects that something was sent to. */
export const MESSAGES: Actor = { id: 'messages', name: 'what was sent', email: '', address: '' }
/** Code that nobody has spoken for, such as a test. */
export const NOBODY: Actor = { id: 'weir', name: '', email: '', address: '' }

export const ACTIONS = [
  ...(['create', 'update', 'delete', 'adopt', 'push'] as const),
  ...(['run', 'rerun', 'cancel'] as const),
  ...(['sign-in', 'sign-in failed', 'sign-out'] as const),
] as const
export type Action = (typeof ACTIONS)[number]

export interface Change {
  readonly action: Action
  /** Such as `github connection`. */
  readonly subject: string
  /** Its name or id. */
  readonly key: string
  readonly before: unknown
  readonly after: unknown
}

/** The column holds less than a blueprint of thousands of scopes. */
const LONGEST_STATE = 200_000
function stateOf(value: unknown): unknown {
  // A NORMAL plan is made again from the rest.
  const state = isObject(value) && value.mode === 'NORMAL' ? { ...value, plan: undefined } : (value ?? null)
  const masked = maskSecrets(state)
  const { length } = JSON.stringify(masked)
  return length > LONGEST_STATE ? { omitted: `${length} characters` } : masked
}
const isObject = (value: unknown): value is Record<string, unknown> => value !== null && typeof value === 'object'

/** `queries` is the transaction of the change: there is none without its entry, and no entry without its change. */
export async function recordChange(queries: Queries, actor: Actor, change: Change): Promise<void> {
  await insertRow(queries, auditEntries, {
    actor_id: actor.id,
    actor: actor.name,
    actor_email: actor.email,
    address: actor.address,
    action: change.action,
    subject: change.subject,
    subject_key: change.key,
    state_before: stateOf(change.before),
    state_after: stateOf(change.after),
  })
}

/** Does something in a transaction, together with its entry; `after` is what it gives. */
export const doRecorded = <Result>(
  database: Database,
  actor: Actor,
  change: Omit<Change, 'before' | 'after'>,
  act: (inside: Database) => Promise<Result>,
): Promise<Result> =>
  retrying(database, () =>
    database.transaction(async (inside) => {
      const after = await act(inside)
      await recordChange(inside.kysely, actor, { ...change, before: null, after })
      return after
    }),
  )
