/** Every change leaves an audit entry that tells who changed what and when, and the state before and after, with secrets masked. */
import type { Database } from '../../database/database.ts'
import { retrying } from '../../database/write.ts'
import { maskSecrets } from '../../secrets/secrets.ts'
import { auditEntries } from '../../system/access.ts'
import { insertRow, type Queries } from '../store.ts'

/** The author of a change: a person, the holder of a token or an API key, or Weir itself. */
export interface Actor {
  /** Stays the same when the name changes: `token:ci`, `work:ada`, `api-key:7`, `schedule`. */
  readonly id: string
  readonly name: string
  readonly email: string
  /** Network address, or `command line`. */
  readonly address: string
}

/** The authors of runs that the schedule starts, and of scopes that selectors find. */
export const SCHEDULE: Actor = { id: 'schedule', name: 'schedule', email: '', address: '' }
export const SELECTORS: Actor = { id: 'selectors', name: 'scope selectors', email: '', address: '' }
/** The author of calculations that start because a tool sent data to a project. */
export const MESSAGES: Actor = { id: 'messages', name: 'what was sent', email: '', address: '' }
/** The author when the code names none, as in a test. */
export const NOBODY: Actor = { id: 'weir', name: '', email: '', address: '' }

export const ACTIONS = [
  ...(['create', 'update', 'delete', 'adopt', 'push'] as const),
  ...(['run', 'rerun', 'cancel'] as const),
  ...(['sign-in', 'sign-in failed', 'sign-out'] as const),
] as const
export type Action = (typeof ACTIONS)[number]

interface Change {
  readonly action: Action
  /** Such as `github connection`. */
  readonly subject: string
  /** The name or id of the changed record. */
  readonly key: string
  readonly before: unknown
  readonly after: unknown
}

/** Longer states are replaced by their length, because the column cannot hold a blueprint of thousands of scopes. */
const LONGEST_STATE = 200_000
function stateOf(value: unknown): unknown {
  // The plan of a NORMAL blueprint is computed from its other fields, so it is left out.
  const state = isObject(value) && value.mode === 'NORMAL' ? { ...value, plan: undefined } : (value ?? null)
  const masked = maskSecrets(state)
  const { length } = JSON.stringify(masked)
  return length > LONGEST_STATE ? { omitted: `${length} characters` } : masked
}
const isObject = (value: unknown): value is Record<string, unknown> => value !== null && typeof value === 'object'

/** `queries` must be the transaction of the change, so that neither the change nor its entry exists without the other. */
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

/** Runs `act` and writes its audit entry in one transaction. The result of `act` is recorded as the state after the change. */
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
