import { sql } from 'kysely'
import { beforeAll, expect, it } from 'vitest'
import { ALL, type Dashboard, panelsOf } from '../../src/dashboards/dashboard.ts'
import { type Engine, statementText } from '../../src/dashboards/grafana/text.ts'
import { dashboards } from '../../src/dashboards/index.ts'
import { readOptions, readPanel } from '../../src/dashboards/read.ts'
import { migrate } from '../../src/database/migrate.ts'
import { write } from '../../src/database/write.ts'
import { metricNamed } from '../../src/metrics/index.ts'
import { REFERENCE } from '../../src/metrics/policy.ts'
import { readMetric, readSeries } from '../../src/metrics/read.ts'
import { allTables } from '../../src/tables.ts'
import { calculate } from '../metrics/calculate.ts'
import { DAY, plantOrganisation, START } from '../metrics/organisation.ts'
import { describeEachDatabase } from '../support/databases.ts'
import { asGrafana } from './as-grafana.ts'

const STEPS = 40
const { rows, truths } = plantOrganisation(2, STEPS)
const RANGES = [
  { from: new Date(START - 10 * DAY), to: new Date(START + (STEPS + 10) * DAY) },
  { from: new Date(START + 9.5 * DAY), to: new Date(START + 23.25 * DAY) },
]
const [project = ''] = truths.map((truth) => truth.project)

const choiceOf = (dashboard: Dashboard, range: (typeof RANGES)[number], own: Record<string, string> = {}) => {
  const values: Record<string, string | readonly string[]> = {}
  for (const { name, options, isList } of dashboard.variables) {
    values[name] = own[name] ?? (isList ? [ALL] : (options?.[0] ?? project))
  }
  return { ...range, values }
}
const plain = (value: unknown) =>
  value instanceof Date ? value.toISOString() : typeof value === 'bigint' ? Number(value) : value

describeEachDatabase('dashboards', (test) => {
  beforeAll(async () => {
    await migrate(test.database, allTables)
    await write(test.database, rows)
    for (const truth of truths) await calculate(test.database, truth.project)
  })

  const readAsGrafana = async (text: string) => {
    const { rows } = await sql.raw<Record<string, unknown>>(text).execute(test.database.kysely)
    return rows
  }

  for (const dashboard of dashboards) {
    it.each(panelsOf(dashboard))(`${dashboard.name}: $name gives Grafana what it gives us`, async (panel) => {
      const engine: Engine = test.database.dialect.name
      for (const range of RANGES) {
        for (const interval of ['day', 'week', 'month']) {
          const { values } = choiceOf(dashboard, range, { interval })
          const chosen = new Map(Object.entries(values).map(([name, value]) => [name, [value].flat()]))
          const ours = await readPanel(test.database, dashboard, panel, { ...range, values: chosen, policy: REFERENCE })
          const theirs = await readAsGrafana(asGrafana(engine, statementText(engine, panel), { ...range, values }))
          const names = Object.keys(panel.columns)
          expect(theirs.map((row) => names.map((name) => plain(row[name])))).toEqual(
            ours.rows.map((row) => row.map(plain)),
          )
          for (const row of theirs) expect(names.filter((name) => !(name in row))).toEqual([])
          if (!dashboard.variables.some(({ name }) => name === 'interval')) break
        }
      }
    })
  }

  it('show the numbers that metrics have', async () => {
    for (const dashboard of dashboards) {
      if (dashboard.variables.some(({ name }) => name === 'team')) continue
      for (const panel of panelsOf(dashboard).filter(
        (each) => each.metric && ['number', 'lines', 'bars'].includes(each.look),
      )) {
        const metric = metricNamed(panel.metric as string)
        for (const range of RANGES) {
          const filter = { ...range, project, environment: 'PRODUCTION', policy: REFERENCE }
          const values = new Map([
            ['project', [project]],
            ['interval', ['week']],
          ])
          const { rows } = await readPanel(test.database, dashboard, panel, { ...range, values, policy: REFERENCE })
          if (panel.look === 'number') {
            const { value, counted } = await readMetric(test.database, metric, filter)
            expect([panel.name, rows]).toEqual([
              panel.name,
              [[value === null ? null : expect.closeTo(value, 6), counted]],
            ])
          } else {
            const points = await readSeries(test.database, metric, filter, 'week')
            expect([panel.name, rows]).toEqual([
              panel.name,
              points.map(({ start, value, counted }) => [
                start,
                value === null ? null : expect.closeTo(value, 6),
                counted,
              ]),
            ])
          }
        }
      }
    }
  })

  it('offer values for every variable', async () => {
    for (const dashboard of dashboards) {
      for (const variable of dashboard.variables) {
        const options = await readOptions(test.database, dashboard, variable, {
          ...(RANGES[0] as (typeof RANGES)[number]),
          values: new Map([['project', [project]]]),
          policy: REFERENCE,
        })
        expect(Array.isArray(options)).toBe(true)
      }
    }
  })

  it.each(["o'brien", '50 % off', "'; drop table projects; --", '\\', "\\' or 1 = 1 -- ", '$project', '日本', ''])(
    'take %j for a name and nothing else',
    async (name) => {
      for (const dashboard of dashboards) {
        for (const panel of panelsOf(dashboard)) {
          const values = new Map(
            dashboard.variables.map((variable) => [variable.name, variable.options?.slice(0, 1) ?? [name]]),
          )
          const [range] = RANGES
          await readPanel(test.database, dashboard, panel, { ...range!, values, policy: REFERENCE })
        }
      }
      const { rows } = await sql<{ count: number }>`select count(*) as count from project_mapping`.execute(
        test.database.kysely,
      )
      expect(Number(rows[0]?.count)).toBeGreaterThan(0)
    },
  )

  it('change nothing, and end when they take too long', async () => {
    await expect(
      test.database.reading(5, (inside) => sql`delete from project_mapping`.execute(inside.kysely)),
    ).rejects.toThrow(/read.?only/i)
    const sleep = test.database.dialect.name === 'mysql' ? 'select sleep(5), max(id) from issues' : 'select pg_sleep(5)'
    await expect(test.database.reading(0.5, (inside) => sql.raw(sleep).execute(inside.kysely))).rejects.toThrow()
    await write(test.database, [])
  })
})
