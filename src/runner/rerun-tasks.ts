import type { Task } from '../control-plane/records.ts'
import { newestTasks, readTasks, type TaskRow } from '../control-plane/runs/pipeline-rows.ts'
import { isFinished } from '../control-plane/runs/states.ts'
import type { ServiceContext } from '../control-plane/services.ts'
import { insertRows, updateRows } from '../control-plane/store.ts'
import { inPieces } from '../database/pieces.ts'
import type { TaskStatus } from '../domain/enums.ts'
import { UserError } from '../errors.ts'
import { pipelines, tasks } from '../system/pipelines.ts'
import { holdPipeline } from './queue.ts'
import { inTransaction, recordRun, requireNonePending, storedPipeline } from './stored-pipelines.ts'

/** Runs the tasks that `candidates` chooses again, each as a new task. Returns the new tasks. */
export async function rerunTasks(
  context: ServiceContext,
  id: number,
  candidates: (newest: readonly TaskRow[]) => readonly TaskRow[],
): Promise<Task[]> {
  const { database, secrets } = context
  const { kysely } = database
  await inTransaction(database, async (transaction) => {
    const { blueprint_id, status } = await storedPipeline(transaction, id)
    requireEnded(id, status)
    if (blueprint_id > 0) await requireNonePending(transaction, blueprint_id)
    requireEnded(id, (await holdPipeline(transaction, id))?.status)
    const again = candidates(await newestTasks(transaction, id))
    if (again.length === 0) throw new UserError(`Pipeline ${id} has nothing to run again: every task completed.`)
    await updateRows(transaction, pipelines, { id }, { status: 'TASK_RERUN' })
    for (const ids of inPieces(again.map((task) => task.id))) {
      await updateRows(transaction, tasks, { id: [...ids] }, { status: 'TASK_FAILED' })
    }
    const copies = again.map(({ plugin, subtasks: names, options, pipeline_id, pipeline_row, pipeline_col }) => ({
      plugin,
      subtasks: names,
      options,
      pipeline_id,
      pipeline_row,
      pipeline_col,
      status: 'TASK_RERUN',
    }))
    await insertRows(transaction, tasks, copies)
    await recordRun(transaction, context, 'rerun', id, { status }, { status: 'TASK_RERUN', tasks: copies.length })
  })
  context.changed('pipelines')
  const rows = (await newestTasks(kysely, id)).filter(({ status }) => status === 'TASK_RERUN')
  return readTasks(kysely, rows, secrets)
}

function requireEnded(id: number, status: string | undefined): void {
  if (status && isFinished(status as TaskStatus)) return
  throw new UserError(`Pipeline ${id} is ${status ?? 'deleted'}: it can run again when it is finished.`)
}
