/** Receives messages of a push source: stores them raw first, then makes rows. A message is stored completely or not at all. */

import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import type { Database } from '../../database/database.ts'
import { knowing } from '../../database/kysely.ts'
import { inLine } from '../../database/line.ts'
import { retrying, write } from '../../database/write.ts'
import { UnavailableError, UserError } from '../../errors.ts'
import { withBareAddresses } from '../../secrets/address-secrets.ts'
import { quarantine } from '../raw/quarantine.ts'
import { rawTable } from '../raw/raw-table.ts'
import type { Entity, EntityTask } from '../spec/entity.ts'
import { fieldName } from '../spec/fields.ts'
import { idMaker } from '../spec/id-of.ts'
import type { Inbox, PushSource } from '../spec/push-source.ts'
import type { SubtaskKey, TaskRun } from '../spec/subtask.ts'
import { convert } from '../transform/convert.ts'
import { extract } from '../transform/extract.ts'

export const taskOf = (run: TaskRun, connectionId: number): EntityTask => ({
  ...run,
  settings: {},
  params: JSON.stringify({ ConnectionId: connectionId }),
  context: {
    connectionId,
    connection: { endpoint: '' },
    scope: undefined,
    scopeConfig: undefined,
    idOf: idMaker(connectionId),
  },
})

/** Locks the connection until the transaction ends: for one sender at a time, and against rebuilds. */
export async function lockConnection({ kysely }: Database, pushSource: PushSource, id: number): Promise<void> {
  const found = await rowOf(kysely, pushSource, id).forUpdate().executeTakeFirst()
  if (!found) throw noConnection(pushSource, id)
}

/** The same without waiting; false if the connection is already locked. */
async function tryLockConnection({ kysely }: Database, pushSource: PushSource, id: number): Promise<boolean> {
  if (await rowOf(kysely, pushSource, id).forUpdate().skipLocked().executeTakeFirst()) return true
  if (!(await rowOf(kysely, pushSource, id).executeTakeFirst())) throw noConnection(pushSource, id)
  return false
}

const rowOf = (kysely: Database['kysely'], { connections }: PushSource, id: number) =>
  knowing(kysely, connections).selectFrom(connections.name).select('id').where('id', '=', id)
const noConnection = ({ name }: PushSource, id: number) =>
  new UserError(`There is no ${name} connection ${id}.`, { status: 404 })

/** The longest time that a message waits for a rebuild. Then its sender is asked to send it again. */
const PATIENCE_MS = 20_000
const LOOK_MS = 100
const BUSY = Symbol('held by somebody else')

/**
 * Opens a connection for messages: everything that `body` takes becomes visible at once, or nothing if it throws. Messages to a
 * connection wait in a queue, and a message that waits for a rebuild uses no database connection meanwhile.
 */
export function receive<Result>(
  database: Database,
  pushSource: PushSource,
  connectionId: number,
  body: (inbox: Inbox) => Promise<Result>,
  patienceMs = PATIENCE_MS,
): Promise<Result> {
  const deadline = performance.now() + patienceMs
  return inLine(database, `${pushSource.name} ${connectionId}`, async () => {
    for (;;) {
      const result = await receiveNow(database, pushSource, connectionId, body)
      if (result !== BUSY) return result as Result
      if (performance.now() > deadline) {
        throw new UnavailableError(`Connection ${connectionId} is being rebuilt: send this again a little later.`)
      }
      await sleep(LOOK_MS)
    }
  })
}

const receiveNow = <Result>(
  database: Database,
  pushSource: PushSource,
  connectionId: number,
  body: (inbox: Inbox) => Promise<Result>,
): Promise<Result | typeof BUSY> =>
  retrying(database, () =>
    database.transaction(async (inside) => {
      if (!(await tryLockConnection(inside, pushSource, connectionId))) return BUSY
      const task = taskOf({ ...QUIET, database: inside }, connectionId)
      const result = await body({
        connectionId,
        database: inside,
        take: (entity, message, url) => takeMessage(pushSource, task, entity, message, url),
      })
      // Collected records can be asked for again, but pushed messages cannot.
      const { commitDurably } = inside.dialect
      if (commitDurably) await sql.raw(commitDurably).execute(inside.kysely)
      return result
    }),
  )

/** Task options without progress or abort, because nobody watches a single message. */
const QUIET = { options: {}, fullSync: false, signal: new AbortController().signal, progress: () => {} }

async function takeMessage(
  pushSource: PushSource,
  task: EntityTask,
  entity: Entity,
  message: unknown,
  url: string,
): Promise<void> {
  const { database, params } = task
  const subtaskKey: SubtaskKey = { plugin: pushSource.name, subtask: 'receive', params }
  const raw = rawTable(entity.spec.raw as string)
  // Build servers send the addresses from which they clone, which may contain a token.
  const data = Buffer.from(JSON.stringify(withBareAddresses(message)))
  await write(database, [raw.row({ params, data, url: url.replace(/\?.*$/s, '') })])
  // The connection is locked, so its last message is this one.
  const { id } = await knowing(database.kysely, raw)
    .selectFrom(raw.name)
    .select((builder) => builder.fn.max<number>('id').as('id'))
    .where('params', '=', params)
    .executeTakeFirstOrThrow()
  const written = [entity.table, ...(entity.spec.extract?.writes ?? [])]
  const converted = pushSource.entities.filter(({ table, spec }) => spec.convert && written.includes(table))
  const steps = [
    () => extract(entity, task, subtaskKey, [id]),
    ...converted.map((each) => () => convert(each, task, subtaskKey, [id])),
  ]
  for (const step of steps) {
    const { quarantined } = await step()
    if (quarantined > 0) throw new UserError(await reasonOf(database, subtaskKey))
  }
}

/** The reason why a message cannot be stored, with the name of the field instead of the column. */
async function reasonOf({ kysely }: Database, { plugin, subtask, params }: SubtaskKey): Promise<string> {
  const { reason } = await kysely
    .selectFrom(quarantine.name)
    .select('reason')
    .where('plugin', '=', plugin)
    .where('subtask', '=', subtask)
    .where('params', '=', params)
    .executeTakeFirstOrThrow()
  return `${String(reason).replace(/^\w+\.(\w+):/, (_, column) => `${fieldName(column)}:`)}.`
}
