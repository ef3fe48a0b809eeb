/** Finds and reads the logs of tasks. */
import { createReadStream } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { packed, tarFile, tarText } from '../basics/tar.ts'
import type { TaskRow } from '../control-plane/runs/pipeline-rows.ts'
import { isFinished } from '../control-plane/runs/states.ts'
import type { ServiceContext } from '../control-plane/services.ts'
import { findRow, selectRows } from '../control-plane/store.ts'
import type { TaskStatus } from '../domain/enums.ts'
import { UserError } from '../errors.ts'
import { tasks } from '../system/pipelines.ts'
import { type LogName, loggedElsewhere, placeOf, storedPieces } from './workers/stored-logs.ts'

export const logFolder = (dataFolder: string, pipelineId: number): string =>
  join(dataFolder, 'logs', `pipeline-${pipelineId}`)
/** Undefined for any other file or folder. */
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

/** The path of the log of a task, or of the run itself. */
export const logPath = (
  dataFolder: string,
  pipelineId: number,
  task: Parameters<typeof taskLogName>[0] | undefined,
): string => join(logFolder(dataFolder, pipelineId), task ? taskLogName(task) : PIPELINE_LOG)

const LOOK_MS = 500
const isMissing = (error: unknown) => (error as NodeJS.ErrnoException).code === 'ENOENT'

type Context = Pick<ServiceContext, 'database' | 'dataFolder'>

export async function* followTaskLog(context: Context, taskId: number, signal: AbortSignal): AsyncGenerator<string> {
  const { kysely } = context.database
  let reader: LogReader | undefined
  while (!signal.aborted) {
    const task = await findRow(kysely, tasks, { id: taskId })
    if (!task) return
    reader ??= createLogReader(context, { pipelineId: task.pipeline_id, taskId }, task)
    // The state is read before the log, so that everything written until the end is included.
    for await (const text of reader.next()) yield text.toString()
    if (isFinished(task.status as TaskStatus)) return
    await sleep(LOOK_MS, undefined, { signal }).catch(() => {})
  }
}

interface LogReader {
  /** Yields what is new since the last call. */
  next(): AsyncGenerator<Buffer>
}

/**
 * Reads the log of a task as one text: parts of other machines from the database, and parts of this machine from its file. A
 * stored part of this machine tells where in the file it ends, so nothing is read twice.
 */
function createLogReader(
  { database: { kysely }, dataFolder }: Context,
  name: LogName,
  task: TaskRow | undefined,
): LogReader {
  const path = logPath(dataFolder, name.pipelineId, task)
  const own = placeOf(dataFolder)
  let from = 0
  let after = 0

  async function* ownLines(options: { until?: number; before?: string }): AsyncGenerator<Buffer> {
    for await (const chunk of readFrom(path, from, options.until)) {
      const lines = options.before === undefined ? chunk : linesBefore(chunk, options.before)
      from += lines.length
      if (lines.length > 0) yield lines
      if (lines.length < chunk.length) return
    }
  }

  return {
    async *next() {
      for (const { id, place, endsAt, text } of await storedPieces(kysely, name, after)) {
        after = id
        if (place !== own) {
          // A server that was killed may have lines that it could not store. They come first.
          yield* ownLines({ before: momentOf(text) })
          yield text
        } else if (endsAt > from) {
          const before = from
          yield* ownLines({ until: endsAt })
          // The file is gone, so the stored part is used.
          if (from === before) yield text
          from = endsAt
        }
      }
      yield* ownLines({})
    },
  }
}

const MOMENT = /^\d{4}-\d\d-\d\dT[\d:.]+Z /m
const momentOf = (text: Buffer): string => MOMENT.exec(text.subarray(0, 1000).toString())?.[0] ?? ''

/** Returns the lines before a time. Each line begins with its time, in a form that sorts as text. */
function linesBefore(chunk: Buffer, moment: string): Buffer {
  let end = 0
  while (end < chunk.length && chunk.subarray(end, end + moment.length).toString() < moment) {
    end = chunk.indexOf(10, end) + 1 || chunk.length
  }
  return chunk.subarray(0, end)
}

/** Yields only whole lines, so that no character is cut. */
async function* readFrom(path: string, from: number, until?: number): AsyncGenerator<Buffer> {
  if (until !== undefined && until <= from) return
  try {
    let rest = Buffer.alloc(0)
    for await (const chunk of createReadStream(path, { start: from, ...(until !== undefined && { end: until - 1 }) })) {
      const all = Buffer.concat([rest, chunk])
      const end = all.lastIndexOf(10) + 1
      if (end > 0) yield all.subarray(0, end)
      rest = all.subarray(end)
    }
  } catch (error) {
    if (!isMissing(error)) throw error
  }
}

/** Packs the log files of this server unchanged, and each log to which other machines contributed as one text. */
export async function logArchive(context: Context, pipelineId: number): Promise<AsyncIterable<Uint8Array>> {
  const { database, dataFolder } = context
  const folder = logFolder(dataFolder, pipelineId)
  const names = await readdir(folder).catch((error) => {
    if (!isMissing(error)) throw error
    return []
  })
  const elsewhere = await loggedElsewhere(database.kysely, pipelineId, placeOf(dataFolder))
  if (names.length + elsewhere.size === 0) {
    throw new UserError(`No log of pipeline ${pipelineId} is stored on this server.`, { status: 404 })
  }
  const rows = await selectRows(database.kysely, tasks, (query) => query.where('pipeline_id', '=', pipelineId))
  const shared = new Map(
    [undefined, ...rows]
      .filter((task) => elsewhere.has(task?.id ?? 0))
      .map((task) => [task ? taskLogName(task) : PIPELINE_LOG, task]),
  )
  const entries = async function* () {
    for (const name of new Set([...names, ...shared.keys()].sort())) {
      const task = shared.get(name)
      if (!shared.has(name)) yield* tarFile(join(folder, name), name)
      else yield* tarText(name, await wholeLog(context, { pipelineId, taskId: task?.id ?? 0 }, task))
    }
  }
  return packed(entries())
}

async function wholeLog(context: Context, name: LogName, task: TaskRow | undefined): Promise<Buffer> {
  const pieces: Buffer[] = []
  for await (const piece of createLogReader(context, name, task).next()) pieces.push(piece)
  return Buffer.concat(pieces)
}
