/** Where the log of a task is, and how it is read. */
import { createReadStream } from 'node:fs'
import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline, Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { createGzip } from 'node:zlib'
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
    yield Buffer.alloc(2 * BLOCK)
  }
  // It is compressed by threads of its own, and read as it is sent: a log may be larger than memory.
  // What goes wrong on the way ends the answer, whose reader is told of it.
  return pipeline(Readable.from(entries()), createGzip(), () => {})
}

/** The format of every tar program (POSIX ustar): a header block, the content padded to blocks; two empty blocks at the end. */
const BLOCK = 512
const paddingOf = (size: number) => Buffer.alloc((BLOCK - (size % BLOCK)) % BLOCK)

/** A log that grows meanwhile must not outgrow the size in its header, and one that was deleted is left out. */
async function* tarFile(path: string, name: string): AsyncGenerator<Uint8Array> {
  const found = await stat(path).catch((error) => {
    if (!isMissing(error)) throw error
  })
  if (!found) return
  const { size, mtimeMs } = found
  yield tarHeader(name, size, mtimeMs)
  if (size > 0) yield* createReadStream(path, { end: size - 1 })
  yield paddingOf(size)
}

function* tarText(name: string, content: Buffer): Generator<Uint8Array> {
  yield tarHeader(name, content.length, Date.now())
  yield content
  yield paddingOf(content.length)
}

function tarHeader(name: string, size: number, modifiedMs: number): Buffer {
  const header = Buffer.alloc(BLOCK)
  const octal = (value: number, digits: number) => `${Math.floor(value).toString(8).padStart(digits, '0')}\0`
  const fields: readonly [offset: number, text: string][] = [
    [0, name.slice(0, 99)],
    [100, octal(0o644, 7)],
    [108, octal(0, 7)],
    [116, octal(0, 7)],
    [124, octal(size, 11)],
    [136, octal(modifiedMs / 1000, 11)],
    [148, ' '.repeat(8)],
    [156, '0'],
    [257, 'ustar\u000000'],
  ]
  for (const [offset, text] of fields) header.write(text, offset, 'latin1')
  const checksum = header.reduce((sum, byte) => sum + byte, 0)
  header.write(`${checksum.toString(8).padStart(6, '0')}\0 `, 148, 'latin1')
  return header
}
