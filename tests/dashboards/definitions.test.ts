import { expect, it } from 'vitest'
import { panelsOf } from '../../src/dashboards/dashboard.ts'
import { ENGINES, statementText } from '../../src/dashboards/grafana/text.ts'
import { dashboards } from '../../src/dashboards/index.ts'
import { metricNamed } from '../../src/metrics/index.ts'

it('have names of their own', () => {
  expect(new Set(dashboards.map(({ name }) => name)).size).toBe(dashboards.length)
  expect(new Set(dashboards.map(({ title }) => title)).size).toBe(dashboards.length)
})

it('has room beside the bars of a ranking for what is said there', async () => {
  // The web client has its own compiler settings and types.
  const file = new URL('../../web/dashboards/ranking-options.ts', import.meta.url).href
  const { rankingOption } = await import(file)
  const colours = { text: '', quiet: '', line: '', surface: '', accent: '', before: '', bad: '', series: [] }
  const cut: string[] = []
  for (const dashboard of dashboards) {
    for (const { name, columns } of panelsOf(dashboard).filter(({ look }) => look === 'ranking')) {
      const described = Object.entries(columns).map(([column, { title, kind }]) => ({ name: column, title, kind }))
      // Two days and some hours, or a number of three digits.
      const row = described.map(({ kind }) => (kind === 'text' ? 'acme/web' : kind === 'minutes' ? 3000 : 120))
      const { grid, series } = rankingOption({ columns: described, rows: [row] }, colours)
      const label = series[0].label.formatter({ value: row[1], dataIndex: 0 })
      // In letters of 12 pixels, which are usually half as wide as high.
      if (label.length * 6 > grid.right) cut.push(`${dashboard.name}/${name}: ${label}`)
    }
  }
  expect(cut).toEqual([])
})

it.each(dashboards)('$name fits on a page, and says what it counts', (dashboard) => {
  const panels = panelsOf(dashboard)
  expect(panels.length).toBeLessThanOrEqual(13)
  expect(new Set(panels.map(({ name }) => name)).size).toBe(panels.length)
  expect(new Set(panels.map(({ title }) => title)).size).toBe(panels.length)
  expect(dashboard.question.length).toBeGreaterThan(30)
  for (const { name, definition, remedy, columns, metric, width = 12, look } of panels) {
    expect(name).toMatch(/^[a-z][a-z-]*$/)
    expect(definition.length, name).toBeGreaterThan(20)
    expect(definition, name).toMatch(/\.$/)
    expect(remedy, name).toMatch(/\.$/)
    expect(width).toBeLessThanOrEqual(24)
    if (metric) expect(metricNamed(metric).name).toBe(metric)
    for (const column of Object.keys(columns)) expect(column).toMatch(/^[a-z][a-z_]*$/)
    for (const { link } of Object.values(columns)) if (link) expect(columns[link]?.kind).toBe('address')
    if (look === 'lines' || look === 'bars') expect(Object.keys(columns)[0]).toBe('time')
    if (look === 'ranking') expect(Object.values(columns)[0]?.kind).toBe('text')
  }
  for (const { isList, options, remedy, name } of dashboard.variables)
    if (isList || !options) expect(remedy, name).toMatch(/\.$/)
})

/** Panels with a fixed number of rows: one per key, reason or material. */
const isShort = (place: string) => /\/(grades|materials)$|^dora-validation\/(deployment|change|failed)-/.test(place)

it.each(ENGINES)('order their rows, and end where a table would continue for ever (%s)', (engine) => {
  for (const dashboard of dashboards) {
    for (const panel of panelsOf(dashboard)) {
      const text = statementText(engine, panel)
      const place = `${dashboard.name}/${panel.name}`
      if (panel.look === 'number') continue
      if (!isShort(place)) expect(text, place).toMatch(/order by [^)]*$/)
      if (panel.look === 'table' && !isShort(place)) expect(text, place).toMatch(/\slimit 500$/)
    }
  }
})
