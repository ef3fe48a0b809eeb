/** What is good and what is not about this installation, as `weir doctor` and the web client tell it. */
import { statfs } from 'node:fs/promises'
import { sql } from 'kysely'
import type { Config } from '../config.ts'
import { schemaVersions } from '../database/migrate.ts'
import { pipelines } from '../system/pipelines.ts'
import { servers } from '../system/runs.ts'
import { nextTick } from './cron.ts'
import { LEASE_MS } from './servers.ts'
import type { ServiceContext, Services } from './services.ts'
import { QUEUED } from './states.ts'
import { selectRows } from './store.ts'

export const FINDING_STATES = ['good', 'warning', 'bad'] as const
export interface Finding {
  readonly check: string
  readonly state: (typeof FINDING_STATES)[number]
  readonly message: string
}

const GIGABYTE = 1024 ** 3
const LITTLE_GIGABYTES = 2

export async function checkDisk({ dataFolder }: Pick<Config, 'dataFolder'>): Promise<Finding> {
  try {
    const { bavail, bsize } = await statfs(dataFolder)
    const free = (bavail * bsize) / GIGABYTE
    const message = `${free.toFixed(1)} GB free for ${dataFolder}`
    return { check: 'disk', state: free < LITTLE_GIGABYTES ? 'warning' : 'good', message }
  } catch {
    return { check: 'disk', state: 'good', message: `${dataFolder} will be made at the first start` }
  }
}

export const keyFinding = ({
  encryptionSecret,
  dataFolder,
}: Pick<Config, 'encryptionSecret' | 'dataFolder'>): Finding => ({
  check: 'encryption key',
  state: 'good',
  message: encryptionSecret ? 'from ENCRYPTION_SECRET' : `in ${dataFolder}; keep a copy elsewhere`,
})

/** As many as anybody reads. */
const MOST_SCHEDULES = 1000

export async function checkSchedule({ blueprints, pipelines: runs }: Services): Promise<Finding[]> {
  const { items } = await blueprints.list({ pageSize: MOST_SCHEDULES })
  return Promise.all(
    items.map(async ({ id, name, enable, isManual, cronConfig }): Promise<Finding> => {
      const check = `schedule of ${name}`
      if (!enable) return { check, state: 'good', message: 'disabled' }
      const [last] = (await runs.list({ blueprintId: id, pageSize: 1 })).items
      const next = isManual
        ? 'started by hand'
        : `next at ${nextTick(cronConfig, new Date())?.toISOString() ?? 'never'}`
      const isFailed = last?.status === 'TASK_FAILED' || last?.status === 'TASK_PARTIAL'
      const history = last ? `, last run ${last.status.replace('TASK_', '').toLowerCase()}` : ', never run'
      return { check, state: isFailed ? 'bad' : 'good', message: next + history }
    }),
  )
}

/** All that can be told in a moment, by a server that runs. */
export async function examineServer(
  config: Config,
  { database }: Pick<ServiceContext, 'database'>,
): Promise<readonly Finding[]> {
  return [
    await checkDatabase(config, database),
    keyFinding(config),
    await checkRunner(config, database),
    await checkDisk(config),
  ]
}

async function checkDatabase({ databaseUrl }: Config, { kysely }: ServiceContext['database']): Promise<Finding> {
  const began = performance.now()
  const { rows } = await sql<{ version: number | null }>`
    select max(version) as version from ${sql.table(schemaVersions.name)}`.execute(kysely)
  const kind = databaseUrl ? 'the one that DB_URL names' : 'embedded'
  const took = Math.max(1, Math.round(performance.now() - began))
  return {
    check: 'database',
    state: 'good',
    message: `${kind}, answers in ${took} ms, schema version ${rows[0]?.version}`,
  }
}

const counted = (count: number, word: string) => `${count} ${word}${count === 1 ? '' : 's'}`

async function checkRunner({ consumePipelines }: Config, { kysely }: ServiceContext['database']): Promise<Finding> {
  const known = await selectRows(kysely, servers)
  // Clocks of machines differ: who was heard of lately enough is taken for living.
  const living = known.filter(({ updated_at }) => updated_at && Date.now() - updated_at.getTime() < 2 * LEASE_MS).length
  const { rows } = await sql<{ running: number; waiting: number }>`select
      coalesce(sum(case when status = 'TASK_RUNNING' then 1 else 0 end), 0) as running,
      coalesce(sum(case when status in (${sql.join(QUEUED)}) then 1 else 0 end), 0) as waiting
    from ${sql.table(pipelines.name)} where finished_at is null`.execute(kysely)
  const { running = 0, waiting = 0 } = rows[0] ?? {}
  const runs = `${counted(Number(running), 'run')} under way, ${Number(waiting)} waiting`
  if (living === 0) {
    const why = consumePipelines ? 'start the server again' : 'this one has CONSUME_PIPELINES=false; start another'
    return { check: 'runner', state: 'bad', message: `no server takes runs: ${why}; ${runs}` }
  }
  return { check: 'runner', state: 'good', message: `${counted(living, 'server')} at work; ${runs}` }
}
