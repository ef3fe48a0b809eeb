/** Which pipeline runs next, and who runs it. Every change is made under a lock that all servers of a database share. */
import type { Kysely } from 'kysely'
import type { Database } from '../database/database.ts'
import { pipelineLabels, pipelines, tasks } from '../system/pipelines.ts'
import { pipelineLeases } from '../system/runs.ts'
import type { PipelineRow } from './pipeline-rows.ts'
import { QUEUED } from './states.ts'
import { deleteRows, insertRow, type Queries, selectRows, updateRows } from './store.ts'

const LOCK = 'pipelines'
/** Pipelines that share such a label never run side by side. */
const EXCLUSIVE = 'parallel/'

/** Takes the next pipeline for `holder`; undefined when none may run now. */
export async function takeNext(
  database: Database,
  holder: string,
  maxParallel: number,
): Promise<PipelineRow | undefined> {
  const { kysely } = database
  if ((await queued(kysely)).length === 0) return undefined
  return database.locked(LOCK, async () => {
    const running = await selectRows(kysely, pipelines, (query) => query.where('status', '=', 'TASK_RUNNING'))
    if (maxParallel > 0 && running.length >= maxParallel) return undefined
    const waiting = await queued(kysely)
    // Cancelled while we waited for the lock.
    if (waiting.length === 0) return undefined
    const labels = await exclusiveLabels(kysely, [...running, ...waiting])
    const taken = new Set(running.flatMap(({ id }) => labels.get(id) ?? []))
    // When everything of the highest priority is blocked, lower ones wait too, or it would never get its turn.
    const next = waiting
      .filter(({ priority }) => priority === waiting[0]?.priority)
      .find(({ id }) => !labels.get(id)?.some((label) => taken.has(label)))
    if (!next) return undefined
    return kysely.transaction().execute(async (transaction) => {
      const values = { status: 'TASK_RUNNING', message: '', error_name: '', began_at: new Date() }
      const changed = await updateRows(transaction, pipelines, { id: next.id, status: [...QUEUED] }, values)
      if (changed === 0) return undefined
      await deleteRows(transaction, pipelineLeases, { pipeline_id: next.id })
      await insertRow(transaction, pipelineLeases, { pipeline_id: next.id, holder, cancel_requested: false })
      return { ...next, ...values }
    })
  })
}

const queued = (queries: Queries): Promise<PipelineRow[]> =>
  selectRows(queries, pipelines, (query) =>
    query.where('status', 'in', QUEUED).orderBy('priority', 'desc').orderBy('id'),
  )

async function exclusiveLabels(queries: Queries, rows: readonly PipelineRow[]): Promise<Map<number, string[]>> {
  const all = await selectRows(queries, pipelineLabels, (query) =>
    query
      .where(
        'pipeline_id',
        'in',
        rows.map(({ id }) => id),
      )
      .where('name', 'like', `${EXCLUSIVE}%`),
  )
  const groups = Map.groupBy(all, ({ pipeline_id }) => pipeline_id)
  return new Map([...groups].map(([id, labels]) => [id, labels.map(({ name }) => name)]))
}

/** Puts back into the queue what nobody runs any more. Gives how many pipelines. */
export async function recoverLost(
  database: Database,
  isLost: (holder: string, pipelineId: number) => Promise<boolean>,
  resume: boolean,
): Promise<number> {
  const { kysely } = database
  const lost = async () => {
    const running = await selectRows(kysely, pipelines, (query) => query.where('status', '=', 'TASK_RUNNING'))
    const leases = new Map((await selectRows(kysely, pipelineLeases)).map((lease) => [lease.pipeline_id, lease]))
    const found: { id: number; isCancelled: boolean }[] = []
    for (const { id } of running) {
      const lease = leases.get(id)
      if (!lease || (await isLost(lease.holder, id))) found.push({ id, isCancelled: lease?.cancel_requested ?? false })
    }
    return found
  }
  if ((await lost()).length === 0) return 0
  return database.locked(LOCK, async () => {
    const found = await lost()
    for (const { id, isCancelled } of found) {
      const status = isCancelled ? 'TASK_CANCELLED' : resume ? 'TASK_RESUME' : 'TASK_FAILED'
      await kysely.transaction().execute((transaction) => release(transaction, id, status))
    }
    return found.length
  })
}

const WHY = 'The server stopped while this was running.'

/** Ends the hold on a running pipeline, where it is still `holder`'s; its running tasks share its fate. */
export async function release(
  transaction: Kysely<any>,
  id: number,
  status: 'TASK_RESUME' | 'TASK_FAILED' | 'TASK_CANCELLED',
  holder?: string,
): Promise<void> {
  const released = await deleteRows(transaction, pipelineLeases, { pipeline_id: id, ...(holder && { holder }) })
  if (holder && released === 0) return
  const ended =
    status === 'TASK_RESUME' ? {} : { finished_at: new Date(), message: status === 'TASK_FAILED' ? WHY : '' }
  await updateRows(transaction, tasks, { pipeline_id: id, status: 'TASK_RUNNING' }, { status, ...ended })
  await updateRows(transaction, pipelines, { id, status: 'TASK_RUNNING' }, { status, ...ended })
}

/** Pipelines of this holder that were asked to stop. */
export async function cancelRequests(queries: Queries, holder: string): Promise<number[]> {
  const leases = await selectRows(queries, pipelineLeases, (query) =>
    query.where('holder', '=', holder).where('cancel_requested', '=', true),
  )
  return leases.map(({ pipeline_id }) => pipeline_id)
}
