/**
 * The answer of a project with 10,000 changes a period, compared with its four metrics alone; and that of all projects: the same
 * items in 1,000 projects and in 50, and 20 times as many projects and items.
 */
import { parseArgs } from 'node:util'
import { sql } from 'kysely'
import { readAnswer } from '../src/control-plane/answer/read-answer.ts'
import { readKeys } from '../src/control-plane/answer/read-keys.ts'
import { measure } from '../src/control-plane/projects/measure.ts'
import type { Database } from '../src/database/database.ts'
import { migrate } from '../src/database/migrate.ts'
import { openDatabase } from '../src/database/open.ts'
import { write } from '../src/database/write.ts'
import { during, periodBefore } from '../src/metrics/answer/calendar.ts'
import { fourKeys } from '../src/metrics/index.ts'
import { DEFAULT_POLICY } from '../src/metrics/policy/policy.ts'
import { type Asked, wholeOfParts } from '../src/metrics/whole.ts'
import { plugins } from '../src/plugins/index.ts'
import { allTables } from '../src/tables.ts'
import { countStatements } from '../tests/support/count-statements.ts'
import { startTestMariadb, startTestPostgres } from '../tests/support/servers.ts'
import { type ProjectSize, projectName, RANGE, rowsOf } from './support/answer-organisation.ts'

const LARGE: ProjectSize = { changes: 20_000, deployments: 2000, incidents: 300 }
const SMALL: ProjectSize = { changes: 60, deployments: 30, incidents: 6 }
/** As many items in all, in a twentieth of the projects. */
const TWENTYFOLD: ProjectSize = { changes: 1200, deployments: 600, incidents: 120 }
const INSTALLATIONS: readonly (readonly [projects: number, size: ProjectSize])[] = [
  [50, SMALL],
  [50, TWENTYFOLD],
  [1000, SMALL],
]
const MOST_ROWS = 5000

async function fill(database: Database, projects: number, size: ProjectSize): Promise<void> {
  let rows: Parameters<typeof write>[1][number][] = []
  for (let project = 0; project < projects; project++) {
    for (const row of rowsOf(project, size)) rows.push(row)
    if (rows.length < MOST_ROWS && project < projects - 1) continue
    await write(database, rows)
    rows = []
  }
  for (const { name } of allTables.filter((table) => /^(cicd_|project_|pull_requests$|incidents$)/.test(table.name))) {
    const table = database.dialect.name === 'mysql' ? 'table ' : ''
    await sql.raw(`analyze ${table}${database.dialect.quote(name)}`).execute(database.kysely)
  }
}

/** The fastest of a few times, because other work on the machine only ever adds to them. */
async function milliseconds(times: number, body: () => Promise<unknown>): Promise<number> {
  let fastest = Number.POSITIVE_INFINITY
  for (let turn = 0; turn < times; turn++) {
    const started = performance.now()
    await body()
    fastest = Math.min(fastest, performance.now() - started)
  }
  return fastest
}

const shared = { environment: 'PRODUCTION', ...RANGE }
const filterOf = (project: number) => ({ ...shared, project: projectName(project), policy: DEFAULT_POLICY })
const answered = (database: Database, filter: Asked) =>
  readAnswer(
    { database, plugins },
    { whose: { kind: 'all', name: null }, filter, itemsAt: (metric) => metric, today: new Date() },
  )

export async function run(rest: string[]): Promise<void> {
  const { values } = parseArgs({
    args: rest,
    options: { engine: { type: 'string', default: 'postgres' }, times: { type: 'string', default: '5' } },
  })
  const times = Number(values.times)
  const server = await (values.engine === 'postgres' ? startTestPostgres : startTestMariadb)()
  const open = async (projects: number, size: ProjectSize) => {
    const database = await openDatabase(await server.createDatabase())
    await migrate(database, allTables)
    await fill(database, projects, size)
    return database
  }
  try {
    const large = await open(1, LARGE)
    const filter = filterOf(0)
    const both = [filter, during(filter, periodBefore(filter))]
    const metrics = await milliseconds(times, async () => {
      for (const metric of fourKeys) await measure({ database: large, plugins }, metric, both)
    })
    const whole = await milliseconds(times, () => answered(large, filter))
    await large.close()
    const all: number[] = []
    let statements = 0
    for (const [projects, size] of INSTALLATIONS) {
      const database = await open(projects, size)
      const parts = Array.from({ length: projects }, (_, project) => filterOf(project))
      const asked = wholeOfParts(shared, parts)
      all.push(await milliseconds(times, () => answered(database, asked)))
      const counts = await countStatements(() => readKeys({ database, plugins }, asked, periodBefore(asked)))
      statements = Object.values(counts).reduce((sum, count) => sum + count, 0)
      await database.close()
    }
    const [small = 0, few = 0, many = 0] = all
    console.log(
      `60,000 changes in 50 projects: ${few.toFixed(0)} ms, in 1,000: ${many.toFixed(0)} ms (${values.engine})`,
    )
    console.log(`20 times as many projects and changes take ${(many / small).toFixed(2)} times as long`)
    console.log(`the five keys of all: ${statements} statements`)
    console.log(
      `answer: ${whole.toFixed(0)} ms (ratio ${(whole / metrics).toFixed(2)} to the four metrics alone, ` +
        `the same changes in 1,000 projects take ${(many / few).toFixed(2)} times as long as in 50)`,
    )
  } finally {
    await server.stop()
  }
}
