/**
 * A feed is a source that pushes: nothing is asked of it, and a connection is an address that it sends to.
 *
 * message   one thing that it sends; kept raw first, then it takes the way of what is collected: raw → tool → domain
 * rebuild   the subtasks of a feed make everything anew from the messages that were kept
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import { withBareAddresses } from '../address-secrets.ts'
import type { Database } from '../database/database.ts'
import { inLine } from '../database/line.ts'
import type { Column, Columns, Table, TableRow } from '../database/table.ts'
import { retrying, write } from '../database/write.ts'
import { decimalOf } from '../decimal.ts'
import { UnavailableError, UserError } from '../errors.ts'
import { convert, redriveConvert } from './convert.ts'
import type { Entity } from './entity.ts'
import { type Engines, entitySubtasks, entityTables } from './entity-subtasks.ts'
import { extract, redriveExtract } from './extract.ts'
import { idMaker } from './id-of.ts'
import { inTableOrder } from './order.ts'
import type { Spelling } from './plugin.ts'
import { type Place, quarantine } from './quarantine.ts'
import { rawTable } from './raw.ts'
import { connectionTable, fieldName } from './settings-tables.ts'
import type { EntityTask } from './source-task.ts'
import type { Plugin, TaskRun } from './subtask.ts'

export interface FeedSpec {
  readonly name: string
  readonly title: string
  readonly spelling: Spelling
  /** The rows of the domain model that a connection stands for. */
  readonly scopes: (connection: { readonly id: number; readonly name: string }) => readonly TableRow[]
  readonly entities: readonly Entity[]
}
export interface Feed extends FeedSpec {
  readonly connections: Table<any>
}

/** The fields of a message are columns of a tool table; some may hold certain words only. */
export type MessageFields = Readonly<Record<string, Column<any> & { readonly words?: readonly string[] }>>

/** What may be sent, and the entity that is made of it. */
export interface Message {
  readonly entity: Entity
  readonly fields: MessageFields
  /** Lists of further fields within it; each holds at least one element. */
  readonly lists?: Readonly<Record<string, MessageFields>>
}

/** Columns that are read from fields of their own names in camel case, unless they say otherwise. */
export const sent = <const C extends Columns>(columns: C): C =>
  Object.fromEntries(
    Object.entries(columns).map(([name, column]) => [name, { source: fieldName(name), ...column }]),
  ) as C

export const oneOf = <C extends Column<any>>(
  words: readonly string[],
  column: C,
): C & { words: readonly string[] } => ({
  ...column,
  words,
})

const ENGINES: Engines<EntityTask> = {
  extract: { run: extract, redrive: redriveExtract },
  convert: { run: convert, redrive: redriveConvert },
}

export function defineFeed(spec: FeedSpec): Plugin {
  const feed: Feed = { ...spec, connections: connectionTable(spec.name, spec.title, {}) }
  const rebuild = async <Result>(run: TaskRun, body: (task: EntityTask) => Promise<Result>) => {
    const connectionId = decimalOf(run.options.connectionId)
    if (connectionId === undefined) throw new UserError(`${feed.name}: the option connectionId is missing.`)
    // Messages that arrive meanwhile wait: they must not be overwritten by older ones, nor swept away.
    return run.database.aside((own) =>
      own.transaction(async (locking) => {
        await lockConnection(locking, feed, connectionId)
        return body(taskOf(run, connectionId))
      }),
    )
  }
  return {
    name: feed.name,
    title: feed.title,
    tables: [feed.connections, ...entityTables(feed.entities)],
    subtasks: inTableOrder(entitySubtasks(feed, ENGINES, rebuild)),
    feed,
  }
}

const taskOf = (run: TaskRun, connectionId: number): EntityTask => ({
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

/** Holds the connection until the transaction ends: one sender at a time, and no rebuild. */
async function lockConnection({ kysely }: Database, feed: Feed, id: number): Promise<void> {
  const found = await rowOf(kysely, feed, id).forUpdate().executeTakeFirst()
  if (!found) throw noConnection(feed, id)
}

/** The same without waiting: false when somebody else holds it. */
async function tryLockConnection({ kysely }: Database, feed: Feed, id: number): Promise<boolean> {
  if (await rowOf(kysely, feed, id).forUpdate().skipLocked().executeTakeFirst()) return true
  if (!(await rowOf(kysely, feed, id).executeTakeFirst())) throw noConnection(feed, id)
  return false
}

const rowOf = (kysely: Database['kysely'], { connections }: Feed, id: number) =>
  kysely.selectFrom(connections.name).select('id').where('id', '=', id)
const noConnection = ({ name }: Feed, id: number) =>
  new UserError(`There is no ${name} connection ${id}.`, { status: 404 })

export interface Inbox {
  readonly connectionId: number
  readonly database: Database
  /** Keeps a message as it came, and makes the rows that follow from it. `url` tells where it was sent to. */
  take(entity: Entity, message: unknown, url: string): Promise<void>
}

/** So long a message waits for a rebuild; then its sender is asked to send it again. */
const PATIENCE_MS = 20_000
const LOOK_MS = 100
const BUSY = Symbol('held by somebody else')

/**
 * Opens a connection to what is sent to it: all that `body` takes becomes visible at once, or nothing when it throws.
 * Messages of a connection stand in line, and whoever waits for a rebuild holds no database connection meanwhile.
 */
export function receive<Result>(
  database: Database,
  feed: Feed,
  connectionId: number,
  body: (inbox: Inbox) => Promise<Result>,
  patienceMs = PATIENCE_MS,
): Promise<Result> {
  const deadline = performance.now() + patienceMs
  return inLine(database, `${feed.name} ${connectionId}`, async () => {
    for (;;) {
      const result = await receiveNow(database, feed, connectionId, body)
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
  feed: Feed,
  connectionId: number,
  body: (inbox: Inbox) => Promise<Result>,
): Promise<Result | typeof BUSY> =>
  retrying(database, () =>
    database.transaction(async (inside) => {
      if (!(await tryLockConnection(inside, feed, connectionId))) return BUSY
      const task = taskOf({ ...QUIET, database: inside }, connectionId)
      const result = await body({
        connectionId,
        database: inside,
        take: (entity, message, url) => takeMessage(feed, task, entity, message, url),
      })
      // What was collected can be asked for again; what was pushed cannot.
      const { commitDurably } = inside.dialect
      if (commitDurably) await sql.raw(commitDurably).execute(inside.kysely)
      return result
    }),
  )

/** Nobody watches a message on its way. */
const QUIET = { options: {}, fullSync: false, signal: new AbortController().signal, progress: () => {} }

async function takeMessage(feed: Feed, task: EntityTask, entity: Entity, message: unknown, url: string): Promise<void> {
  const { database, params } = task
  const place: Place = { plugin: feed.name, subtask: 'receive', params }
  const raw = rawTable(entity.spec.raw as string)
  // Build servers send the addresses that they clone from, with a token of theirs in it.
  const data = Buffer.from(JSON.stringify(withBareAddresses(message)))
  await write(database, [raw.row({ params, data, url: url.replace(/\?.*$/s, '') })])
  // The connection is locked, so that the last message of it is this one.
  const { id } = await database.kysely
    .selectFrom(raw.name)
    .select((builder) => builder.fn.max<number>('id').as('id'))
    .where('params', '=', params)
    .executeTakeFirstOrThrow()
  const written = [entity.table, ...(entity.spec.extract?.writes ?? [])]
  const converted = feed.entities.filter(({ table, spec }) => spec.convert && written.includes(table))
  const steps = [
    () => extract(entity, task, place, [id]),
    ...converted.map((each) => () => convert(each, task, place, [id])),
  ]
  for (const step of steps) {
    const { quarantined } = await step()
    if (quarantined > 0) throw new UserError(await reasonOf(database, place))
  }
}

/** Why a message cannot be stored; nobody has to know the column that it does not fit. */
async function reasonOf({ kysely }: Database, { plugin, subtask, params }: Place): Promise<string> {
  const { reason } = await kysely
    .selectFrom(quarantine.name)
    .select('reason')
    .where('plugin', '=', plugin)
    .where('subtask', '=', subtask)
    .where('params', '=', params)
    .executeTakeFirstOrThrow()
  return `${String(reason).replace(/^\w+\.(\w+):/, (_, column) => `${fieldName(column)}:`)}.`
}
