import { Command } from 'commander'
import { recordUse } from '../control-plane/connection-states.ts'
import type { ControlPlane } from '../control-plane/control-plane.ts'
import type { Services } from '../control-plane/services.ts'
import { testConnection } from '../control-plane/test-connection.ts'
import { messageOf } from '../errors.ts'
import { redact } from '../log.ts'
import type { PluginSpec } from '../plugin-kit/spec/plugin.ts'
import {
  checkApiKeys,
  checkClock,
  checkDisk,
  checkRunner,
  checkSchedule,
  type Finding,
  keyFinding,
} from '../runner/health.ts'
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

async function examine(runtime: Runtime): Promise<Finding[]> {
  const disk = await checkDisk(runtime.config)
  try {
    return await withDatabase(
      runtime,
      async (database) => {
        const kind = runtime.config.databaseUrl ? 'the one that DB_URL names' : 'embedded'
        const opened: Finding = { check: 'database', state: 'good', message: `${kind}, tables are in place` }
        return [opened, disk, ...(await checkControl(runtime, () => openControl(runtime, database)))]
      },
      () => {},
    )
  } catch (error) {
    return [{ check: 'database', state: 'bad', message: messageOf(error) }, disk]
  }
}

async function checkControl({ config, signal }: Runtime, open: () => Promise<ControlPlane>): Promise<Finding[]> {
  let control: ControlPlane
  try {
    control = await open()
  } catch (error) {
    return [{ check: 'encryption key', state: 'bad', message: messageOf(error) }]
  }
  const sources = control.context.plugins.flatMap(({ source }) => (source && !source.settingsOf ? [source] : []))
  const connections = await Promise.all(sources.map((source) => checkConnections(control, source, signal)))
  const { database } = control.context
  const { items } = await control.services.blueprints.list({ pageSize: 1000 })
  const hasSchedule = items.some(({ enable, isManual }) => enable && !isManual)
  return [
    keyFinding(config),
    await checkClock(database),
    await checkRunner(config, database, hasSchedule),
    ...(await checkApiKeys(database)),
    ...connections.flat(),
    ...(await checkSchedule(control.services, database)),
  ]
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
      // From now on the pages say the same of it.
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
