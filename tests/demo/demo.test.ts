/** The demo's organisation, collected as usual, and the numbers on every dashboard. FULL_SIZE=true uses all of its data. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { type Ask, fillDemo } from '../../demo/fill.ts'
import { SMALL, TEAMS, WHOLE } from '../../demo/organisation.ts'
import { tellStory } from '../../demo/story.ts'
import { startVendors, type Vendors } from '../../demo/vendors.ts'
import { nearlyEqual } from '../../src/basics/nearly-equal.ts'
import { ALL, type Dashboard, type Panel, panelsOf } from '../../src/dashboards/dashboard.ts'
import { statementText } from '../../src/dashboards/grafana/text.ts'
import { dashboards } from '../../src/dashboards/index.ts'
import { readOptions, readPanel } from '../../src/dashboards/read.ts'
import { REFERENCE } from '../../src/metrics/policy/policy.ts'
import type { Runner } from '../../src/runner/runner.ts'
import { startTestApi, type TestApi } from '../api/support/test-api.ts'
import { asGrafana } from '../dashboards/as-grafana.ts'
import { inProcess, testRunner, untilFinished } from '../pipelines/support/test-control.ts'
import { describeEachWithTables } from '../support/databases.ts'

const SIZE = process.env.FULL_SIZE === 'true' ? WHOLE : SMALL
/** Grafana uses whole seconds in its queries. */
const UNTIL = Math.floor(Date.now() / 1000) * 1000
const WEEK = 7 * 86_400_000
const stories = tellStory(UNTIL, SIZE)
const PROJECTS = stories.map(({ service }) => service.title)
const RANGE = { from: new Date(UNTIL - (SIZE.weeks + 1) * WEEK), to: new Date(UNTIL + WEEK) }
const TEAM_OF = new Map(stories.map(({ service }) => [service.title, service.team.toLowerCase()]))

const folder = mkdtempSync(join(tmpdir(), 'weir-demo-'))
let made: Promise<Vendors> | undefined
/** Both engines share the vendors, so that addresses are the same too. */
const vendorsOfBoth = () => (made ??= startVendors(stories, folder))
afterAll(async () => {
  await (await made)?.stop()
  rmSync(folder, { recursive: true, force: true })
})

const plain = (value: unknown) =>
  value instanceof Date ? value.toISOString() : typeof value === 'bigint' ? Number(value) : value
/** The start of the range in the address of a failed request. */
const SINCE = /%27\d{4}%2F\S*?%27/
const withoutSince = (value: unknown) => (typeof value === 'string' ? value.replace(SINCE, '') : plain(value))
/** The sources that the demo collects from. Dashboards of other sources have nothing to show. */
const SOURCES = ['github', 'jira', 'circleci', 'webhooks']
const ofDemo = dashboards.filter(({ group, name }) => group !== 'Sources' || SOURCES.includes(name))
const NUMBERS = ['count', 'share', 'minutes', 'seconds', 'lines', 'comments', 'days per week', 'bytes']

const choiceOf = (dashboard: Dashboard, project: string) => {
  const single: Record<string, string | undefined> = { project, team: TEAM_OF.get(project) }
  return Object.fromEntries(
    dashboard.variables.map(({ name, options, isList }) => [
      name,
      isList ? [ALL] : (options?.[0] ?? single[name] ?? ''),
    ]),
  )
}
/** A dashboard without a project is the same for all projects. */
const projectsOf = ({ variables }: Dashboard) =>
  variables.some(({ name }) => name === 'project') ? PROJECTS : PROJECTS.slice(0, 1)

/** Whether a column depends on the day of the run or the speed of the machine. The other columns depend on the story alone. */
const isOfTheRun = (dashboard: Dashboard, panel: Panel, column: string): boolean =>
  dashboard.name === 'storage' ||
  (dashboard.name === 'collection-health' &&
    ['moment', 'seconds', 'day'].includes(panel.columns[column]?.kind ?? '')) ||
  ['written', 'requests_left'].includes(column) ||
  (panel.name === 'messages' && column === 'latest')

const seen = new Map<string, readonly [engine: string, rows: unknown[][]]>()

describeEachWithTables('the demo', (test) => {
  let api: TestApi
  let runner: Runner
  const lines: string[] = []
  const statuses: string[] = []

  beforeAll(async () => {
    const vendors = await vendorsOfBoth()
    api = await startTestApi(test.database)
    runner = await testRunner(api.control, inProcess(api.control), { maxParallel: 1 })
    const ask: Ask = async (method, path, body, type) => {
      const headers = type ? { headers: { 'content-type': type } } : {}
      const answer = await api.ask(method, path, body, headers)
      if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${answer.text}`)
      return answer.body
    }
    const finished = async (run: number) => {
      const { status, message } = await untilFinished(api.control, run)
      statuses.push(status === 'TASK_COMPLETED' ? status : `${status}: ${message}`)
      return status
    }
    await fillDemo({ stories, vendors, ask, say: (line) => lines.push(line), finished })
  }, 900_000)
  afterAll(async () => {
    await runner?.stop()
    await api?.close()
  })

  const rowsOf = async (dashboard: Dashboard, panel: Panel, project: string) => {
    const values = new Map(Object.entries(choiceOf(dashboard, project)).map(([name, value]) => [name, [value].flat()]))
    const { rows } = await readPanel(test.database, dashboard, panel, { ...RANGE, values, policy: REFERENCE })
    return rows
  }

  it('is collected through, but for the run that fails on purpose, and names the first dashboard to look at', () => {
    expect(statuses.slice(0, -1)).toEqual(stories.map(() => 'TASK_COMPLETED'))
    expect(statuses.at(-1)).toMatch(/^TASK_(PARTIAL|FAILED)/)
    expect(lines[0]).toMatch(/\/dashboards\/dora\?var-project=\w+/)
  })

  it('leaves no panel of any dashboard empty', async () => {
    const silent: string[] = []
    for (const dashboard of ofDemo) {
      for (const panel of panelsOf(dashboard)) {
        const kinds = Object.values(panel.columns).map(({ kind }) => kind)
        const isTelling = (rows: readonly (readonly unknown[])[]) =>
          panel.look === 'table'
            ? rows.length > 0
            : rows.some((row) => row.some((each, index) => NUMBERS.includes(kinds[index] ?? '') && Boolean(each)))
        for (const project of projectsOf(dashboard)) {
          const rows = await rowsOf(dashboard, panel, project)
          if (!isTelling(rows)) silent.push(`${dashboard.name}/${panel.name} of ${project}`)
        }
      }
    }
    expect(silent).toEqual([])
  })

  it('offers something to choose in every variable', async () => {
    const empty: string[] = []
    for (const dashboard of ofDemo) {
      for (const variable of dashboard.variables) {
        const values = new Map([['project', PROJECTS.slice(0, 1)]])
        const options = await readOptions(test.database, dashboard, variable, { ...RANGE, values, policy: REFERENCE })
        if (options.length === 0) empty.push(`${dashboard.name}/${variable.name}`)
      }
    }
    expect(empty).toEqual([])
  })

  it.each(dashboards)('shows in Grafana what $name shows in the viewer', async (dashboard) => {
    const { name: engine } = test.database.dialect
    for (const panel of panelsOf(dashboard)) {
      for (const project of projectsOf(dashboard)) {
        const compare = async () => {
          const text = asGrafana(engine, statementText(engine, panel), {
            ...RANGE,
            values: choiceOf(dashboard, project),
          })
          const { rows } = await sql.raw<Record<string, unknown>>(text).execute(test.database.kysely)
          const theirs = rows.map((row) => Object.keys(panel.columns).map((column) => plain(row[column])))
          const ours = (await rowsOf(dashboard, panel, project)).map((row) => row.map(plain))
          expect([panel.name, project, theirs]).toEqual([panel.name, project, ours])
        }
        // Estimates of the server may change between two queries.
        if (dashboard.name === 'storage') await vi.waitFor(compare, { timeout: 30_000 })
        else await compare()
      }
    }
  })

  it('gives the same values on both engines', async () => {
    const differences: unknown[] = []
    for (const dashboard of dashboards) {
      for (const panel of panelsOf(dashboard)) {
        const columns = Object.keys(panel.columns)
        for (const project of projectsOf(dashboard)) {
          const cells = (await rowsOf(dashboard, panel, project)).map((row) =>
            row.map((value, index) =>
              isOfTheRun(dashboard, panel, columns[index] as string) ? null : withoutSince(value),
            ),
          )
          // Some rows are ordered by the duration of runs.
          const rows = dashboard.name === 'collection-health' ? cells.sort() : cells
          const place = `${dashboard.name}/${panel.name}/${project}`
          const [engine, other] = seen.get(place) ?? [test.engine, rows]
          if (engine !== test.engine && !nearlyEqual(rows, other)) {
            const at = rows.findIndex((row, index) => !nearlyEqual(row, other[index]))
            differences.push([place, rows.length, other.length, rows[at], other[at]])
          }
          seen.set(place, [test.engine, rows])
        }
      }
    }
    expect(differences).toEqual([])
  })

  it('has the four keys that the story tells, each deployment once', async () => {
    for (const { service, deployments, releases } of stories) {
      const query = new URLSearchParams({
        project: service.title,
        from: RANGE.from.toISOString(),
        to: RANGE.to.toISOString(),
      })
      const { body } = await api.ask('GET', `/v1/metrics/deployment-frequency/explanation?${query}`)
      const successes = deployments.filter(({ environment, isSuccess }) => environment === 'production' && isSuccess)
      const ofApp = releases.filter(({ isSuccess }) => isSuccess)
      expect([service.title, body.counted]).toEqual([service.title, successes.length + ofApp.length])
    }
  })

  it('knows the people of every team', async () => {
    const { rows } = await sql<{
      team: string
      people: number
    }>`select tu.team_id as team, count(distinct ua.user_id) as people
      from team_users tu inner join user_accounts ua on ua.user_id = tu.user_id group by tu.team_id order by 1`.execute(
      test.database.kysely,
    )
    const teams = new Set(TEAM_OF.values())
    const own = TEAMS.filter(({ name }) => teams.has(name.toLowerCase()))
    const counts = new Map(rows.map(({ team, people }) => [team, Number(people)]))
    for (const { name, people } of own) expect([name, counts.get(name.toLowerCase())]).toEqual([name, people.length])
  })
})
