import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestProject } from 'vitest/node'
import { type Engine, missing, quickFolder, start, type TestServer } from './servers.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** Administrators' addresses of the servers of this run. An engine that this machine lacks has no address. */
    databaseServers: Partial<Record<Engine, string>>
    /** Engines that tests run on: both, unless DATABASES names one. */
    engines: readonly Engine[]
  }
}

/** Starts one private server per engine for the whole run, and makes one folder for all files that tests leave behind. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const engines = chosenEngines()
  const started = await Promise.all(engines.map(startServer))
  const servers = started.filter((server) => server !== undefined)
  project.provide('engines', engines)
  project.provide('databaseServers', Object.fromEntries(servers.map(({ engine, url }) => [engine, url])))
  const folder = mkdtempSync(join(tmpdir(), 'weir-test-'))
  // As open as the system's temporary folder, because database servers run under their own accounts.
  chmodSync(folder, 0o1777)
  process.env.TMPDIR = folder
  // Child processes that run the program from its sources load in less than half the time, as with the launcher.
  process.env.NODE_COMPILE_CACHE ??= join(import.meta.dirname, '../../node_modules/.cache/compiled')
  return async () => {
    await Promise.all(servers.map(({ stop }) => stop()))
    rmSync(folder, { recursive: true, force: true })
  }
}

const CHOICES: Readonly<Record<string, readonly Engine[]>> = {
  postgres: ['postgres'],
  mysql: ['mysql'],
  both: ['postgres', 'mysql'],
}

function chosenEngines(): readonly Engine[] {
  const { DATABASES: choice = 'both' } = process.env
  const engines = CHOICES[choice]
  if (engines) return engines
  throw new Error(`DATABASES is ${choice}: set it to ${Object.keys(CHOICES).join(', ')}.`)
}

/**
 * The databases of tests live for seconds. Each would be visited by the automatic vacuum, which also stands in the way of
 * copying a database, and nobody needs the log of changes but for a restart.
 */
const QUICK = {
  autovacuum: 'off',
  jit: 'off',
  wal_level: 'minimal',
  max_wal_senders: '0',
  max_wal_size: '4GB',
}

async function startServer(engine: Engine): Promise<(TestServer & { engine: Engine }) | undefined> {
  const reason = missing[engine]()
  if (!reason) return { engine, ...(await start[engine](quickFolder(), QUICK)) }
  if (process.env.CI === 'true') throw new Error(`${reason}, and with CI=true no engine may be left out.`)
  console.warn(`${reason}: its tests are skipped.`)
  return undefined
}
