import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { type Embedded, startEmbedded } from './embedded.ts'

let folder: string
const running: Embedded[] = []

const start = async (at = folder) => {
  const embedded = await startEmbedded(at, { settings: { fsync: 'off' } })
  running.push(embedded)
  return embedded
}

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'weir-embedded-'))
})

afterEach(async () => {
  await Promise.all(running.splice(0).map((embedded) => embedded.stop()))
  rmSync(folder, { recursive: true, force: true })
})

async function query(url: string, statement: string): Promise<any[]> {
  const client = new pg.Client({ connectionString: url })
  client.on('error', () => {})
  await client.connect()
  try {
    return (await client.query(statement)).rows
  } finally {
    await client.end()
  }
}

const home = (at = folder) => join(at, 'postgres')
const pidFile = (at = folder) => join(home(at), 'data/postmaster.pid')
const postmaster = (at = folder) => Number(readFileSync(pidFile(at), 'utf8').split('\n')[0])

/** Another process that holds the database until it is killed. */
async function startElsewhere(): Promise<{ kill: (signal: NodeJS.Signals) => Promise<void> }> {
  const script = `
    import { startEmbedded } from ${JSON.stringify(join(import.meta.dirname, 'embedded.ts'))}
    const embedded = await startEmbedded(${JSON.stringify(folder)}, { settings: { fsync: 'off' } })
    process.on('SIGTERM', async () => { await embedded.stop(); process.exit() })
    console.log('up')
    setInterval(() => {}, 1000)`
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: ['ignore', 'pipe', 'inherit'] })
  await once(child.stdout, 'data')
  return {
    kill: async (signal) => {
      child.kill(signal)
      await once(child, 'exit')
    },
  }
}

it('is a UTF-8 database in UTC that listens on loopback only', async () => {
  const { url } = await start()
  expect(new URL(url)).toMatchObject({ hostname: '127.0.0.1', pathname: '/lake' })
  const [row] = await query(
    url,
    `select current_setting('server_encoding') as encoding, current_setting('timezone') as zone,
       current_setting('listen_addresses') as addresses, current_setting('unix_socket_directories') as sockets,
       array(select v from unnest(array['b', 'a', 'B', 'ä']) v order by v)::text as sorted, upper('ä') as upper`,
  )
  expect(row).toEqual({
    encoding: 'UTF8',
    zone: 'UTC',
    addresses: '127.0.0.1',
    sockets: '',
    sorted: '{B,a,b,ä}',
    upper: 'Ä',
  })
})

it('keeps data, password and port over a restart, and files to itself', async () => {
  const first = await start()
  await query(first.url, 'create table kept as select 7 as seven')
  await first.stop()
  expect(existsSync(pidFile())).toBe(false)
  const second = await start()
  expect(second.url).toBe(first.url)
  expect(await query(second.url, 'select seven from kept')).toEqual([{ seven: 7 }])
  expect(statSync(join(home(), 'url')).mode & 0o777).toBe(0o600)
  expect(statSync(join(home(), 'data')).mode & 0o777).toBe(0o700)
  expect(readdirSync(home()).sort()).toEqual(['data', 'server.log', 'url'])
  await expect(query(first.url.replace(/:[^:@]+@/, ':wrong@'), 'select 1')).rejects.toThrow(/password/)
})

it('takes another port when its own is in use', async () => {
  const first = await start()
  await first.stop()
  const squatter = createServer()
  squatter.listen(Number(new URL(first.url).port), '127.0.0.1')
  await once(squatter, 'listening')
  const second = await start()
  squatter.close()
  expect(new URL(second.url).port).not.toBe(new URL(first.url).port)
  expect(await query(second.url, 'select 1 as one')).toEqual([{ one: 1 }])
})

it('is shared by the processes of one folder; the last one stops it', async () => {
  const elsewhere = await startElsewhere()
  const pid = postmaster()
  const here = await start()
  expect(postmaster()).toBe(pid)
  await elsewhere.kill('SIGTERM')
  expect(await query(here.url, 'select 1 as one')).toEqual([{ one: 1 }])
  await here.stop()
  expect(existsSync(pidFile())).toBe(false)
})

it('two first starts at once make one database', async () => {
  const both = await Promise.all([startElsewhere(), startElsewhere()])
  expect(readdirSync(folder)).toEqual(['postgres'])
  await Promise.all(both.map((one) => one.kill('SIGTERM')))
  expect(existsSync(pidFile())).toBe(false)
})

it('finds the server that a killed process left behind, and says so', async () => {
  const elsewhere = await startElsewhere()
  const pid = postmaster()
  const lines: string[] = []
  const onProgress = (line: string) => void lines.push(line)
  const beside = await startEmbedded(folder, { onProgress })
  expect(lines).toEqual([])
  await beside.stop()
  await elsewhere.kill('SIGKILL')
  const here = await startEmbedded(folder, { onProgress })
  expect(lines).toEqual(['a database of an earlier start is still running; using it'])
  expect(postmaster()).toBe(pid)
  await here.stop()
  expect(existsSync(pidFile())).toBe(false)
})

it('starts the server again when it is killed under us, with nothing lost', async () => {
  const { url } = await start()
  await query(url, 'create table kept as select generate_series(1, 1000) as n')
  const pid = postmaster()
  process.kill(pid, 'SIGKILL')
  for (;;) {
    const rows = await query(url, 'select count(*)::int as count from kept').catch(() => undefined)
    if (!rows) continue
    expect(rows).toEqual([{ count: 1000 }])
    break
  }
  expect(postmaster()).not.toBe(pid)
})

it('starts after both were killed', async () => {
  const elsewhere = await startElsewhere()
  const pid = postmaster()
  await elsewhere.kill('SIGKILL')
  process.kill(pid, 'SIGKILL')
  const { url } = await start()
  expect(await query(url, 'select 1 as one')).toEqual([{ one: 1 }])
})

it('is not misled by a pid file whose number belongs to another program now', async () => {
  const first = await start()
  const copy = readFileSync(pidFile(), 'utf8')
  await first.stop()
  writeFileSync(pidFile(), copy.replace(/^\d+/, String(process.pid)))
  const second = await start()
  expect(await query(second.url, 'select 1 as one')).toEqual([{ one: 1 }])
})

it('does not take the server of the folder that it was copied from for its own', async () => {
  const original = await start()
  await query(original.url, 'checkpoint')
  const copied = join(folder, 'copied')
  mkdirSync(copied)
  spawnSync('cp', ['-a', home(), copied])
  const copy = await start(copied)
  expect(new URL(copy.url).port).not.toBe(new URL(original.url).port)
  await query(copy.url, 'create table only_here (id integer)')
  await expect(query(original.url, 'select * from only_here')).rejects.toThrow(/does not exist/)
})

it('refuses data of another major version, and leaves it alone', async () => {
  await (await start()).stop()
  writeFileSync(join(home(), 'data/PG_VERSION'), '17\n')
  await expect(start()).rejects.toThrow(/written by PostgreSQL 17, this is PostgreSQL 18: .+ DATA_FOLDER/)
  expect(readFileSync(join(home(), 'data/PG_VERSION'), 'utf8')).toBe('17\n')
})

it('names a folder that is none', async () => {
  const file = join(folder, 'file')
  writeFileSync(file, '')
  await expect(start(file)).rejects.toThrow(`cannot write to ${file}: make it a folder`)
})

it('names a folder that it may not write to', async () => {
  // Not even root may create folders in /sys.
  await expect(start('/sys/weir')).rejects.toThrow(/cannot write to \/sys\/weir: .+ DATA_FOLDER/)
})

it('says that the server does not start, and why', async () => {
  await (await start()).stop()
  rmSync(join(home(), 'data/global/pg_control'))
  const error = await start().catch((thrown) => thrown)
  expect(error.name).toBe('UserError')
  expect(error.message).toMatch(/does not start: could not find the database system\. See .+server\.log/)
})

it('removes what a killed first start left half made', async () => {
  mkdirSync(join(folder, 'postgres.new-4194399/data'), { recursive: true })
  await start()
  expect(readdirSync(folder)).toEqual(['postgres'])
})
