/** Where the log of a task is, and how it is read. */
import { createReadStream } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { packed, tarFile, tarText } from '../basics/tar.ts'
import type { TaskRow } from '../control-plane/pipeline-rows.ts'
import type { ServiceContext } from '../control-plane/services.ts'
import { isFinished } from '../control-plane/states.ts'
import { findRow, type Queries, selectRows } from '../control-plane/store.ts'
import type { TaskStatus } from '../domain/enums.ts'
import { UserError } from '../errors.ts'
import { tasks } from '../system/pipelines.ts'
import { taskRuns } from '../system/workers.ts'
import { loggedTasks, storedLog } from './workers/stored-logs.ts'

export const logFolder = (dataFolder: string, pipelineId: number): string =>
  join(dataFolder, 'logs', `pipeline-${pipelineId}`)
/** Undefined for anything else that lies beside them. */
export const pipelineOfFolder = (name: string): number | undefined => {
  const [, id] = /^pipeline-(\d+)$/.exec(name) ?? []
  return id === undefined ? undefined : Number(id)
}
export const PIPELINE_LOG = 'pipeline.log'
export const taskLogName = ({
  id,
  pipeline_row,
  pipeline_col,
  plugin,
}: Pick<TaskRow, 'id' | 'pipeline_row' | 'pipeline_col' | 'plugin'>): string =>
  `task-${id}-${pipeline_row}-${pipeline_col}-${plugin}.log`

const LOOK_MS = 500
const isMissing = (error: unknown) => (error as NodeJS.ErrnoException).code === 'ENOENT'

export async function* followTaskLog(
  { database, dataFolder }: Pick<ServiceContext, 'database' | 'dataFolder'>,
  taskId: number,
  signal: AbortSignal,
): AsyncGenerator<string> {
  let from = 0
  let isTold = false
  while (!signal.aborted) {
    const task = await findRow(database.kysely, tasks, { id: taskId })
    if (!task) return
    const path = join(logFolder(dataFolder, task.pipeline_id), taskLogName(task))
    // The state is read before the file: what was written until the end is seen.
    for await (const chunk of readFrom(path, from)) {
      from += chunk.length
      yield chunk.toString()
    }
    const hasEnded = isFinished(task.status as TaskStatus)
    if (from === 0 && hasEnded) yield (await storedLog(database.kysely, taskId)).toString()
    if (hasEnded) return
    if (from === 0 && !isTold && (await isElsewhere(database.kysely, taskId))) {
      isTold = true
      yield 'A worker runs this task. Its log is shown here when it ends.\n'
    }
    await sleep(LOOK_MS, undefined, { signal }).catch(() => {})
  }
}

const isElsewhere = async (queries: Queries, taskId: number): Promise<boolean> =>
  ((await findRow(queries, taskRuns, { task_id: taskId }))?.worker ?? '') !== ''

/** Whole lines only, so that no character is cut. */
async function* readFrom(path: string, from: number): AsyncGenerator<Buffer> {
  try {
    let rest = Buffer.alloc(0)
    for await (const chunk of createReadStream(path, { start: from })) {
      const all = Buffer.concat([rest, chunk])
      const end = all.lastIndexOf(10) + 1
      if (end > 0) yield all.subarray(0, end)
      rest = all.subarray(end)
    }
  } catch (error) {
    if (!isMissing(error)) throw error
  }
}

/** Files of this server, and what workers have stored of tasks that have none here. */
export async function logArchive(
  { database, dataFolder }: Pick<ServiceContext, 'database' | 'dataFolder'>,
  pipelineId: number,
): Promise<AsyncIterable<Uint8Array>> {
  const folder = logFolder(dataFolder, pipelineId)
  const names = await readdir(folder).catch((error) => {
    if (!isMissing(error)) throw error
    return []
  })
  const stored = await loggedTasks(database.kysely, pipelineId)
  if (names.length + stored.size === 0) {
    throw new UserError(`No log of pipeline ${pipelineId} is stored on this server.`, { status: 404 })
  }
  const rows = await selectRows(database.kysely, tasks, (query) => query.where('pipeline_id', '=', pipelineId))
  const here = new Set<string>(names)
  const others = rows.filter((task) => stored.has(task.id) && !here.has(taskLogName(task)))
  const entries = async function* () {
    for (const name of names.sort()) yield* tarFile(join(folder, name), name)
    for (const task of others) yield* tarText(taskLogName(task), await storedLog(database.kysely, task.id))
  }
  return packed(entries())
}
