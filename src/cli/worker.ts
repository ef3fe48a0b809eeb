import { Command } from 'commander'
import { leftOverSettings } from '../config/config.ts'
import { UserError } from '../errors.ts'
import { clockTrouble } from '../runner/health.ts'
import { startLogRetention } from '../runner/log-retention.ts'
import { storedKey } from '../secrets/encryption-key.ts'
import { requireSameKey } from '../secrets/rotate-key.ts'
import { startTracing } from '../telemetry/events/tracing.ts'
import { openControl } from './control.ts'
import { closeOwnFolders, ownThreads, version } from './runner.ts'
import { createRuntime, untilStopped, withDatabase } from './runtime.ts'

const MOST_TASKS = 100

export const worker = new Command('worker')
  .description('run tasks for servers that have the same DB_URL and RUN_TASKS_ON=workers')
  .option('--concurrency <number>', 'tasks at a time', '8')
  .addHelpText(
    'after',
    '\nIt has no API. It needs the DB_URL and ENCRYPTION_SECRET of its servers. With METRICS_PORT it answers /ping and\n/metrics there. Stopped with SIGTERM, it takes nothing new and waits DRAIN_SECONDS for its tasks; other workers continue what is left.',
  )
  .action(async ({ concurrency: wish }: { readonly concurrency: string }) => {
    const concurrency = Number(wish)
    if (!Number.isInteger(concurrency) || concurrency < 1 || concurrency > MOST_TASKS) {
      throw new UserError(`--concurrency must be a number from 1 to ${MOST_TASKS}.`)
    }
    const runtime = createRuntime()
    const { config, log, signal } = runtime
    if (!config.databaseUrl) throw new UserError('DB_URL is not set: a worker needs the database of its servers.')
    for (const line of leftOverSettings(process.env)) say(line)
    closeOwnFolders(config, log)
    await withDatabase(
      runtime,
      async (database, url) => {
        if (signal.aborted) return untilStopped(runtime)
        if (!(await storedKey(database))) {
          throw new UserError('This database has no encryption key yet: start a server on it first.')
        }
        const control = await openControl(runtime, database)
        const { context } = control
        const { secrets } = context
        const clock = await clockTrouble(database)
        if (clock) say(clock)
        const threads = ownThreads(config, secrets, url)
        await startTracing(config)
        const [{ startWatching }, { startWorkerProcess }] = await Promise.all([
          import('./watching.ts'),
          import('../runner/workers/worker-process.ts'),
        ])
        const watching = await startWatching(runtime, control)
        const process = await startWorkerProcess(context, {
          threads,
          concurrency,
          version,
          tellStandstill: watching.standstill.told,
        })
        watching.standstill.start()
        const logs = startLogRetention(context, config.logRetentionDays)
        try {
          await requireSameKey(database, secrets)
          say(`worker ready, tasks at a time: ${concurrency}`)
          await untilStopped(runtime)
        } finally {
          say('stopping')
          logs.stop()
          await process.stop(config.drainSeconds * 1000)
          await watching.stop()
        }
      },
      say,
    )
    say('stopped')
  })

const say = (line: string) => console.log(`weir: ${line}`)
