/** Tasks that are handed out to workers, as rows in the database. A server writes them; a worker takes and ends them. */

import { randomUUID } from 'node:crypto'
import type { ExpressionBuilder } from 'kysely'
import { FINISHED, QUEUED } from '../../control-plane/runs/states.ts'
import { deleteRows, findRow, insertRow, type Queries, selectRows, updateRows } from '../../control-plane/store.ts'
import type { Database } from '../../database/database.ts'
import { isDuplicate } from '../../database/explain.ts'
import type { SchemaWith } from '../../database/kysely.ts'
import type { RowOf } from '../../database/table.ts'
import { pipelines, tasks } from '../../system/pipelines.ts'
import { pipelineLeases, scopeLeases, servers } from '../../system/runs.ts'
import { taskRuns } from '../../system/workers.ts'
import { holdPipeline } from '../queue.ts'
import { inTransaction } from '../stored-pipelines.ts'
import { BEGUN, type HandedTask, type TaskOutcome } from '../task-dispatch.ts'

export type TaskRun = RowOf<typeof taskRuns>
/** One attempt at a task. */
type Attempt = Pick<TaskRun, 'task_id' | 'token'>

export const isRunning = ({ worker, outcome }: TaskRun): boolean => worker !== '' && outcome === ''
export const outcomeOf = ({ outcome }: TaskRun): TaskOutcome | undefined =>
  outcome === '' ? undefined : (JSON.parse(outcome) as TaskOutcome)

/** Hands out a task. Undefined when a worker already has it from a server that is gone; its end can then be followed. */
export async function writeRun({ kysely }: Database, task: HandedTask, version: string): Promise<TaskRun | undefined> {
  const {
    id: task_id,
    pipelineId: pipeline_id,
    project,
    plugin,
    leaseHolder: coordinator,
    leases,
    isAlone: is_alone,
  } = task
  await kysely
    .deleteFrom(taskRuns.name)
    .where('task_id', '=', task_id)
    .where((where) => where.or([where('worker', '=', ''), where('outcome', '!=', '')]))
    .execute()
  const position = await nextPosition(kysely, project)
  const row = {
    task_id,
    token: randomUUID(),
    pipeline_id,
    project,
    plugin,
    position,
    leases,
    coordinator,
    version,
    is_alone,
  }
  try {
    await insertRow(kysely, taskRuns, row)
  } catch (error) {
    if (isDuplicate(error)) return undefined
    throw error
  }
  return findRow(kysely, taskRuns, { task_id })
}

/**
 * Shares workers fairly. The next task of a project is placed after its own last one, and after all that run now. So a project
 * with ten tasks waits for one task, and not for all, of a project with a thousand.
 */
async function nextPosition(queries: Queries, project: string): Promise<number> {
  const { position } = await queries
    .selectFrom(taskRuns.name)
    .select((builder) => builder.fn.max('position').as('position'))
    .where('outcome', '=', '')
    .where((where) => where.or([where('worker', '!=', ''), where('project', '=', project)]))
    .executeTakeFirstOrThrow()
  return Number(position ?? 0) + 1
}

/** The pipeline leases of the servers that handed tasks out. A task may be taken as long as its server has the pipeline. */
const leasesOfCoordinators = ({ selectFrom }: ExpressionBuilder<SchemaWith<typeof taskRuns>, typeof taskRuns.name>) =>
  selectFrom(`${pipelineLeases.name} as lease`)
    .select('lease.pipeline_id')
    .whereRef('lease.pipeline_id', '=', `${taskRuns.name}.pipeline_id`)
    .whereRef('lease.holder', '=', `${taskRuns.name}.coordinator`)

/** Tasks that workers run or may take. Tasks of a server that has stopped or lost the pipeline are left out. */
export const openRuns = (queries: Queries): Promise<TaskRun[]> =>
  selectRows(queries, taskRuns, (query) =>
    query
      .where('outcome', '=', '')
      .where((where) => where.or([where('worker', '!=', ''), where.exists(leasesOfCoordinators(where))]))
      .orderBy('created_at')
      .orderBy('task_id'),
  )

/** The number of waiting tasks that a worker reads. Tasks that it leaves to others are excluded, so that they do not hide later ones. */
const MOST_WAITING = 200

/**
 * Tasks that wait for a worker, in the order in which they should be taken. Attempts that this worker leaves to others are
 * left out, and so are tasks of servers that have lost or cancelled the pipeline.
 */
export function waitingRuns(queries: Queries, left: readonly string[]): Promise<TaskRun[]> {
  return selectRows(queries, taskRuns, (query) => {
    const waiting = query.where('worker', '=', '').where('outcome', '=', '')
    const own = left.length > 0 ? waiting.where('token', 'not in', left) : waiting
    return own
      .where((where) => where.exists(leasesOfCoordinators(where).where('lease.cancel_requested', '=', false)))
      .orderBy('position')
      .orderBy('task_id')
      .limit(MOST_WAITING)
  })
}

/** Returns those of the attempts that still wait. */
export async function stillWaiting(queries: Queries, tokens: readonly string[]): Promise<readonly string[]> {
  if (tokens.length === 0) return []
  const rows = await selectRows(queries, taskRuns, (query) =>
    query.where('token', 'in', tokens).where('worker', '=', ''),
  )
  return rows.map(({ token }) => token)
}

class NotTaken extends Error {}

/**
 * Takes a task and its leases for a worker. False when it cannot be taken any more. All checks are in one transaction, so a
 * task never begins that was cancelled, handed out again, or whose data another task works on.
 */
export async function claimRun(database: Database, run: TaskRun, worker: string): Promise<boolean> {
  const { task_id, token, pipeline_id, coordinator, leases } = run
  const insist = (isSo: boolean) => {
    if (!isSo) throw new NotTaken()
  }
  try {
    await inTransaction(database, async (transaction) => {
      const where = { task_id, token, worker: '', outcome: '' }
      // Skips locked rows: a second worker takes another task and does not wait for the first.
      const free = await selectRows(transaction, taskRuns, (query) =>
        query.where('task_id', '=', task_id).where('token', '=', token).forUpdate().skipLocked(),
      )
      insist(free.length === 1)
      insist((await updateRows(transaction, taskRuns, where, { worker, note: '' })) === 1)
      insist((await findRow(transaction, servers, { holder: worker })) !== undefined)
      // Locks the pipeline, so that its server does not release it at this moment without this task.
      await holdPipeline(transaction, pipeline_id)
      const held = await findRow(transaction, pipelineLeases, { pipeline_id })
      insist(held?.holder === coordinator && !held.cancel_requested)
      const tokens = leases as readonly string[]
      const moved = tokens.length
        ? await updateRows(transaction, scopeLeases, { token: tokens, holder: coordinator }, { holder: worker })
        : 0
      insist(moved === tokens.length)
      insist(await beginTask(transaction, task_id))
    })
    return true
  } catch (error) {
    if (error instanceof NotTaken) return false
    throw error
  }
}

/** Marks a task as running. A task that continues has begun before and keeps its time. */
async function beginTask(transaction: Queries, id: number): Promise<boolean> {
  const began_at = (await findRow(transaction, tasks, { id }))?.began_at ?? new Date()
  const begun = { ...BEGUN, status: 'TASK_RUNNING', began_at }
  if ((await updateRows(transaction, tasks, { id, status: [...QUEUED] }, begun)) === 1) return true
  return (await updateRows(transaction, tasks, { id, status: 'TASK_RUNNING' }, { message: '' })) === 1
}

/** Reserves a task for a worker that is still busy. False when another living worker has reserved it already. */
export async function reserveRun(queries: Queries, run: TaskRun, worker: string): Promise<boolean> {
  if (run.reserved_by === worker) return true
  const others = queries.selectFrom(servers.name).select('holder').where('is_draining', '=', false)
  const { numUpdatedRows } = await queries
    .updateTable(taskRuns.name)
    .set({ reserved_by: worker, updated_at: new Date() })
    .where('task_id', '=', run.task_id)
    .where('token', '=', run.token)
    .where('worker', '=', '')
    .where('reserved_by', 'not in', others)
    .executeTakeFirstOrThrow()
  return Number(numUpdatedRows) === 1
}

/** Stores the outcome of a task and ends its leases. False when others have taken this worker for dead. */
export const endRun = (database: Database, run: TaskRun, worker: string, outcome: TaskOutcome): Promise<boolean> =>
  inTransaction(database, async (transaction) => {
    if (!(await storeOutcome(transaction, run, worker, outcome))) return false
    const tokens = run.leases as readonly string[]
    if (tokens.length > 0) await deleteRows(transaction, scopeLeases, { token: tokens, holder: worker })
    return true
  })

const storeOutcome = async (
  queries: Queries,
  { task_id, token }: Attempt,
  worker: string,
  outcome: TaskOutcome,
): Promise<boolean> => {
  const values = { outcome: JSON.stringify(outcome) }
  return (await updateRows(queries, taskRuns, { task_id, token, worker, outcome: '' }, values)) === 1
}

/** Withdraws a task that waits. False when a worker has taken it. */
export const withdrawRun = async (queries: Queries, { task_id, token }: Attempt): Promise<boolean> =>
  (await deleteRows(queries, taskRuns, { task_id, token, worker: '' })) === 1

/** Tokens of the tasks that this worker runs and that nobody has cancelled. So a worker learns of a cancellation without its server. */
export async function wantedTokens(queries: Queries, worker: string): Promise<ReadonlySet<string>> {
  const rows = await queries
    .selectFrom(`${taskRuns.name} as run`)
    .innerJoin(`${pipelines.name} as pipeline`, 'pipeline.id', 'run.pipeline_id')
    .leftJoin(`${pipelineLeases.name} as lease`, 'lease.pipeline_id', 'run.pipeline_id')
    .select('run.token as token')
    .where('run.worker', '=', worker)
    .where('run.outcome', '=', '')
    .where('pipeline.status', 'not in', FINISHED)
    .where((where) =>
      where.or([where('lease.cancel_requested', 'is', null), where('lease.cancel_requested', '=', false)]),
    )
    .execute()
  return new Set(rows.map(({ token }) => token as string))
}

/**
 * Deletes rows that nobody will ask for: tasks that wait for a server that has lost the pipeline, and attempts of tasks that
 * have ended, unless a living worker still runs them. Every server does this, even one that does not use workers, because the
 * server that handed the tasks out may be gone.
 */
export async function forgetRuns(
  { kysely }: Database,
  isDead: (leaseHolder: string) => Promise<boolean>,
): Promise<void> {
  // Reads first, because a delete with this condition would block workers that take tasks.
  const left = await selectRows(kysely, taskRuns, (query) =>
    query.where('worker', '=', '').where((where) => where.not(where.exists(leasesOfCoordinators(where)))),
  )
  for (const { task_id, token } of left) await deleteRows(kysely, taskRuns, { task_id, token, worker: '' })
  const ended = kysely.selectFrom(tasks.name).select('id').where('status', 'in', FINISHED)
  for (const row of await selectRows(kysely, taskRuns, (query) => query.where('task_id', 'in', ended))) {
    if (isRunning(row) && !(await isDead(row.worker))) continue
    await deleteRows(kysely, taskRuns, { task_id: row.task_id, token: row.token })
  }
}
