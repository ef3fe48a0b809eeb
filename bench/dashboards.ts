/**
 * The statements of the DORA overview for one of many projects, compared with the floor of the same run: for each statement, a
 * plain read of the stored rows that it uses. A second database with half as many projects shows that other projects do not
 * slow down a project's dashboard.
 */
import { parseArgs } from 'node:util'
import { type RawBuilder, sql } from 'kysely'
import { panelsOf } from '../src/dashboards/dashboard.ts'
import { dora } from '../src/dashboards/definitions/dora.ts'
import { readPanel } from '../src/dashboards/read.ts'
import type { Database } from '../src/database/database.ts'
import { migrate } from '../src/database/migrate.ts'
import { openDatabase } from '../src/database/open.ts'
import { metricNamed } from '../src/metrics/index.ts'
import type { Material } from '../src/metrics/metric.ts'
import { REFERENCE } from '../src/metrics/policy/policy.ts'
import { allTables } from '../src/tables.ts'
import { startTestMariadb, startTestPostgres, type TestServer } from '../tests/support/servers.ts'
import { FROM, nameOf, plantRows, SIZES, TO } from './support/dashboard-rows.ts'

const ROUNDS = 15

type Floor = (project: number) => RawBuilder<unknown>

/** The least that any statement about these rows has to read. */
const FLOORS: Readonly<Partial<Record<Material, Floor>>> = {
  'pull requests': (project) => sql`select count(*), sum(m.pr_cycle_time), max(m.pr_deployed_date), max(pr.merged_date)
    from project_pr_metrics m inner join pull_requests pr on pr.id = m.id where m.project_name = ${nameOf(project)}`,
  deployments: (
    project,
  ) => sql`select count(distinct cicd_deployment_id), max(finished_date), max(result), max(environment)
    from cicd_deployment_commits where cicd_scope_id = ${`bench:scope:${project}`}`,
  incidents: (project) => sql`select count(*), max(i.resolution_date), max(i.created_date)
    from project_incident_deployment_relationships r inner join incidents i on i.id = r.id where r.project_name = ${nameOf(project)}`,
}
/** Panels without a metric: each kind of row is read once, however many metrics use it. */
const OTHERS: Readonly<Record<string, readonly (Floor | undefined)[]>> = {
  grades: [FLOORS.deployments, FLOORS['pull requests'], FLOORS.incidents],
  materials: [
    (project) =>
      sql`select count(*), max(merged_date) from pull_requests where base_repo_id = ${`bench:repo:${project}`}`,
    (project) => sql`select count(*), max(finished_date) from cicd_deployment_commits
      where cicd_scope_id = ${`bench:scope:${project}`}`,
  ],
}

const floorsOf = (name: string, metric?: string) =>
  OTHERS[name] ?? (metric ? metricNamed(metric).madeOf.map((material) => FLOORS[material]) : [])

async function timed(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now()
  await work()
  return performance.now() - start
}
const median = (values: readonly number[]) => values.toSorted((one, other) => one - other)[values.length >> 1] as number

async function prepare(server: TestServer, projects: number): Promise<Database> {
  const database = await openDatabase(await server.createDatabase())
  await migrate(database, allTables)
  await plantRows(database, projects)
  for (const table of [
    'pull_requests',
    'project_pr_metrics',
    'cicd_deployment_commits',
    'incidents',
    'project_mapping',
  ]) {
    await sql.raw(`analyze ${database.dialect.name === 'mysql' ? 'table ' : ''}${table}`).execute(database.kysely)
  }
  return database
}

export async function run(rest: string[]): Promise<void> {
  const { values } = parseArgs({
    args: rest,
    options: { projects: { type: 'string', default: '1000' }, engine: { type: 'string', default: 'postgres' } },
  })
  const projects = Number(values.projects)
  const server = await (values.engine === 'postgres' ? startTestPostgres : startTestMariadb)()
  try {
    const half = await prepare(server, projects / 2)
    const whole = await prepare(server, projects)
    const read = (database: Database, panel: ReturnType<typeof panelsOf>[number], project: number) =>
      readPanel(database, dora, panel, {
        from: FROM,
        to: TO,
        values: new Map([['project', [nameOf(project)]]]),
        policy: REFERENCE,
      })
    const sums = { half: 0, whole: 0, floor: 0 }
    for (const panel of panelsOf(dora)) {
      const times = { half: [] as number[], whole: [] as number[], floor: [] as number[] }
      for (let round = 0; round < ROUNDS; round++) {
        const project = (round * 37) % (projects / 2)
        // In turns, so that other work on the machine falls on all three.
        times.whole.push(await timed(() => read(whole, panel, project)))
        times.half.push(await timed(() => read(half, panel, project)))
        times.floor.push(
          await timed(() =>
            whole.reading(20, async (inside) => {
              for (const floor of floorsOf(panel.name, panel.metric)) await floor?.(project).execute(inside.kysely)
            }),
          ),
        )
      }
      const [own, floor] = [median(times.whole), median(times.floor)]
      console.log(
        `${panel.name}: ${own.toFixed(1)} ms, floor ${floor.toFixed(1)} ms, ratio ${(own / floor).toFixed(2)}`,
      )
      sums.whole += own
      sums.half += median(times.half)
      sums.floor += floor
    }
    const pullRequests = ((projects * SIZES.pullRequests) / 1e6).toFixed(1)
    console.log(
      `dashboards: ${sums.whole.toFixed(0)} ms (ratio ${(sums.whole / sums.floor).toFixed(2)} to the floor, ` +
        `doubling the projects takes ${(sums.whole / sums.half).toFixed(2)} times as long; ${projects} projects, ${pullRequests} million pull requests, ${values.engine})`,
    )
    await Promise.all([half.close(), whole.close()])
  } finally {
    await server.stop()
  }
}
