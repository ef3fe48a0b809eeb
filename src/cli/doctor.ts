import { Command } from 'commander'
import { recordUse } from '../control-plane/connections/connection-states.ts'
import { testConnection } from '../control-plane/connections/test-connection.ts'
import type { ControlPlane } from '../control-plane/control-plane.ts'
import type { Services } from '../control-plane/services.ts'
import type { Database } from '../database/database.ts'
import { messageOf, UnavailableError } from '../errors.ts'
import { redact } from '../log.ts'
import type { PluginSpec } from '../plugin-kit/spec/plugin.ts'
import { checkApiKeys, checkSchedule, type Finding, findingsOf, keyFinding } from '../runner/health.ts'
import { NOTHING, readDisk } from '../runner/standstill/facts.ts'
import { lookOnce, snapshotOf } from '../runner/standstill/standstill.ts'
import type { Thresholds } from '../runner/standstill/thresholds.ts'
import { prepareDatabase } from '../start/prepare-database.ts'
import { openControl } from './control.ts'
import { createRuntime, type Runtime, withDatabase } from './runtime.ts'

export const doctor = new Command('doctor')
  .description('check database, disk, clock, encryption key, server, connections and schedules')
  .option('--json', 'print JSON')
  .addHelpText('after', '\nExit code 0 if nothing is wrong, otherwise 1. A warning is not an error.')
  .action(async (options: { json?: boolean }) => {
    const runtime = createRuntime()
    const findings = await examine(runtime)
    if (options.json) console.log(JSON.stringify({ findings }))
    else for (const { check, state, message } of findings) console.log(`${state.padEnd(8)}${check}: ${message}`)
    if (findings.some(({ state }) => state === 'bad')) process.exitCode = 1
  })

export async function examine(runtime: Runtime, thresholds: Partial<Thresholds> = {}): Promise<Finding[]> {
  const { config } = runtime
  const { dataFolder } = config
  const look = async (database: Database, isNeeded = true) => {
    const options = { needsWorkers: config.runTasksOn === 'workers', thresholds }
    return findingsOf(config, await lookOnce({ database, dataFolder }, options), isNeeded)
  }
  let unprepared: unknown
  try {
    return await withDatabase(
      runtime,
      async (database) => {
        // The database answers but accepts no changes; the look reports that.
        if (unprepared) return [...(await look(database))]
        const opened = await checkControl(runtime, () => openControl(runtime, database))
        return [...opened.findings, ...(await look(database, opened.hasSchedule))]
      },
      () => {},
      (database) =>
        prepareDatabase(database).catch((error) => {
          if (!(database.explain(error) instanceof UnavailableError)) throw error
          unprepared = error
        }),
    )
  } catch (error) {
    const disk = findingsOf(config, snapshotOf({ ...NOTHING, disk: await readDisk(dataFolder) }, thresholds))
    const database: Finding = { check: 'database', state: 'bad', message: messageOf(error) }
    return [database, ...disk.filter(({ check }) => check === 'disk')]
  }
}

interface Opened {
  readonly findings: readonly Finding[]
  /** True if something must start runs. */
  readonly hasSchedule: boolean
}

async function checkControl({ config, signal }: Runtime, open: () => Promise<ControlPlane>): Promise<Opened> {
  let control: ControlPlane
  try {
    control = await open()
  } catch (error) {
    return {
      findings: [{ check: 'encryption key', state: 'bad', message: messageOf(error) }],
      hasSchedule: true,
    }
  }
  const sources = control.context.plugins.flatMap(({ source }) => (source && !source.settingsOf ? [source] : []))
  const connections = await Promise.all(sources.map((source) => checkConnections(control, source, signal)))
  const { items } = await control.services.blueprints.list({ pageSize: 1000 })
  const findings = [
    keyFinding(config),
    ...(await checkApiKeys(control.context.database)),
    ...connections.flat(),
    ...(await checkSchedule(control.services, control.context.database)),
  ]
  return { findings, hasSchedule: items.some(({ enable, isManual }) => enable && !isManual) }
}

const PATIENCE_MS = 30_000

async function checkConnections(
  { context, services }: ControlPlane,
  source: PluginSpec,
  signal: AbortSignal,
): Promise<Finding[]> {
  const all = await services.connections.list(source.name)
  return Promise.all(
    all.map(async ({ id, name }): Promise<Finding> => {
      const check = `${source.name} connection ${name}`
      const { failure, requestsLeft } = await tried(services, source, id, signal)
      const used = { plugin: source.name, connectionId: id, failure, requestsLeft }
      // From now on the pages show the same about this connection.
      if (!signal.aborted) await recordUse(context.database.kysely, used)
      return failure === undefined
        ? { check, state: 'good', message: 'answers' }
        : { check, state: 'bad', message: failure }
    }),
  )
}

async function tried(services: Services, source: PluginSpec, id: number, signal: AbortSignal) {
  try {
    const settings = await services.connections.reveal(source.name, id)
    const limited = AbortSignal.any([signal, AbortSignal.timeout(PATIENCE_MS)])
    const result = await testConnection(source, settings, services.connections, { isSaved: true, signal: limited })
    return { failure: result.success ? undefined : result.message, requestsLeft: result.requestsLeft }
  } catch (error) {
    return { failure: redact(messageOf(error)), requestsLeft: undefined }
  }
}
