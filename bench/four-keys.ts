/**
 * All calculations of the four keys for a generated organisation, compared with the floor of the same run: a plain scan
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
type Part = 'generate' | 'calculate' | 'floor' | 'read'

/** Runs in a separate process, so that the memory is that of the work alone. */
function measure(part: Part, projects: number, ...urls: readonly string[]): Measured[] {
  const worker = join(import.meta.dirname, 'support/four-keys-worker.ts')
  const output = execFileSync(process.execPath, [worker, part, String(projects), ...urls], {
    stdio: ['ignore', 'pipe', 'inherit'],
    encoding: 'utf8',
  })
  return JSON.parse(output.trim().split('\n').at(-1) as string)
}

async function prepare(server: TestServer, projects: number): Promise<string> {
  const url = await server.createDatabase()
  const database = await openDatabase(url)
  await migrate(database, allTables)
  await database.close()
  measure('generate', projects, url)
  return url
}

const fastest = (runs: readonly Measured[]) => Math.min(...runs.map(({ seconds }) => seconds))

export async function run(rest: string[]): Promise<void> {
  const { values } = parseArgs({
    args: rest,
    options: { projects: { type: 'string', default: '50' }, engine: { type: 'string', default: 'postgres' } },
  })
  const projects = Number(values.projects)
  const server = await (values.engine === 'postgres' ? startTestPostgres : startTestMariadb)()
  try {
    const half = await prepare(server, projects / 2)
    const whole = await prepare(server, projects)
    // In turns, so that other work on the machine falls on both.
    const halfRuns: Measured[] = []
    const wholeRuns: Measured[] = []
    for (let turn = 0; turn < 2; turn++) {
      halfRuns.push(...measure('calculate', projects / 2, half))
      wholeRuns.push(...measure('calculate', projects, whole))
    }
    const [halfRead, wholeRead] = measure('read', projects, half, whole) as [Measured, Measured]
    const [floor] = measure('floor', projects, whole) as [Measured]
    const seconds = fastest(wholeRuns)
    const megabytes = Math.max(...wholeRuns.map((each) => each.megabytes))
    const milliseconds = (measured: Measured) => `${(measured.seconds * 1000).toFixed(1)} ms`
    console.log(`calculations: ${seconds.toFixed(1)} s, floor: ${floor.seconds.toFixed(1)} s (${values.engine})`)
    console.log(
      `one project's keys for a year: ${milliseconds(halfRead)} of ${projects / 2} projects, ${milliseconds(wholeRead)} of ${projects}`,
    )
    console.log(
      `four-keys: ${seconds.toFixed(1)} s (ratio ${(seconds / floor.seconds).toFixed(2)} to the floor, ${megabytes.toFixed(0)} MB, ` +
        `doubling takes ${(seconds / fastest(halfRuns)).toFixed(2)} times as long, ` +
        `reading grows by ${((wholeRead.seconds / halfRead.seconds - 1) * 100).toFixed(0)} %)`,
    )
  } finally {
    await server.stop()
  }
}
