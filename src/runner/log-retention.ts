/** Deletes the logs of pipelines that ended long ago. Each server does this for its own files. */
import { readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { counted } from '../basics/counted.ts'
import { UNFINISHED } from '../control-plane/runs/states.ts'
import type { ServiceContext } from '../control-plane/services.ts'
import { selectRows } from '../control-plane/store.ts'
import { messageOf } from '../errors.ts'
import { pipelines } from '../system/pipelines.ts'
import { taskLogs } from '../system/workers.ts'
import { logFolder, pipelineOfFolder } from './task-log.ts'

const DAY_MS = 24 * 3_600_000

/** Returns the pipelines whose logs were deleted. If a pipeline ran again, the age of its last run counts. */
export async function removeOldLogs(
  { database, dataFolder }: Pick<ServiceContext, 'database' | 'dataFolder'>,
  days: number,
  now = new Date(),
): Promise<number[]> {
  const limit = now.getTime() - days * DAY_MS
  const old: number[] = []
  for (const id of await storedLogs(dataFolder)) {
    if ((await lastWritten(logFolder(dataFolder, id))) < limit) old.push(id)
  }
  if (old.length === 0) return []
  const unfinished = await selectRows(database.kysely, pipelines, (query) => query.where('status', 'in', UNFINISHED))
  const kept = new Set(unfinished.map(({ id }) => id))
  const removed = old.filter((id) => !kept.has(id))
  for (const id of removed) await rm(logFolder(dataFolder, id), { recursive: true, force: true })
  return removed
}

async function storedLogs(dataFolder: string): Promise<number[]> {
  const names = await readdir(join(dataFolder, 'logs')).catch(() => [])
  return names.flatMap((name) => pipelineOfFolder(name) ?? [])
}

async function lastWritten(folder: string): Promise<number> {
  const paths = [folder, ...(await readdir(folder)).map((name) => join(folder, name))]
  const times = await Promise.all(paths.map(async (path) => (await stat(path)).mtimeMs))
  return Math.max(...times)
}

/** Deletes logs stored in the database, if they are old and their runs have ended. */
async function removeStoredLogs(
  { database: { kysely } }: Pick<ServiceContext, 'database'>,
  days: number,
  now = new Date(),
): Promise<void> {
  const limit = new Date(now.getTime() - days * DAY_MS)
  const unfinished = kysely.selectFrom(pipelines.name).select('id').where('status', 'in', UNFINISHED)
  await kysely
    .deleteFrom(taskLogs.name)
    .where('updated_at', '<', limit)
    .where('pipeline_id', 'not in', unfinished)
    .execute()
}

/** Deletes old logs at the start and once a day; never when `days` is 0. */
export function startLogRetention(
  context: Pick<ServiceContext, 'database' | 'dataFolder' | 'log'>,
  days: number,
): { stop(): void } {
  if (days === 0) return { stop() {} }
  const clean = async () => {
    try {
      const { length } = await removeOldLogs(context, days)
      await removeStoredLogs(context, days)
      if (length > 0)
        context.log.info(`deleted the logs of ${counted(length, 'pipeline')}, older than ${counted(days, 'day')}`)
    } catch (error) {
      context.log.warn(`old logs could not be deleted: ${messageOf(error)}`)
    }
  }
  void clean()
  const timer = setInterval(clean, DAY_MS)
  return { stop: () => clearInterval(timer) }
}
