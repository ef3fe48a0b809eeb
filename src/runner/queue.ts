/** Decides which pipeline runs next and which server runs it. Every change is made under a lock that all servers of a database share. */
import { randomUUID } from 'node:crypto'
import type { PipelineRow } from '../control-plane/runs/pipeline-rows.ts'
import { isFinished, QUEUED, UNFINISHED } from '../control-plane/runs/states.ts'
import { deleteRows, findRow, insertRow, type Queries, selectRows, updateRows } from '../control-plane/store.ts'
import type { Database } from '../database/database.ts'
import type { RowOf } from '../database/table.ts'
import type { TaskStatus } from '../domain/enums.ts'
import { pipelineLabels, pipelines, tasks } from '../system/pipelines.ts'
import { pipelineLeases, servers, wantedCalculations } from '../system/runs.ts'
import { likelyCause, ranOutOfMemory, recordInterruption } from './interruptions.ts'
import type { Interruption } from './task-dispatch.ts'

const LOCK = 'pipelines'
/** Pipelines that share a label with this prefix never run at the same time. */
const EXCLUSIVE = 'parallel/'

/** Takes the next pipeline for a lease holder. Undefined when none may run now, or when others took the lease holder for dead. */
export async function takeNext(
  database: Database,
  leaseHolder: string,
  maxParallel: number,
): Promise<PipelineRow | undefined> {
  if ((await idsIn(database.kysely, QUEUED)).length === 0) return undefined
  return database.lockedBriefly(LOCK, async ({ kysely }) => {
    if (!(await findRow(kysely, servers, { holder: leaseHolder }))) return undefined
    const running = await idsIn(kysely, ['TASK_RUNNING'])
    const waiting = await idsIn(kysely, QUEUED)
    const calculating = await calculatingIds(kysely)
    // A calculation takes seconds, and must not wait for a collection that takes hours.
    const calculation = waiting.find(({ id }) => calculating.has(id))
    if (calculation) return take(kysely, calculation.id, leaseHolder)
    const collecting = running.filter(({ id }) => !calculating.has(id))
    if (maxParallel > 0 && collecting.length >= maxParallel) return undefined
    // The waiting pipelines were cancelled while this server waited for the lock.
    if (waiting.length === 0) return undefined
    const labels = await exclusiveLabels(kysely)
    const taken = new Set(running.flatMap(({ id }) => labels.get(id) ?? []))
    // When everything of the highest priority is blocked, lower priorities wait too. Otherwise the highest would never get its turn.
    const next = waiting
      .filter(({ priority }) => priority === waiting[0]?.priority)
      .find(({ id }) => !labels.get(id)?.some((label) => taken.has(label)))
    return next && take(kysely, next.id, leaseHolder)
  })
}

async function take(queries: Queries, id: number, holder: string): Promise<PipelineRow | undefined> {
  // A pipeline that was interrupted keeps the time at which it first began.
  const before = await findRow(queries, pipelines, { id, status: 'TASK_RESUME' })
  const values = {
    status: 'TASK_RUNNING',
    message: '',
    error_name: '',
    began_at: before?.began_at ?? new Date(),
  }
  const changed = await updateRows(queries, pipelines, { id, status: [...QUEUED] }, values)
  if (changed === 0) return undefined
  await deleteRows(queries, pipelineLeases, { pipeline_id: id })
  await insertRow(queries, pipelineLeases, { pipeline_id: id, holder, cancel_requested: false })
  return findRow(queries, pipelines, { id })
}

const unfinishedIds = (queries: Queries) =>
  queries.selectFrom(pipelines.name).select('id').where('status', 'in', UNFINISHED)

/** Unfinished runs that only calculate, because tools sent data. */
async function calculatingIds(queries: Queries): Promise<ReadonlySet<number>> {
  const rows = await selectRows(queries, wantedCalculations, (query) =>
    query.where('pipeline_id', 'in', unfinishedIds(queries)),
  )
  return new Set(rows.map(({ pipeline_id }) => pipeline_id))
}

/** Reads only ids and priorities. */
const idsIn = (queries: Queries, states: readonly TaskStatus[]): Promise<Pick<PipelineRow, 'id' | 'priority'>[]> =>
  queries
    .selectFrom(pipelines.name)
    .select(['id', 'priority'])
    .where('status', 'in', states)
    .orderBy('priority', 'desc')
    .orderBy('id')
    .execute()

/** The exclusive labels of unfinished pipelines. */
async function exclusiveLabels(queries: Queries): Promise<Map<number, string[]>> {
  const all = await selectRows(queries, pipelineLabels, (query) =>
    query.where('pipeline_id', 'in', unfinishedIds(queries)).where('name', 'like', `${EXCLUSIVE}%`),
  )
  const groups = Map.groupBy(all, ({ pipeline_id }) => pipeline_id)
  return new Map([...groups].map(([id, labels]) => [id, labels.map(({ name }) => name)]))
}

interface Recovery {
  readonly resume: boolean
  /** True when servers run tasks themselves, not workers. */
  readonly runsTasks: boolean
  /** The calling server. Runs that broke off on this server count as lost too. */
  readonly leaseHolder: string
}

/** Puts pipelines that no server runs any more back into the queue. Returns their number. */
export async function recoverLost(
  database: Database,
  isLost: (leaseHolder: string, pipelineId: number) => Promise<boolean>,
  { resume, runsTasks, leaseHolder }: Recovery,
): Promise<number> {
  /** The last heartbeats of servers, kept here because `isLost` deletes the row of a dead server. */
  const lastSigns = new Map<string, RowOf<typeof servers>>()
  const lost = async (queries: Queries) => {
    const running = await idsIn(queries, ['TASK_RUNNING'])
    if (running.length === 0) return []
    for (const row of await selectRows(queries, servers)) lastSigns.set(row.holder, row)
    const leases = new Map((await selectRows(queries, pipelineLeases)).map((lease) => [lease.pipeline_id, lease]))
    const found: { readonly id: number; readonly holder: string }[] = []
    for (const { id } of running) {
      const { holder } = leases.get(id) ?? {}
      if (holder === undefined || (await isLost(holder, id))) found.push({ id, holder: holder ?? '' })
    }
    return found
  }
  if ((await lost(database.kysely)).length === 0) return 0
  return database.lockedBriefly(LOCK, async ({ kysely }) => {
    const found = await lost(kysely)
    for (const { id, holder } of found) {
      const what = holder === leaseHolder ? BROKEN_OFF : endOfServer(holder, lastSigns.get(holder))
      // The random part is needed because a run may break off on the same server more than once.
      const stopped = runsTasks ? { ...what, incident: `${holder} ${randomUUID()}` } : undefined
      await release(kysely, id, { resume, stopped })
    }
    return found.length
  })
}

/**
 * Servers are also killed for reasons that have nothing to do with their tasks. So the end of a server counts as a loss only
 * if memory ran out.
 */
const endOfServer = (holder: string, last: RowOf<typeof servers> | undefined) => ({
  isLoss: ranOutOfMemory(holder, last),
  cause: likelyCause(holder, last),
})

const BROKEN_OFF = { isLoss: false, cause: 'its server could not reach the database' }

/** Locks the row of a pipeline until the transaction ends. Every change of the state of a pipeline does this first. */
export async function holdPipeline(transaction: Queries, id: number): Promise<PipelineRow | undefined> {
  const [row] = await selectRows(transaction, pipelines, (query) => query.where('id', '=', id).forUpdate())
  return row
}

const WHY = 'The server stopped while this was running.'

interface Release {
  /** True when the pipeline continues elsewhere; otherwise it has failed. */
  readonly resume: boolean
  /** Releases the pipeline only if this lease holder still has it. */
  readonly leaseHolder?: string
  /** Undefined when the tasks of the pipeline are not interrupted. */
  readonly stopped: Interruption | undefined
}

/**
 * Releases a running pipeline and its running tasks, if `leaseHolder` still has it. If a cancellation was requested, it is
 * cancelled. Otherwise it continues elsewhere, or has failed.
 */
export async function release(transaction: Queries, id: number, how: Release): Promise<void> {
  const { resume, leaseHolder, stopped } = how
  const pipeline = await holdPipeline(transaction, id)
  const lease = await findRow(transaction, pipelineLeases, { pipeline_id: id })
  if (!pipeline || (leaseHolder !== undefined && lease?.holder !== leaseHolder)) return
  await deleteRows(transaction, pipelineLeases, { pipeline_id: id })
  if (pipeline.status !== 'TASK_RUNNING') return
  const status = lease?.cancel_requested ? 'TASK_CANCELLED' : resume ? 'TASK_RESUME' : 'TASK_FAILED'
  if (stopped && status === 'TASK_RESUME') {
    const interrupted = await selectRows(transaction, tasks, (query) =>
      query.where('pipeline_id', '=', id).where('status', '=', 'TASK_RUNNING'),
    )
    for (const { id: task_id } of interrupted) {
      await recordInterruption(transaction, { task_id, pipeline_id: id }, stopped)
    }
  }
  const message = status === 'TASK_FAILED' ? WHY : ''
  const ended = status === 'TASK_RESUME' ? {} : { finished_at: new Date(), message }
  await updateRows(transaction, tasks, { pipeline_id: id, status: 'TASK_RUNNING' }, { status, ...ended })
  const finished_tasks = await countRun(transaction, id)
  await updateRows(transaction, pipelines, { id }, { status, finished_tasks, ...ended })
}

/**
 * Cancels a waiting pipeline; asks the server of a running one to stop. A finished pipeline stays as it is. Returns the state
 * in which it was cancelled, if any.
 */
export async function cancelPipeline(transaction: Queries, id: number): Promise<TaskStatus | undefined> {
  const pipeline = await holdPipeline(transaction, id)
  const before = pipeline?.status as TaskStatus | undefined
  if (!before || isFinished(before)) return undefined
  const ended = { status: 'TASK_CANCELLED', finished_at: new Date(), message: '' }
  await updateRows(transaction, tasks, { pipeline_id: id, status: [...QUEUED] }, ended)
  if (before === 'TASK_RUNNING') {
    await updateRows(transaction, pipelineLeases, { pipeline_id: id }, { cancel_requested: true })
    return before
  }
  const finished_tasks = await countRun(transaction, id)
  await updateRows(transaction, pipelines, { id }, { ...ended, finished_tasks })
  await deleteRows(transaction, pipelineLeases, { pipeline_id: id })
  return before
}

/** Counts the tasks of the plan whose newest attempt ran and has ended, whatever the result. */
async function countRun(queries: Queries, pipelineId: number): Promise<number> {
  const newest = queries
    .selectFrom(tasks.name)
    .select((builder) => builder.fn.max('id').as('id'))
    .where('pipeline_id', '=', pipelineId)
    .groupBy(['pipeline_row', 'pipeline_col'])
  const { count } = await queries
    .selectFrom(tasks.name)
    .select((builder) => builder.fn.countAll().as('count'))
    .where('id', 'in', newest)
    .where('began_at', 'is not', null)
    .where('status', 'not in', UNFINISHED)
    .executeTakeFirstOrThrow()
  return Number(count)
}

/** Pipelines of this lease holder whose cancellation was requested. */
export async function cancelRequests(queries: Queries, leaseHolder: string): Promise<number[]> {
  const leases = await selectRows(queries, pipelineLeases, (query) =>
    query.where('holder', '=', leaseHolder).where('cancel_requested', '=', true),
  )
  return leases.map(({ pipeline_id }) => pipeline_id)
}
