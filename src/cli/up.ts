import { createServer as createProbe } from 'node:net'
import { Command } from 'commander'
import { followAlerts } from '../alerts/follow.ts'
import { publicUrlOf } from '../alerts/links.ts'
import { accessMode } from '../api/access/access-token.ts'
import { type Config, leftOverSettings } from '../config/config.ts'
import { UserError } from '../errors.ts'
import { clockTrouble } from '../runner/health.ts'
import { startLogRetention } from '../runner/log-retention.ts'
import { startRetention } from '../runner/retention/retention.ts'
import { startTracing } from '../telemetry/events/tracing.ts'
import { engineOn } from '../traffic/engine/connect.ts'
import { startWatch } from '../traffic/engine/watch.ts'
import { openControl } from './control.ts'
import { closeOwnFolders, startOwnRunner } from './runner.ts'
import { createRuntime, untilStopped, withDatabase } from './runtime.ts'
import { welcome } from './welcome.ts'

export const up = new Command('up')
  .description('start the server, with an embedded database unless DB_URL names one')
  .action(async () => {
    const runtime = createRuntime()
    const { config, log, signal } = runtime
    requireAccessRule(config)
    await requireFreePort(config)
    for (const line of leftOverSettings(process.env)) say(line)
    requireReachableDatabase(config)
    closeOwnFolders(config, log)
    await withDatabase(
      runtime,
      async (database, url) => {
        if (signal.aborted) return untilStopped(runtime)
        const control = await openControl(runtime, database)
        const clock = await clockTrouble(database)
        if (clock) say(clock)
        await startTracing(config)
        // A third of all modules; without them, other commands start sooner.
        const [{ startWatching }, { createServer }] = await Promise.all([
          import('./watching.ts'),
          import('../api/server.ts'),
        ])
        const watching = await startWatching(runtime, control)
        const { measures, standstill } = watching
        const server = await createServer({ config, control, log, measures, standstill })
        const runner = await startOwnRunner(config, control, url, standstill.told)
        standstill.start()
        const watch = startWatch(engineOn(database), (id, err) =>
          log.warn({ err, switch: id }, 'cannot watch a switch'),
        )
        const alerts = followAlerts({ ...control.context, publicUrl: publicUrlOf(config) })
        const logs = startLogRetention(control.context, config.logRetentionDays)
        const retention = startRetention(control.context, config)
        try {
          const address = await server
            .listen({ host: config.host, port: config.port })
            .catch((error) => Promise.reject(explainListen(error, config)))
          say(`ready at ${address}`)
          console.log(await welcome(config, control, address))
          await untilStopped(runtime)
        } finally {
          say('stopping')
          logs.stop()
          retention.stop()
          await server.close()
          await alerts.stop()
          await watch.stop()
          await runner.stop()
          await watching.stop()
        }
      },
      say,
    )
    say('stopped')
  })

const say = (line: string) => console.log(`weir: ${line}`)

function requireAccessRule(config: Config): void {
  const { host, auth, authEnabled } = config
  if (accessMode(config) === 'oidc' && config.oidc.length === 0) {
    throw new UserError('AUTH=oidc needs a provider: set OIDC_PROVIDERS and its OIDC_NAME_… variables.')
  }
  const isLoopback = host === 'localhost' || host === '::1' || /^127(\.\d+){3}$/.test(host)
  if (isLoopback || auth || authEnabled) return
  throw new UserError(
    `HOST=${host} lets other machines in: set AUTH to token or oidc, or to none if everyone there may use Weir.`,
  )
}

/** Workers have no embedded database: without this check, tasks would wait for ever. */
function requireReachableDatabase({ runTasksOn, databaseUrl }: Config): void {
  if (runTasksOn !== 'workers' || databaseUrl) return
  throw new UserError(
    'RUN_TASKS_ON=workers needs a database that workers reach, and the embedded one is for this server alone: set DB_URL, or RUN_TASKS_ON=server.',
  )
}

/** Checked before the database is touched, so that a taken port leaves nothing behind. */
function requireFreePort(config: Config): Promise<void> {
  return new Promise((done, fail) => {
    const probe = createProbe()
    probe.once('error', (error) => fail(explainListen(error, config)))
    probe.listen({ host: config.host, port: config.port }, () => probe.close(() => done()))
  })
}

function explainListen(error: NodeJS.ErrnoException, { host, port }: Config): Error {
  const sentence = {
    EADDRINUSE: `Port ${port} is in use: stop the program that uses it, or set PORT to another number.`,
    EACCES: `Port ${port} is not open to this user: set PORT to a number from 1024 on.`,
    EADDRNOTAVAIL: `HOST=${host} is not an address of this machine: set HOST to one that is.`,
    ENOTFOUND: `HOST=${host} is not known: set HOST to an address of this machine.`,
  }[error.code ?? '']
  return sentence ? new UserError(sentence, { cause: error }) : error
}
