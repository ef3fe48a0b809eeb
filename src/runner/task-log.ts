/** One log file per task, in the data folder of the server or worker that ran it. */
import { closeSync, createReadStream, mkdirSync, openSync, writeSync } from 'node:fs'
import { readdir, readFile, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { createGzip } from 'node:zlib'
import type { TaskRow } from '../control-plane/pipeline-rows.ts'
import type { ServiceContext } from '../control-plane/services.ts'
import { isFinished } from '../control-plane/states.ts'
import { findRow, type Queries, selectRows } from '../control-plane/store.ts'
import type { TaskStatus } from '../domain/enums.ts'
import { UserError } from '../errors.ts'
import { redact } from '../log.ts'
import { tellWork, type WorkPlace } from '../observe/work-events.ts'
import { tasks } from '../system/pipelines.ts'
import { taskRuns } from '../system/workers.ts'
import { storedLog, storedLogs } from './workers/stored-logs.ts'

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
  const stored = await storedLogs(database.kysely, pipelineId)
  if (names.length + stored.size === 0) {
    throw new UserError(`No log of pipeline ${pipelineId} is stored on this server.`, { status: 404 })
  }
  const rows = await selectRows(database.kysely, tasks, (query) => query.where('pipeline_id', '=', pipelineId))
  const others = rows
    .map((task) => ({ name: taskLogName(task), content: stored.get(task.id) }))
    .filter(({ name }) => !(names as readonly string[]).includes(name))
  return Readable.from(tarOf(folder, names.sort(), others)).pipe(createGzip())
}

const BLOCK = 512

/** The format of every tar program (POSIX ustar): a header block, the content padded to blocks, two empty blocks. */
async function* tarOf(
  folder: string,
  names: readonly string[],
  others: readonly { readonly name: string; readonly content: Buffer | undefined }[],
): AsyncGenerator<Uint8Array> {
  for (const name of names) {
    // Read at once: a log that grows meanwhile must not outgrow the size in its header.
    const content = await readFile(join(folder, name))
    const { mtimeMs } = await stat(join(folder, name))
    yield* tarEntry(name, content, mtimeMs)
  }
  for (const { name, content } of others) if (content) yield* tarEntry(name, content, Date.now())
  yield Buffer.alloc(2 * BLOCK)
}

function* tarEntry(name: string, content: Buffer, modifiedMs: number): Generator<Uint8Array> {
  yield tarHeader(name, content.length, modifiedMs)
  yield content
  yield Buffer.alloc((BLOCK - (content.length % BLOCK)) % BLOCK)
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

export interface TaskLog {
  (line: string): void
  close(): void
}

/** Appends at once, so that a reader follows and a crash loses nothing; secrets are redacted. The server's log gets it, too. */
export function createTaskLog(path: string, place: WorkPlace): TaskLog {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  const file = openSync(path, 'a', 0o600)
  const log = (line: string) => {
    const clean = redact(line)
    writeSync(file, `${new Date().toISOString()} ${clean}\n`)
    tellWork({ kind: 'line', ...place, line: clean })
  }
  return Object.assign(log, { close: () => closeSync(file) })
}
