import { join, resolve } from 'node:path'
import { type Config, readConfig, secretsOf } from '../config/config.ts'
import type { Database } from '../database/database.ts'
import { startEmbedded } from '../database/embedded/embedded.ts'
import { openDatabase } from '../database/open.ts'
import { messageOf, UserError } from '../errors.ts'
import { createLog, keepSecret, type Logger, logDestination } from '../log.ts'
import { addressSecrets } from '../secrets/address-secrets.ts'
import { prepareDatabase } from '../start/prepare-database.ts'

/** Everything that a subcommand works with. */
export interface Runtime {
  readonly config: Config
  readonly log: Logger
  /** Aborted by Ctrl-C, SIGTERM, the end of the parent process, or `fail`. */
  readonly signal: AbortSignal
  /** Ends the command with this error as soon as it listens to its signal. */
  fail(error: Error): void
}

/** Longer than any clean stop takes; docker and systemd wait less long. */
const STOP_DEADLINE_MS = 90_000

export function createRuntime(): Runtime {
  const config = readConfig(process.env)
  for (const secret of secretsOf(config)) keepSecret(secret)

  const stop = new AbortController()
  const abort = (reason?: Error) => {
    if (stop.signal.aborted) return
    stop.abort(reason)
    setTimeout(() => process.exit(1), STOP_DEADLINE_MS + 1000 * config.drainSeconds).unref()
  }
  // A launcher passes on what it receives, so one Ctrl-C may arrive twice: further signals change nothing.
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, () => abort())
  process.on('disconnect', () => abort())
  process.channel?.unref()

  return {
    config,
    log: createLog(config.logLevel, openLog(config), config.logFormat),
    signal: stop.signal,
    fail: abort,
  }
}

/** The file for the log; undefined means standard error. A terminal is for people, so with one the log goes to a file. */
export function logFileOf({ logFile, dataFolder }: Pick<Config, 'logFile' | 'dataFolder'>): string | undefined {
  if (logFile !== undefined) return logFile === 'stderr' ? undefined : resolve(logFile)
  return process.stderr.isTTY ? join(dataFolder, 'logs', 'weir.log') : undefined
}

function openLog(config: Config) {
  const file = logFileOf(config)
  try {
    return logDestination(file)
  } catch (error) {
    throw new UserError(`The log cannot be written to ${file}: ${messageOf(error)}. Set LOGGING_FILE to another path.`)
  }
}

/** Runs `body` on the database of DB_URL, or else on the embedded one, with all tables in place. */
export async function withDatabase<Result>(
  runtime: Runtime,
  body: (database: Database, url: string) => Promise<Result>,
  onProgress: (line: string) => void = (line) => runtime.log.info(line),
  prepare: (database: Database) => Promise<void> = prepareDatabase,
): Promise<Result> {
  const { config, fail } = runtime
  const embedded = config.databaseUrl ? undefined : await startEmbedded(config.dataFolder, { onProgress, onLost: fail })
  try {
    const url = embedded?.url ?? config.databaseUrl ?? ''
    for (const secret of addressSecrets(url)) keepSecret(secret)
    const database = await openDatabase(url)
    try {
      onProgress('preparing the tables')
      await prepare(database)
      return await body(database, url)
    } catch (error) {
      throw database.explain(error) ?? error
    } finally {
      await database.close()
    }
  } finally {
    await embedded?.stop()
  }
}

/** Waits for the signal; throws if it came from a failure and not from a wish to stop. */
export async function untilStopped({ signal }: Runtime): Promise<void> {
  if (!signal.aborted) await new Promise((done) => signal.addEventListener('abort', done, { once: true }))
  if (signal.reason?.name !== 'AbortError') throw signal.reason
}
