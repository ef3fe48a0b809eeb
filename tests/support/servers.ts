/** Private database servers for tests and benchmarks. Each has its own folder and port, and ends with the process that asked for it. */
import { type SpawnOptions, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { chownSync, existsSync, mkdtempSync, readFileSync, rmSync, statfsSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import mysql from 'mysql2/promise'
import pg from 'pg'
import { serverAccount } from '../../src/database/embedded/account.ts'
import { startEmbedded } from '../../src/database/embedded/embedded.ts'
import { mysqlProgram } from './mysql-program.ts'

export interface TestServer {
  /** The administrator's address of a database that tests leave alone. */
  readonly url: string
  /** Creates a database and returns its address. It is empty, or on PostgreSQL a copy of `template` if that is given. */
  createDatabase(name?: string, template?: string): Promise<string>
  dropDatabase(url: string): Promise<void>
  /** Stops the server as an administrator would, and starts it again at the same address. */
  restart(): Promise<void>
  stop(): Promise<void>
}

export type Engine = 'postgres' | 'mysql'
/** Settings of PostgreSQL by their names. */
type Settings = Readonly<Record<string, string>>

/** The reason why the engine cannot be started on this machine. Undefined if it can. */
export const missing: Record<Engine, () => string | undefined> = {
  postgres: () => undefined,
  mysql: () => (mysqlProgram() ? undefined : 'MariaDB is not installed'),
}

export const start: Record<Engine, (parent?: string, settings?: Settings) => Promise<TestServer>> = {
  postgres: startTestPostgres,
  mysql: startTestMariadb,
}

const MEMORY = '/dev/shm'
const ROOM_BYTES = 4 * 1024 ** 3

/**
 * The folder where servers of short tests keep their files: in memory if there is room. MariaDB waits for several disk writes
 * per new table, and a database of Weir has hundreds of tables.
 */
export function quickFolder(): string {
  if (process.env.FULL_SIZE === 'true' || !existsSync(MEMORY)) return tmpdir()
  const { bavail, bsize } = statfsSync(MEMORY)
  return Math.min(bavail * bsize, process.availableMemory() / 2) >= ROOM_BYTES ? MEMORY : tmpdir()
}

export async function startTestPostgres(parent: string = tmpdir(), settings: Settings = {}): Promise<TestServer> {
  const folder = mkdtempSync(join(parent, 'weir-test-postgres-'))
  const reaper = reap(folder, 'postgres/data/postmaster.pid')
  try {
    let lost: Error | undefined
    const { url, stop } = await startEmbedded(folder, {
      settings: {
        fsync: 'off',
        synchronous_commit: 'off',
        full_page_writes: 'off',
        max_connections: '300',
        ...settings,
      },
      onLost: (error) => {
        lost = error
      },
    })
    const pid = () => Number(readFileSync(join(folder, 'postgres/data/postmaster.pid'), 'utf8').split('\n')[0])
    // The connection that holds the server notices that it ended, and starts it again.
    const restart = async () => {
      const before = pid()
      process.kill(before, 'SIGINT')
      // Only once it holds the new server too does it notice that this one ends.
      const isHeld = async () => {
        const { rowCount } = await runOnPostgres(url, `select from pg_locks where locktype = 'advisory' and granted`)
        return rowCount !== 0 && pid() !== before
      }
      while (!(await isHeld().catch(() => false))) {
        if (lost) throw lost
        await sleep(20)
      }
    }
    return { ...databasesOf('postgres', url), restart, stop: () => stop().then(reaper.finish) }
  } catch (error) {
    reaper.finish()
    throw error
  }
}

/** Starts MariaDB, or MySQL if the environment names one. */
export async function startTestMariadb(parent: string = tmpdir()): Promise<TestServer> {
  const folder = mkdtempSync(join(parent, 'weir-test-mariadb-'))
  const data = join(folder, 'data')
  const pidFile = join(folder, 'pid')
  const reaper = reap(folder, 'pid')
  const account = serverAccount(data)
  if (account) chownSync(folder, account.uid, account.gid)
  const port = await freePort()
  const options = ['--no-defaults', `--datadir=${data}`]
  try {
    const program = mysqlProgram()
    if (!program) throw new Error(missing.mysql())
    const [create, ...creating] = program.create(folder, options)
    // This command starts a server too, so it needs the temporary folder of its own as `--tmpdir` below.
    const made = await finished(create, creating, { cwd: folder, env: { ...process.env, TMPDIR: folder }, ...account })
    if (made.code !== 0) throw new Error(`${create}: ${made.printed}`)
    const [serve, ...parameters] = program.serve([
      ...options,
      `--pid-file=${pidFile}`,
      // A starting server deletes files that look like old temporary tables, even those of another server.
      `--tmpdir=${folder}`,
      `--log-error=${join(folder, 'log.err')}`,
      `--socket=${join(folder, 'socket')}`,
      '--bind-address=127.0.0.1',
      `--port=${port}`,
      '--skip-log-bin',
      '--skip-name-resolve',
      '--max-connections=300',
      '--innodb-flush-log-at-trx-commit=0',
      '--innodb-doublewrite=0',
      // Tests create our tables hundreds of times. In one file and without statistics on disk, that takes half as long.
      '--innodb-file-per-table=0',
      '--innodb-stats-persistent=0',
      // Several databases of hundreds of tables are in use at the same time.
      '--innodb-buffer-pool-size=256M',
      '--table-open-cache=6000',
      '--table-definition-cache=6000',
      '--key-buffer-size=1M',
      '--performance-schema=OFF',
    ])
    const url = `mysql://root@127.0.0.1:${port}/mysql`
    const launch = async () => {
      const server = spawn(serve, parameters, { stdio: 'ignore', cwd: folder, ...account })
      const ended = once(server, 'exit')
      const end = async (signal: NodeJS.Signals) => {
        server.kill(signal)
        await ended
      }
      try {
        await untilAnswers(
          () => runOnMysql(url, 'select 1'),
          () => server.exitCode === null,
          join(folder, 'log.err'),
        )
      } catch (error) {
        // A server that still writes into its folder would hide the reason for the failure.
        await end('SIGKILL')
        throw error
      }
      return () => end('SIGTERM')
    }
    let end = await launch()
    const restart = async () => {
      await end()
      end = await launch()
    }
    const stop = async () => {
      await end()
      reaper.finish()
    }
    return { ...databasesOf('mysql', url), restart, stop }
  } catch (error) {
    reaper.finish()
    throw error
  }
}

async function finished(program: string, parameters: readonly string[], options: SpawnOptions) {
  const child = spawn(program, parameters, { ...options, stdio: ['ignore', 'pipe', 'pipe'] })
  const closed = once(child, 'close')
  const [output, errors, [code]] = await Promise.all([text(child.stdout!), text(child.stderr!), closed])
  return { code, printed: errors + output }
}

/** Starts a shell that outlives this process. When our end of its pipe closes, however we ended, it kills the server and deletes its folder. */
function reap(folder: string, pidFile: string): { finish: () => void } {
  const script = `cat >/dev/null; kill -9 $(head -n 1 "$1/$2") 2>/dev/null; sleep 1; rm -rf "$1"`
  const shell = spawn('sh', ['-c', script, 'sh', folder, pidFile], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  })
  shell.unref()
  // This pipe is a socket whose handle keeps our process alive unless it is unreferenced.
  ;(shell.stdin as unknown as { unref(): void }).unref()
  const finish = () => {
    shell.kill('SIGKILL')
    rmSync(folder, { recursive: true, force: true })
  }
  return { finish }
}

type Run = (url: string, statement: string) => Promise<unknown>

/** Creates and drops databases on a running server. */
export function databasesOf(engine: Engine, url: string): Omit<TestServer, 'restart' | 'stop'> {
  const run = runStatement[engine]
  return {
    url,
    createDatabase: async (name = `test_${randomBytes(6).toString('hex')}`, template) => {
      await run(url, `create database ${name}${template ? ` template ${template} strategy file_copy` : ''}`)
      const created = new URL(url)
      created.pathname = `/${name}`
      return created.href
    },
    dropDatabase: async (created) => {
      const name = new URL(created).pathname.slice(1)
      await run(url, `drop database if exists ${name}${engine === 'postgres' ? ' with (force)' : ''}`)
    },
  }
}

async function runOnPostgres(url: string, statement: string): Promise<pg.QueryResult> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  return client.query(statement).finally(() => client.end())
}

async function runOnMysql(url: string, statement: string): Promise<unknown> {
  const connection = await mysql.createConnection(url)
  return connection.query(statement).finally(() => connection.end())
}

/** Runs one statement on the server at the address with the driver itself, for things that tests set up without Weir's own code. */
export const runStatement: Record<Engine, Run> = { postgres: runOnPostgres, mysql: runOnMysql }

async function untilAnswers(ask: () => Promise<unknown>, isRunning: () => boolean, log: string): Promise<void> {
  const limit = Date.now() + 120_000
  while (isRunning()) {
    try {
      await ask()
      return
    } catch (error) {
      // On a busy machine a starting server may let a connection wait too long, or close it.
      if (Date.now() > limit) throw error
    }
    await sleep(50)
  }
  throw new Error(`the server ended: ${existsSync(log) ? readFileSync(log, 'utf8').slice(-2000) : 'without a word'}`)
}

/**
 * Searches below the ports that systems use for outgoing connections: between this answer and the start of a server, or while
 * it is restarted, a connection of another test must not take the port.
 */
export async function freePort(): Promise<number> {
  for (let attempt = 0; attempt < 100; attempt++) {
    const port = 10_000 + Math.floor(Math.random() * 10_000)
    if (await isFree(port)) return port
  }
  throw new Error('no free port between 10000 and 20000')
}

const isFree = (port: number): Promise<boolean> =>
  new Promise((done) => {
    const probe = createServer()
    probe.once('error', () => done(false))
    probe.listen(port, '127.0.0.1', () => probe.close(() => done(true)))
  })
