/** Logs of tasks that workers ran: their files are on other machines, so they are kept in the database too. */
import { open, stat } from 'node:fs/promises'
import { promisify } from 'node:util'
import { gunzip, gzip } from 'node:zlib'
import { type Queries, selectRows } from '../../control-plane/store.ts'
import { taskLogs } from '../../system/workers.ts'

/** Of the text; what is before stays on the worker. */
const MOST_BYTES = 4 * 1024 * 1024
const CUT = 'The beginning of this log is on the worker that ran the task.\n'

export const sizeOfLog = (file: string): Promise<number> =>
  stat(file).then(
    ({ size }) => size,
    () => 0,
  )

/** What an attempt has logged, compressed: from where the attempts before it on the same machine ended. */
export async function packLog(file: string, from: number): Promise<Buffer | undefined> {
  const end = await sizeOfLog(file)
  if (end <= from) return undefined
  const start = Math.max(from, end - MOST_BYTES)
  const handle = await open(file)
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(end - start), 0, end - start, start)
    const text = buffer.subarray(0, bytesRead)
    const whole = start === from ? text : Buffer.concat([Buffer.from(CUT), text.subarray(text.indexOf(10) + 1)])
    return await promisify(gzip)(whole)
  } finally {
    await handle.close()
  }
}

/** Tasks of which something is stored. */
export async function loggedTasks(queries: Queries, pipelineId: number): Promise<ReadonlySet<number>> {
  const rows = await queries
    .selectFrom(taskLogs.name)
    .select('task_id')
    .distinct()
    .where('pipeline_id', '=', pipelineId)
    .execute()
  return new Set(rows.map(({ task_id }) => Number(task_id)))
}

/** All attempts of a task, one after another. */
export async function storedLog(queries: Queries, taskId: number): Promise<Buffer> {
  const rows = await selectRows(queries, taskLogs, (query) => query.where('task_id', '=', taskId).orderBy('id'))
  return Buffer.concat(await Promise.all(rows.map(({ content }) => promisify(gunzip)(content))))
}
