/** What is good and what is not about this installation, as `weir doctor` and the web client tell it. */
import { statfs } from 'node:fs/promises'
import { sql } from 'kysely'
import type { Config } from '../config.ts'
import { nextTick } from '../control-plane/cron.ts'
import { lastRunLack } from '../control-plane/partial-data.ts'
import type { ServiceContext, Services } from '../control-plane/services.ts'
import { isFinished, QUEUED } from '../control-plane/states.ts'
import { selectRows } from '../control-plane/store.ts'
import { counted } from '../counted.ts'
import { schemaVersions } from '../database/migrate.ts'
import { apiKeys } from '../system/access.ts'
import { pipelines } from '../system/pipelines.ts'
import { blueprintTicks, servers } from '../system/runs.ts'
import { LEASE_MS } from './servers.ts'

export const FINDING_STATES = ['good', 'warning', 'bad'] as const
export interface Finding {
  readonly check: string
  readonly state: (typeof FINDING_STATES)[number]
  readonly message: string
}

const GIGABYTE = 1024 ** 3
/** From here on somebody should look, and from there on runs are about to fail. */
const LITTLE_GIGABYTES = 2
const NEARLY_NO_GIGABYTES = 0.5

export async function checkDisk({ dataFolder }: Pick<Config, 'dataFolder'>): Promise<Finding> {
  try {
    const { bavail, bsize } = await statfs(dataFolder)
    const free = (bavail * bsize) / GIGABYTE
    const message = `${free.toFixed(1)} GB free for ${dataFolder}`
    if (free < NEARLY_NO_GIGABYTES) {
      const remedy = 'free some space, or see `npx weir storage` and `npx weir retention`'
      return { check: 'disk', state: 'bad', message: `nearly full: ${message}; ${remedy}` }
    }
    return { check: 'disk', state: free < LITTLE_GIGABYTES ? 'warning' : 'good', message }
  } catch {
    return { check: 'disk', state: 'good', message: `${dataFolder} will be generated at the first start` }
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

/** A tick that is due is followed within a second; so long after it nobody follows it. */
const LATE_MS = 600_000

export async function checkSchedule(
  { blueprints, pipelines: runs }: Services,
  { kysely }: ServiceContext['database'],
  now = new Date(),
): Promise<Finding[]> {
  const { items } = await blueprints.list({ pageSize: MOST_SCHEDULES })
  const ticks = new Map((await selectRows(kysely, blueprintTicks)).map((row) => [row.blueprint_id, row.ticked_at]))
  return Promise.all(
    items.map(async ({ id, name, projectName, enable, isManual, cronConfig }): Promise<Finding> => {
      const check = `schedule of ${name}`
      const ticked = ticks.get(id)
      const due = enable && !isManual && ticked ? nextTick(cronConfig, ticked) : undefined
      if (due && now.getTime() - due.getTime() > LATE_MS) {
        const message = `stale: the run of ${due.toISOString()} was not started; start a server, or look at its log`
        return { check, state: 'bad', message }
      }
      if (!enable) return { check, state: 'good', message: 'disabled' }
      const [last] = (await runs.list({ blueprintId: id, pageSize: 1 })).items
      const next = isManual ? 'started by hand' : `next at ${nextTick(cronConfig, now)?.toISOString() ?? 'never'}`
      const isFailed = last?.status === 'TASK_FAILED' || last?.status === 'TASK_PARTIAL'
      const history = last ? `, last run ${last.status.replace('TASK_', '').toLowerCase()}` : ', never run'
      const isOver = last && isFinished(last.status)
      const lack = isOver ? await lastRunLack(kysely, { id, project_name: projectName }) : undefined
      const why = lack ? `. ${lack.seen} ${lack.remedy}` : ''
      return { check, state: isFailed || lack ? 'bad' : 'good', message: next + history + why }
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
    await checkClock(database),
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

const MOST_SECONDS_OFF = 60

/** Runs and leases do not go by it, but what they note does: times of servers and of sources would not fit together. */
export async function checkClock({ kysely }: ServiceContext['database'], now = Date.now): Promise<Finding> {
  const before = now()
  const { rows } = await sql<{ at: Date }>`select current_timestamp(3) as at`.execute(kysely)
  const at = rows[0]?.at.getTime() ?? before
  const after = now()
  // Within the time that the question took nobody knows better.
  const off = (at < before ? at - before : Math.max(0, at - after)) / 1000
  if (Math.abs(off) <= MOST_SECONDS_OFF) return { check: 'clock', state: 'good', message: "as the database's" }
  const side = off < 0 ? 'ahead of' : 'behind'
  const message = `${counted(Math.round(Math.abs(off)), 'second')} ${side} that of the database: set the clocks of both machines by NTP`
  return { check: 'clock', state: 'bad', message }
}

/** Keys that open nothing any more; whoever uses them is refused. */
export async function checkApiKeys({ kysely }: ServiceContext['database'], now = new Date()): Promise<Finding[]> {
  const expired = await selectRows(kysely, apiKeys, (query) => query.where('expired_at', '<', now).orderBy('id'))
  if (expired.length === 0) return []
  const names = expired.slice(0, 5).map(({ name }) => name)
  const message = `${counted(expired.length, 'expired key')}, such as ${names.join(', ')}: renew or delete them`
  return [{ check: 'API keys', state: 'warning', message }]
}

/** `isNeeded`: without a server something is left undone. */
export async function checkRunner(
  { consumePipelines, runTasksOn }: Config,
  { kysely }: ServiceContext['database'],
  isNeeded = true,
): Promise<Finding> {
  const known = await selectRows(kysely, servers)
  // Clocks of machines differ: who was heard of lately enough is taken for living.
  const living = known.filter(({ updated_at }) => updated_at && Date.now() - updated_at.getTime() < 2 * LEASE_MS)
  const workers = living.filter(({ role }) => role === 'worker').length
  const serving = living.length - workers
  const { rows } = await sql<{ running: number; waiting: number }>`select
      coalesce(sum(case when status = 'TASK_RUNNING' then 1 else 0 end), 0) as running,
      coalesce(sum(case when status in (${sql.join(QUEUED)}) then 1 else 0 end), 0) as waiting
    from ${sql.table(pipelines.name)} where finished_at is null`.execute(kysely)
  const { running = 0, waiting = 0 } = rows[0] ?? {}
  const runs = `${counted(Number(running), 'run')} under way, ${Number(waiting)} waiting`
  if (serving === 0) {
    const why = consumePipelines ? 'start the server again' : 'this one has CONSUME_PIPELINES=false; start another'
    const state = isNeeded || Number(running) + Number(waiting) > 0 ? 'bad' : 'warning'
    return { check: 'runner', state, message: `no server takes runs: ${why}; ${runs}` }
  }
  const hasWorkers = runTasksOn === 'workers'
  if (hasWorkers && workers === 0) {
    const message = `no worker takes tasks: start one with npx weir worker, or set RUN_TASKS_ON=server; ${runs}`
    return { check: 'runner', state: 'bad', message }
  }
  if (!hasWorkers && workers > 0) {
    const message = `${counted(workers, 'worker')} without tasks, because servers run them: set RUN_TASKS_ON=workers on all servers; ${runs}`
    return { check: 'runner', state: 'warning', message }
  }
  const helpers = hasWorkers ? ` with ${counted(workers, 'worker')}` : ''
  return { check: 'runner', state: 'good', message: `${counted(serving, 'server')} at work${helpers}; ${runs}` }
}
