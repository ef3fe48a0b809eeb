import { execFileSync, spawn } from 'node:child_process'
import { closeSync, existsSync, openSync, readFileSync, readlinkSync, realpathSync, rmSync, statSync } from 'node:fs'
import { createServer } from 'node:net'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { messageOf } from '../../errors.ts'
import { type Account, serverAccount } from './account.ts'
import { dataOf, ensureCluster, explain, failureIn, isAlive, logOf, readUrl, writeUrl } from './cluster.ts'
import { findPrograms, type Programs, runAs } from './programs.ts'

interface EmbeddedOptions {
  /** Server settings in addition to the standard ones, such as fsync: 'off' in tests. */
  readonly settings?: Readonly<Record<string, string>>
  /** Receives one line for each step that a user may have to wait for. */
  readonly onProgress?: (line: string) => void
  /** Called when the server died and could not be started again. */
  readonly onLost?: (error: Error) => void
}

export interface Embedded {
  readonly url: string
  stop(): Promise<void>
}

/** True when an earlier start created a database. Commands that only read do not create one. */
export const hasEmbedded = (folder: string): boolean => existsSync(dataOf(join(resolve(folder), 'postgres')))

/**
 * Starts a PostgreSQL server with its data in `folder`, or uses the running one. Every process that uses the folder holds a
 * shared advisory lock as long as it lives. The last one to leave gets the lock exclusively and stops the server. So
 * `weir collect` and `weir up` share one server. A server that a killed process left behind is found, reported and used.
 */
export async function startEmbedded(folder: string, options: EmbeddedOptions = {}): Promise<Embedded> {
  const home = join(resolve(folder), 'postgres')
  try {
    const account = serverAccount(dataOf(home))
    const programs = await findPrograms(account)
    if (!existsSync(dataOf(home))) options.onProgress?.(`creating the database in ${home}`)
    ensureCluster(home, programs, account)
    return await hold({ home, account, programs, options })
  } catch (error) {
    throw explain(error, home)
  }
}

interface Server {
  readonly home: string
  readonly account: Account | undefined
  readonly programs: Programs
  readonly options: EmbeddedOptions
}

/** 'weir' in ASCII. */
const LOCK = 0x77656972

/** Keeps one connection with the shared lock, and starts the server again when it dies. */
async function hold(server: Server): Promise<Embedded> {
  let stopping = false
  let connection = await attach(server)
  const url = readUrl(server.home).href

  const watch = () => {
    connection.once('end', () => {
      if (!stopping) void recover()
    })
  }
  const recover = async () => {
    server.options.onProgress?.('the database stopped; starting it again')
    try {
      connection = await attach(server)
      if (stopping) return await release(connection, server.home)
      watch()
      // Existing pools keep the old address, so the server must come back at the same one.
      if (readUrl(server.home).href !== url) throw new Error('its port is taken by another program')
    } catch (error) {
      server.options.onLost?.(explain(error, server.home))
    }
  }
  watch()

  return {
    url,
    stop: async () => {
      if (stopping) return
      stopping = true
      await release(connection, server.home)
    },
  }
}

async function attach(server: Server): Promise<pg.Client> {
  for (let attempt = 1; ; attempt++) {
    const running = await connectToRunning(server.home)
    const client = running ?? (await launch(server))
    try {
      if (running && (await isAbandoned(running))) {
        server.options.onProgress?.('a database of an earlier start is still running; using it')
      }
      await client.query('select pg_advisory_lock_shared($1)', [LOCK])
      return client
    } catch (error) {
      // The last user of the server left, and it stopped between the connection and the lock.
      if (attempt === 5) throw error
    }
  }
}

/** True when nobody holds the shared lock: the process that started the server was killed before it could stop it. */
async function isAbandoned(client: pg.Client): Promise<boolean> {
  const held = await client.query(
    `select from pg_locks where locktype = 'advisory' and objid = $1 and database = (select oid from pg_database where datname = current_database())`,
    [LOCK],
  )
  return held.rowCount === 0
}

async function release(client: pg.Client, home: string): Promise<void> {
  const pid = postmasterOf(home)?.pid
  try {
    await client.query('select pg_advisory_unlock_shared($1)', [LOCK])
    const { rows } = await client.query('select pg_try_advisory_lock($1) as last', [LOCK])
    if (rows[0].last && pid !== undefined) {
      process.kill(pid, 'SIGINT') // PostgreSQL's "fast" shutdown: it ends sessions and writes everything to disk
      // PostgreSQL removes this file last. The process itself may remain as a zombie where nothing reaps orphans.
      for (const deadline = Date.now() + 60_000; postmasterOf(home)?.pid === pid && Date.now() < deadline; )
        await sleep(20)
    }
  } catch {
    // The server is gone already, which was the aim.
  }
  await client.end().catch(() => {})
}

/** Connects to the server that uses this folder, if there is one, started by another process or left behind by a killed one. */
async function connectToRunning(home: string): Promise<pg.Client | undefined> {
  for (const deadline = Date.now() + 60_000; Date.now() < deadline; await sleep(50)) {
    const running = postmasterOf(home)
    if (!running) return undefined
    if (!isServerOf(home, running.pid)) {
      // The file was left by a crash. PostgreSQL would refuse to start because of any program that has this process id now.
      rmSync(join(dataOf(home), 'postmaster.pid'), { force: true })
      return undefined
    }
    if (!running.port) continue
    const url = readUrl(home)
    url.port = running.port
    const client = await connect(url).catch((error) => {
      if (isTransient(error)) return undefined
      throw error
    })
    if (client) return client
  }
  throw new Error('another server holds its files and does not answer')
}

async function launch(server: Server): Promise<pg.Client> {
  const { home, account, programs, options } = server
  options.onProgress?.('starting the database')
  for (let attempt = 1; ; attempt++) {
    const url = readUrl(home)
    if (!url.port || !(await isFree(Number(url.port)))) url.port = String(await findFreePort())
    const settings = {
      listen_addresses: '127.0.0.1',
      port: url.port,
      unix_socket_directories: '',
      timezone: 'UTC',
      log_timezone: 'UTC',
      // PostgreSQL's defaults are for little memory, and for disks with slow random access.
      shared_buffers: '256MB',
      random_page_cost: '1.1',
      ...options.settings,
    }
    const log = openLog(home)
    const run = runAs(account, dataOf(home))
    const parameters = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])
    // Detached, because Ctrl-C reaches every process of the terminal and the server must outlive the last statements of this one.
    const child = spawn(programs.postgres, ['-D', run.dataPath, ...parameters], {
      ...run.options,
      detached: true,
      stdio: ['ignore', log.descriptor, log.descriptor],
    })
    closeSync(log.descriptor)
    child.unref()
    let ended: string | undefined
    child.once('error', (error) => {
      ended = messageOf(error)
    })
    child.once('exit', (code, signal) => {
      ended = `it ended with ${signal ?? `code ${code}`}`
    })

    const client = await untilReady(url, () => ended === undefined)
    if (client) {
      writeUrl(home, url)
      return client
    }
    // The port was taken after it was found free, or processes of a killed server are still ending.
    const reason = failureIn(readFileSync(logOf(home), 'utf8').slice(log.start)) ?? ended
    const passing = /Address already in use|could not create any TCP|shared memory block|lock file/.test(reason ?? '')
    // Somebody stopped it before it was ready.
    const wasStopped = ended === 'it ended with code 0'
    if (!(passing || wasStopped) || attempt === 20) throw new Error(reason)
    await sleep(250)
    const other = await connectToRunning(home)
    if (other) return other
  }
}

/** Waits until the server accepts connections; recovery after a crash can take a while. Undefined when the server ended. */
async function untilReady(url: URL, isRunning: () => boolean): Promise<pg.Client | undefined> {
  while (isRunning()) {
    const client = await connect(url).catch((error) => {
      if (isTransient(error)) return undefined
      throw error
    })
    if (client) return client
    await sleep(25)
  }
  return undefined
}

async function connect(url: URL): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url.href, application_name: 'weir embedded', keepAlive: true })
  // Without a listener a broken connection would end the process. Code that needs to know listens for 'end'.
  client.on('error', () => {})
  await client.connect()
  return client
}

/** True when the connection was refused or cut off, or when the server is starting up or shutting down (57P03, 57P01). */
const isTransient = (error: { code?: string; message?: string }) =>
  ['ECONNREFUSED', 'ECONNRESET', 'EPIPE', '57P03', '57P01'].includes(error.code ?? '') ||
  /terminated unexpectedly/.test(error.message ?? '')

/** The first lines of postmaster.pid: process, data folder, start, port. */
function postmasterOf(home: string): { pid: number; port: string | undefined } | undefined {
  const path = join(dataOf(home), 'postmaster.pid')
  if (!existsSync(path)) return undefined
  const lines = readFileSync(path, 'utf8').split('\n')
  return { pid: Number(lines[0]), port: lines[3] || undefined }
}

/**
 * True when the process is alive, not a zombie, and works in this folder. After a restart or a copy the process id may belong
 * to another program.
 */
function isServerOf(home: string, pid: number): boolean {
  if (!(pid > 0) || !isAlive(pid)) return false
  try {
    if (process.platform !== 'linux') {
      return execFileSync('ps', ['-o', 'command=', '-p', String(pid)], { encoding: 'utf8' }).includes(dataOf(home))
    }
    const isZombie = /\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))
    return !isZombie && readlinkSync(`/proc/${pid}/cwd`) === realpathSync(dataOf(home))
  } catch {
    return false // it ended meanwhile, or belongs to another user, while Weir's server runs as the owner of the data
  }
}

function openLog(home: string): { descriptor: number; start: number } {
  const size = statSync(logOf(home), { throwIfNoEntry: false })?.size ?? 0
  const keep = size < 5_000_000
  return { descriptor: openSync(logOf(home), keep ? 'a' : 'w', 0o600), start: keep ? size : 0 }
}

const isFree = (port: number): Promise<boolean> =>
  new Promise((done) => {
    const probe = createServer()
    probe.once('error', () => done(false))
    probe.listen(port, '127.0.0.1', () => probe.close(() => done(true)))
  })

/** Searches below the ports that systems use for outgoing connections, so that the port is probably free at the next start too. */
async function findFreePort(): Promise<number> {
  for (let attempt = 0; attempt < 100; attempt++) {
    const port = 20_000 + Math.floor(Math.random() * 10_000)
    if (await isFree(port)) return port
  }
  throw new Error('no free port between 20000 and 30000')
}
