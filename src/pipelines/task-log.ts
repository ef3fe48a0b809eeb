/** One log file a task, in the data folder of the server that ran it. */
import { closeSync, createReadStream, mkdirSync, openSync, writeSync } from 'node:fs'
import { readdir, readFile, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { createGzip } from 'node:zlib'
import type { TaskStatus } from '../domain/enums.ts'
import { UserError } from '../errors.ts'
import { redact } from '../log.ts'
import { tasks } from '../system/pipelines.ts'
import type { TaskRow } from './pipeline-rows.ts'
import type { ServiceContext } from './services.ts'
import { isFinished } from './states.ts'
import { findRow } from './store.ts'

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
  while (!signal.aborted) {
    const task = await findRow(database.kysely, tasks, { id: taskId })
    if (!task) return
    const path = join(logFolder(dataFolder, task.pipeline_id), taskLogName(task))
    // The state is read before the file: what was written until the end is seen.
    for await (const chunk of readFrom(path, from)) {
      from += chunk.length
      yield chunk.toString()
    }
    if (isFinished(task.status as TaskStatus)) return
    await sleep(LOOK_MS, undefined, { signal }).catch(() => {})
  }
}

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

export async function logArchive(dataFolder: string, pipelineId: number): Promise<AsyncIterable<Uint8Array>> {
  const folder = logFolder(dataFolder, pipelineId)
  const names = await readdir(folder).catch((error) => {
    if (!isMissing(error)) throw error
    throw new UserError(`No log of pipeline ${pipelineId} is stored on this server.`, { status: 404 })
  })
  return Readable.from(tarOf(folder, names.sort())).pipe(createGzip())
}

const BLOCK = 512

/** The format of every tar program (POSIX ustar): a header block, the content padded to blocks, two empty blocks. */
async function* tarOf(folder: string, names: readonly string[]): AsyncGenerator<Uint8Array> {
  for (const name of names) {
    // Read at once: a log that grows meanwhile must not outgrow the size in its header.
    const content = await readFile(join(folder, name))
    const { mtimeMs } = await stat(join(folder, name))
    yield tarHeader(name, content.length, mtimeMs)
    yield content
    yield Buffer.alloc((BLOCK - (content.length % BLOCK)) % BLOCK)
  }
  yield Buffer.alloc(2 * BLOCK)
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

/** Appends at once, so that a reader follows and a crash loses nothing; secrets are redacted. */
export function createTaskLog(path: string): TaskLog {
  mkdirSync(dirname(path), { recursive: true })
  const file = openSync(path, 'a', 0o600)
  const log = (line: string) => {
    writeSync(file, `${new Date().toISOString()} ${redact(line)}\n`)
  }
  return Object.assign(log, { close: () => closeSync(file) })
}
