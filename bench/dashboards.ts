/**
 * The statements of the DORA overview for one of many projects, compared with the floor of the same run: for each statement, a
 * plain read of the stored rows that it uses. A second database with half as many projects shows that other projects do not
 * slow down a project's dashboard. Then the dashboard itself in a browser: how long until its data is on the screen, and whether
 * a page that stays open and asks again and again grows. `--minutes 60` gives the last of these its hour.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { type RawBuilder, sql } from 'kysely'
import { ensureWebBuilt } from '../scripts/build-web.mjs'
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
import { startCli } from '../tests/support/cli.ts'
import { startTestMariadb, startTestPostgres } from '../tests/support/servers.ts'
import { openBrowser } from '../tests/web/support/browser.ts'
import { FROM, nameOf, plantRows, SIZES, TO } from './support/dashboard-rows.ts'
import { growthOf, stopwatch } from './support/on-screen.ts'

const ROUNDS = 15
/** Projects whose dashboard is opened in the browser. */
const SCREENS = 5

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

async function prepare(url: string, projects: number): Promise<Database> {
  const database = await openDatabase(url)
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

async function measureScreen(url: string, minutes: number): Promise<string> {
  const dataFolder = mkdtempSync(join(tmpdir(), 'weir-bench-dashboards-'))
  await ensureWebBuilt()
  const cli = startCli(['up'], { DB_URL: url, PORT: '0', DATA_FOLDER: dataFolder, LOGGING_LEVEL: 'warn' })
  const browser = await openBrowser()
  try {
    const [, server = ''] = await cli.saw(/ready at (http:\S+)/)
    const query = (project: number) =>
      new URLSearchParams({ from: FROM.toISOString(), to: TO.toISOString(), 'var-project': nameOf(project) })
    const address = (project: number) => `${server}/dashboards/dora?${query(project)}`
    const context = await browser.newContext({ viewport: { width: 1440, height: 900 } })
    const { timeOf, timeOfEmpty } = await stopwatch(context)
    const times = { own: [] as number[], empty: [] as number[] }
    for (let project = 0; project < SCREENS; project++) {
      times.own.push(await timeOf(address(project)))
      times.empty.push(await timeOfEmpty(`${server}/ping`))
    }
    await context.close()
    const growth = await growthOf(browser, {
      addresses: [address(0)],
      minutes,
      meanwhile: async ([page]) => {
        await page?.getByRole('button', { name: 'Refresh now' }).click()
        await sleep(1000)
      },
    })
    const [own, empty] = [median(times.own), median(times.empty)]
    return (
      `dashboards, on the screen: ${own.toFixed(0)} ms (ratio ${(own / empty).toFixed(2)} to an empty page of the same server, ` +
      `heap ${growth.toFixed(2)} times as large after ${minutes} minutes of asking again)`
    )
  } finally {
    await browser.close()
    cli.kill('SIGTERM')
    await cli.ended
    rmSync(dataFolder, { recursive: true, force: true })
  }
}

export async function run(rest: string[]): Promise<void> {
  const { values } = parseArgs({
    args: rest,
    options: {
      projects: { type: 'string', default: '1000' },
      engine: { type: 'string', default: 'postgres' },
      minutes: { type: 'string', default: '0.5' },
    },
  })
  const projects = Number(values.projects)
  const server = await (values.engine === 'postgres' ? startTestPostgres : startTestMariadb)()
  try {
    const half = await prepare(await server.createDatabase(), projects / 2)
    const url = await server.createDatabase()
    const whole = await prepare(url, projects)
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
    await Promise.all([half.close(), whole.close()])
    console.log(await measureScreen(url, Number(values.minutes)))
    const pullRequests = ((projects * SIZES.pullRequests) / 1e6).toFixed(1)
    console.log(
      `dashboards: ${sums.whole.toFixed(0)} ms (ratio ${(sums.whole / sums.floor).toFixed(2)} to the floor, ` +
        `doubling the projects takes ${(sums.whole / sums.half).toFixed(2)} times as long; ${projects} projects, ${pullRequests} million pull requests, ${values.engine})`,
    )
  } finally {
    await server.stop()
  }
}
