import { sql } from 'kysely'
import { listConnections } from '../../control-plane/connections/connection-states.ts'
import { QUEUED, UNFINISHED } from '../../control-plane/runs/states.ts'
import type { ServiceContext } from '../../control-plane/services.ts'
import { layersOf } from '../../control-plane/storage/storage.ts'
import { knowing } from '../../database/kysely.ts'
import type { AnyTable } from '../../database/table.ts'
import { gaps } from '../../plugin-kit/raw/gaps.ts'
import { quarantine } from '../../plugin-kit/raw/quarantine.ts'
import { pipelines, tasks } from '../../system/pipelines.ts'
import { blueprints, projects } from '../../system/projects.ts'

export type DatabaseReader = ServiceContext

interface Value {
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
}
export interface DatabaseMeasures {
  readonly pipelines: readonly Value[]
  readonly oldest: readonly Value[]
  readonly tasks: readonly Value[]
  readonly budget: readonly Value[]
  readonly working: readonly Value[]
  readonly gaps: readonly Value[]
  readonly quarantine: readonly Value[]
  readonly completed: readonly Value[]
  readonly created: readonly Value[]
  readonly storage: readonly Value[]
}

const PATIENCE_MS = 5000

/** Undefined if the database does not answer. That is still reported, with everything that this process knows itself. */
export async function readDatabase(context: DatabaseReader): Promise<DatabaseMeasures | undefined> {
  const late = new Promise<undefined>((done) => {
    setTimeout(() => done(undefined), PATIENCE_MS).unref()
  })
  return Promise.race([readAll(context), late]).catch(() => undefined)
}

async function readAll(context: DatabaseReader): Promise<DatabaseMeasures> {
  const connections = await listConnections(context)
  const labelsOf = ({ plugin, name }: { plugin: string; name: string }) => ({ plugin, connection: name })
  return {
    ...(await readQueue(context)),
    budget: connections.flatMap((each) =>
      each.requestsLeft === null ? [] : [{ labels: labelsOf(each), value: each.requestsLeft }],
    ),
    working: connections.flatMap((each) =>
      each.state === 'unknown' ? [] : [{ labels: labelsOf(each), value: each.state === 'works' ? 1 : 0 }],
    ),
    gaps: await counts(context, gaps, ['plugin', 'kind']),
    quarantine: await counts(context, quarantine, ['plugin']),
    completed: await lastCompleted(context),
    created: await projectsMade(context),
    storage: await storageNow(context),
  }
}

export async function readQueue({ database: { kysely } }: Pick<DatabaseReader, 'database'>) {
  const unfinished = kysely.selectFrom(pipelines.name).where('status', 'in', UNFINISHED)
  const waiting = await unfinished
    .where('status', 'in', QUEUED)
    .select(({ fn }) => fn.countAll().as('count'))
    .executeTakeFirst()
  // If workers run the tasks, a server takes a run at once. Until one of the tasks has begun, the run still waits.
  const oldest = await unfinished
    .where(({ or, eb, not, exists, selectFrom }) => {
      const own = selectFrom(tasks.name)
        .select('pipeline_id')
        .whereRef(`${tasks.name}.pipeline_id`, '=', `${pipelines.name}.id`)
      return or([eb('status', 'in', QUEUED), not(exists(own.where('began_at', 'is not', null)))])
    })
    .select(({ fn }) => fn.min('created_at').as('at'))
    .executeTakeFirst()
  const all = await unfinished.select(({ fn }) => fn.countAll().as('count')).executeTakeFirst()
  const ofTasks = await kysely
    .selectFrom(tasks.name)
    .where('pipeline_id', 'in', unfinished.select('id'))
    .select(['status', ({ fn }) => fn.countAll().as('count')])
    .groupBy('status')
    .execute()
  const queued = Number(waiting?.count ?? 0)
  const since = oldest?.at as Date | null | undefined
  return {
    pipelines: [
      { labels: { state: 'waiting' }, value: queued },
      { labels: { state: 'running' }, value: Number(all?.count ?? 0) - queued },
    ],
    oldest: [{ labels: {}, value: since ? Math.max(0, (Date.now() - since.getTime()) / 1000) : 0 }],
    tasks: ofTasks.map(({ status, count }) => ({ labels: { status: String(status) }, value: Number(count) })),
  }
}

async function counts({ database: { kysely } }: DatabaseReader, table: AnyTable, names: readonly string[]) {
  const rows = await knowing(kysely, table)
    .selectFrom(table.name)
    .select([...names, ({ fn }) => fn.countAll().as('count')])
    .groupBy([...names])
    .execute()
  return rows.map(({ count, ...labels }) => ({
    labels: Object.fromEntries(Object.entries(labels).map(([name, value]) => [name, String(value)])),
    value: Number(count),
  }))
}

async function lastCompleted({ database: { kysely } }: DatabaseReader): Promise<Value[]> {
  const { rows } = await sql<{ project: string; at: Date | null }>`select blueprint.project_name as project,
      max(run.finished_at) as at
    from ${sql.table(blueprints.name)} as blueprint
    inner join ${sql.table(pipelines.name)} as run on run.blueprint_id = blueprint.id and run.status = 'TASK_COMPLETED'
    where blueprint.project_name <> '' group by blueprint.project_name`.execute(kysely)
  return rows.flatMap(({ project, at }) => (at ? [{ labels: { project }, value: at.getTime() / 1000 }] : []))
}

/** Tells a project that has never succeeded from one that is new. */
async function projectsMade({ database: { kysely } }: DatabaseReader): Promise<Value[]> {
  const rows = await kysely.selectFrom(projects.name).select(['name', 'created_at']).execute()
  return rows.flatMap(({ name, created_at }) =>
    created_at instanceof Date ? [{ labels: { project: String(name) }, value: created_at.getTime() / 1000 }] : [],
  )
}

/** Kept this long, because some engines look at every table for it. */
const STORAGE_KEPT_MS = 300_000
const kept = new WeakMap<object, { readonly at: number; readonly values: Value[] }>()

async function storageNow(context: DatabaseReader): Promise<Value[]> {
  const before = kept.get(context.database)
  if (before && performance.now() - before.at < STORAGE_KEPT_MS) return before.values
  const layers = await layersOf(context)
  const values = layers.map(({ layer, bytes }) => ({ labels: { layer }, value: bytes }))
  kept.set(context.database, { at: performance.now(), values })
  return values
}
