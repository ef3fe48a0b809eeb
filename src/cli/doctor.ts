import { Command } from 'commander'
import { messageOf } from '../errors.ts'
import type { ControlPlane } from '../pipelines/control-plane.ts'
import { checkDisk, checkSchedule, type Finding, keyFinding } from '../pipelines/health.ts'
import { testConnection } from '../pipelines/test-connection.ts'
import type { PluginSpec } from '../plugin-kit/plugin.ts'
import { openControl } from './control.ts'
import { createRuntime, type Runtime, withDatabase } from './runtime.ts'

export const doctor = new Command('doctor')
  .description('check database, disk, encryption key, connections and schedule')
  .option('--json', 'print JSON')
  .addHelpText('after', '\nEnds with 0 when nothing is bad, else with 1. A warning is not bad yet.')
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
  return [keyFinding(config), ...connections.flat(), ...(await checkSchedule(control.services))]
}

const PATIENCE_MS = 30_000

async function checkConnections(
  { services }: ControlPlane,
  source: PluginSpec,
  signal: AbortSignal,
): Promise<Finding[]> {
  const all = await services.connections.list(source.name)
  return Promise.all(
    all.map(async ({ id, name }): Promise<Finding> => {
      const check = `${source.name} connection ${name}`
      try {
        const settings = await services.connections.reveal(source.name, id)
        const limited = AbortSignal.any([signal, AbortSignal.timeout(PATIENCE_MS)])
        const result = await testConnection(source, settings, services.connections, { isSaved: true, signal: limited })
        if (result.success) return { check, state: 'good', message: 'answers' }
        return { check, state: 'bad', message: result.message }
      } catch (error) {
        return { check, state: 'bad', message: messageOf(error) }
      }
    }),
  )
}
