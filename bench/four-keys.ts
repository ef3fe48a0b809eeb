/**
 * All calculations of the four keys for a generated organisation, held against the floor of the same run: a plain scan
 * of the input tables plus the plain bulk load of the output rows. Doubling the number of projects shows how the
 * calculations grow, and that reading one project's keys does not.
 */
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { migrate } from '../src/database/migrate.ts'
import { openDatabase } from '../src/database/open.ts'
import { allTables } from '../src/tables.ts'
import { startTestMariadb, startTestPostgres, type TestServer } from '../tests/support/servers.ts'

interface Measured {
  readonly seconds: number
  readonly megabytes: number
}
/** In a process of its own, so that memory is that of the work alone. */
function measure(part: 'generate' | 'calculate' | 'floor' | 'read', url: string, projects: number): Measured {
  const worker = join(import.meta.dirname, 'support/four-keys-worker.ts')
  const output = execFileSync(process.execPath, [worker, part, url, String(projects)], {
    stdio: ['ignore', 'pipe', 'inherit'],
    encoding: 'utf8',
  })
  return JSON.parse(output.trim().split('\n').at(-1) as string)
}

async function calculateAll(server: TestServer, projects: number) {
  const url = await server.createDatabase()
  const database = await openDatabase(url)
  await migrate(database, allTables)
  await database.close()
  measure('generate', url, projects)
  const calculated = measure('calculate', url, projects)
  const read = measure('read', url, projects)
  const floor = measure('floor', url, projects)
  await server.dropDatabase(url)
  return { calculated, read, floor }
}

export async function run(rest: string[]): Promise<void> {
  const { values } = parseArgs({
    args: rest,
    options: { projects: { type: 'string', default: '50' }, engine: { type: 'string', default: 'postgres' } },
  })
  const projects = Number(values.projects)
  const server = await (values.engine === 'postgres' ? startTestPostgres : startTestMariadb)()
  try {
    const half = await calculateAll(server, projects / 2)
    const whole = await calculateAll(server, projects)
    const { calculated, floor, read } = whole
    const ratio = calculated.seconds / floor.seconds
    const growth = calculated.seconds / half.calculated.seconds
    const readGrowth = read.seconds / half.read.seconds - 1
    console.log(
      `calculations: ${calculated.seconds.toFixed(1)} s, floor: ${floor.seconds.toFixed(1)} s (${values.engine})`,
    )
    console.log(
      `reading one project's keys for a year: ${(half.read.seconds * 1000).toFixed(1)} ms of ${projects / 2} projects, ${(read.seconds * 1000).toFixed(1)} ms of ${projects}`,
    )
    console.log(
      `four-keys: ${calculated.seconds.toFixed(1)} s (ratio ${ratio.toFixed(2)} to the floor, ${calculated.megabytes.toFixed(0)} MB, ` +
        `doubling takes ${growth.toFixed(2)} times as long, reading grows by ${(readGrowth * 100).toFixed(0)} %)`,
    )
  } finally {
    await server.stop()
  }
}
