import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestProject } from 'vitest/node'
import { type Engine, missing, quickFolder, start, type TestServer } from './servers.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** Administrators' addresses of the servers of this run; an engine that is missing here has none. */
    databaseServers: Partial<Record<Engine, string>>
  }
}

/** One private server of each engine, and one folder for all that tests leave behind, for the whole run. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const servers: Partial<Record<Engine, TestServer>> = {}
  for (const engine of ['postgres', 'mysql'] as const) {
    const reason = missing[engine]()
    if (!reason) servers[engine] = await start[engine](quickFolder())
    else if (process.env.CI === 'true') throw new Error(`${reason}, and with CI=true no engine may be left out.`)
    else console.warn(`${reason}: its tests are skipped.`)
  }
  project.provide('databaseServers', {
    ...(servers.postgres && { postgres: servers.postgres.url }),
    ...(servers.mysql && { mysql: servers.mysql.url }),
  })
  const folder = mkdtempSync(join(tmpdir(), 'weir-test-'))
  // As open as the folder that it stands for: servers run under accounts of their own.
  chmodSync(folder, 0o1777)
  process.env.TMPDIR = folder
  // Children that run the program from its sources load in less than half the time, as with the launcher.
  process.env.NODE_COMPILE_CACHE ??= join(import.meta.dirname, '../../node_modules/.cache/compiled')
  return async () => {
    await Promise.all(Object.values(servers).map((server) => server.stop()))
    rmSync(folder, { recursive: true, force: true })
  }
}
