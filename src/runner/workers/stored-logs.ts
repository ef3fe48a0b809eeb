/** Stores logs in the database, because their files are on the machines that ran the tasks and are read on others. */
import { randomUUID } from 'node:crypto'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { open, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { gunzip, gzip } from 'node:zlib'
import { insertRow, type Queries, selectRows } from '../../control-plane/store.ts'
import type { RowOf } from '../../database/table.ts'
import { taskLogs } from '../../system/workers.ts'

/** Task 0 means the log of the run itself. */
export interface LogName {
  readonly pipelineId: number
  readonly taskId: number
}
interface StoredPiece {
  readonly id: number
  readonly place: string
  readonly endsAt: number
  readonly text: Buffer
}

const places = new Map<string, string>()

/** Returns the name of a data folder, unique across machines. If the disk cannot store it, the name lasts as long as this process. */
export function placeOf(dataFolder: string): string {
  const known = places.get(dataFolder)
  if (known !== undefined) return known
  const file = join(dataFolder, 'logs', 'place')
  const place = readName(file) ?? nameAnew(file)
  places.set(dataFolder, place)
  return place
}

function readName(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8').trim() || undefined
  } catch {
    return undefined
  }
}

function nameAnew(file: string): string {
  const place = randomUUID()
  try {
    mkdirSync(join(file, '..'), { recursive: true, mode: 0o700 })
    // Another process that uses this folder may have been quicker.
    writeFileSync(file, `${place}\n`, { mode: 0o600, flag: 'wx' })
    return place
  } catch {
    return readName(file) ?? place
  }
}

/** The part of a log file that is stored. The rest stays on its machine, except for the end, which tells most. */
const MOST_BYTES = 4 << 20
const END_BYTES = 256 << 10
const CUT = 'Lines are left out here: the machine that ran this task has them.\n'

/**
 * Stores the content of a file after `from` in whole lines, up to its last complete line. Returns the position up to which the
 * file is stored.
 */
export async function storePiece(
  queries: Queries,
  { pipelineId: pipeline_id, taskId: task_id }: LogName,
  { file, place, from, isEnd }: { readonly file: string; place: string; from: number; isEnd: boolean },
): Promise<number> {
  const size = await stat(file).then(
    (found) => found.size,
    () => 0,
  )
  if (size <= from || (from >= MOST_BYTES && !isEnd)) return from
  const isCut = size - from > MOST_BYTES || from >= MOST_BYTES
  const begin = isCut ? Math.max(from, size - END_BYTES) : from
  const handle = await open(file)
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(size - begin), 0, size - begin, begin)
    const read = buffer.subarray(0, bytesRead)
    const lines = read.subarray(begin > from ? read.indexOf(10) + 1 : 0, read.lastIndexOf(10) + 1)
    if (lines.length === 0) return from
    const ends_at = begin + read.lastIndexOf(10) + 1
    const text = begin > from ? Buffer.concat([Buffer.from(CUT), lines]) : lines
    const content = await promisify(gzip)(text)
    await insertRow(queries, taskLogs, { task_id, pipeline_id, place, ends_at, content })
    return ends_at
  } finally {
    await handle.close()
  }
}

/** Returns up to where the file of this place is stored; undefined when nothing of this log is stored from any place. */
export async function storedUntil(queries: Queries, { pipelineId, taskId }: LogName, place: string) {
  const rows = await queries
    .selectFrom(taskLogs.name)
    .select(['place', ({ fn }) => fn.max('ends_at').as('ends_at')])
    .where('pipeline_id', '=', pipelineId)
    .where('task_id', '=', taskId)
    .groupBy('place')
    .execute()
  return rows.length === 0 ? undefined : Number(rows.find((row) => row.place === place)?.ends_at ?? 0)
}

/** Tasks for which another machine has stored log lines; 0 stands for the run itself. */
export async function loggedElsewhere(
  queries: Queries,
  pipelineId: number,
  place: string,
): Promise<ReadonlySet<number>> {
  const rows = await queries
    .selectFrom(taskLogs.name)
    .select('task_id')
    .distinct()
    .where('pipeline_id', '=', pipelineId)
    .where('place', '!=', place)
    .execute()
  return new Set(rows.map(({ task_id }) => Number(task_id)))
}

/** Reads the pieces of all machines with ids above `after`, in the order in which they were written. */
export async function storedPieces(
  queries: Queries,
  { pipelineId, taskId }: LogName,
  after: number,
): Promise<StoredPiece[]> {
  const rows: RowOf<typeof taskLogs>[] = await selectRows(queries, taskLogs, (query) =>
    query.where('pipeline_id', '=', pipelineId).where('task_id', '=', taskId).where('id', '>', after).orderBy('id'),
  )
  return Promise.all(
    rows.map(async ({ id, place, ends_at: endsAt, content }) => ({
      id,
      place,
      endsAt,
      text: await promisify(gunzip)(content),
    })),
  )
}
