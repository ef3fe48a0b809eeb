/** Checks this installation and reports what works and what does not, for `weir doctor` and the web client. */
import { hostname } from 'node:os'
import { counted } from '../basics/counted.ts'
import type { Config } from '../config/config.ts'
import { nextTick } from '../control-plane/blueprints/cron.ts'
import { lastRunLack } from '../control-plane/projects/partial-data.ts'
import { isFinished } from '../control-plane/runs/states.ts'
import type { ServiceContext, Services } from '../control-plane/services.ts'
import { selectRows } from '../control-plane/store.ts'
import { apiKeys } from '../system/access.ts'
import { blueprintTicks } from '../system/runs.ts'
import { CAUSES, CHECKS } from './standstill/causes.ts'
import { type Facts, NOTHING, readDatabase } from './standstill/facts.ts'
import { onMachine, type Snapshot, snapshotOf } from './standstill/standstill.ts'

export const FINDING_STATES = ['good', 'warning', 'bad'] as const
export interface Finding {
  readonly check: string
  readonly state: (typeof FINDING_STATES)[number]
  readonly message: string
}

export const keyFinding = ({
  encryptionSecret,
  dataFolder,
}: Pick<Config, 'encryptionSecret' | 'dataFolder'>): Finding => ({
  check: 'encryption key',
  state: 'good',
  message: encryptionSecret ? 'from ENCRYPTION_SECRET' : `in ${dataFolder}; keep a copy elsewhere`,
})

/** The number of schedules listed at most; nobody reads more. */
const MOST_SCHEDULES = 1000

/** A run normally starts within a second after its tick. When it is this late, no server will start it. */
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

/** The checks that a running server can do quickly. */
export function examineServer(config: Config, snapshot: Snapshot): readonly Finding[] {
  return [keyFinding(config), ...findingsOf(config, snapshot)]
}

/** Returns one finding per part of the installation: the causes of a standstill found there, or its normal state. */
export function findingsOf(config: Config, { facts, standing }: Snapshot, isNeeded = true): readonly Finding[] {
  return CHECKS.flatMap((check): Finding[] => {
    const own = standing.filter(({ cause }) => CAUSES[cause].check === check)
    if (own.length === 0) return WELL[check](facts, config, isNeeded)
    const message = own.map(
      (each) => `${each.host === hostname() ? '' : onMachine(each)}${each.sentence} ${each.remedy}`,
    )
    return [{ check, state: own.every(({ isEarly }) => isEarly) ? 'warning' : 'bad', message: message.join(' ') }]
  })
}

const GIGABYTE = 1024 ** 3
const WELL: Readonly<Record<(typeof CHECKS)[number], (facts: Facts, config: Config, isNeeded: boolean) => Finding[]>> =
  {
    database({ database: { statementSeconds = 0 } }, { databaseUrl }) {
      const kind = databaseUrl ? 'the one that DB_URL names' : 'embedded'
      const took = Math.max(1, Math.round(statementSeconds * 1000))
      return [{ check: 'database', state: 'good', message: `${kind}, tables are in place, answers in ${took} ms` }]
    },
    clock: () => [{ check: 'clock', state: 'good', message: "as the database's" }],
    disk({ disk }, { dataFolder }) {
      const message = disk
        ? `${(disk.freeBytes / GIGABYTE).toFixed(1)} GB free for ${dataFolder}`
        : `${dataFolder} will be generated at the first start`
      return [{ check: 'disk', state: 'good', message }]
    },
    runner: ({ queue }, config, isNeeded) => (queue ? [runnerFinding(queue, config, isNeeded)] : []),
    sources: () => [],
  }

/** `isNeeded` says that a missing server is a problem even if no run waits. */
function runnerFinding(
  { members, waiting, running }: NonNullable<Facts['queue']>,
  { consumePipelines }: Config,
  isNeeded: boolean,
): Finding {
  const alive = (kind: string) => members.filter((each) => each.kind === kind && each.isAlive).length
  const [serving, workers] = [alive('server'), alive('worker')]
  const runs = `${counted(running.length, 'run')} under way, ${waiting.count} waiting`
  if (serving === 0) {
    const why = consumePipelines ? 'start the server again' : 'this one has CONSUME_PIPELINES=false; start another'
    const state = isNeeded || running.length + waiting.count > 0 ? 'bad' : 'warning'
    return { check: 'runner', state, message: `no server takes runs: ${why}; ${runs}` }
  }
  // Uses what each server says about itself, because the settings of this process may differ.
  if (workers > 0 && members.some(({ kind, isAlive, places }) => kind === 'server' && isAlive && places > 0)) {
    const message = `${counted(workers, 'worker')} may have no tasks, because a server runs them itself: set RUN_TASKS_ON=workers on all servers; ${runs}`
    return { check: 'runner', state: 'warning', message }
  }
  const helpers = workers > 0 ? ` with ${counted(workers, 'worker')}` : ''
  return { check: 'runner', state: 'good', message: `${counted(serving, 'server')} at work${helpers}; ${runs}` }
}

/**
 * Runs and leases do not depend on the clock, but the times that they record do. So a wrong clock is reported at the start,
 * and not only after a minute.
 */
export async function clockTrouble(
  database: ServiceContext['database'],
  clock: () => number = Date.now,
): Promise<string | undefined> {
  const { standing } = snapshotOf({ ...NOTHING, database: await readDatabase(database, clock) })
  const found = standing.find(({ cause }) => cause === 'clock_off')
  return found && `${found.sentence} ${found.remedy}`
}

/** Lists expired API keys. Requests that use them are refused. */
export async function checkApiKeys({ kysely }: ServiceContext['database'], now = new Date()): Promise<Finding[]> {
  const expired = await selectRows(kysely, apiKeys, (query) => query.where('expired_at', '<', now).orderBy('id'))
  if (expired.length === 0) return []
  const names = expired.slice(0, 5).map(({ name }) => name)
  const message = `${counted(expired.length, 'expired key')}, such as ${names.join(', ')}: renew or delete them`
  return [{ check: 'API keys', state: 'warning', message }]
}
