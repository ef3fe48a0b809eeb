import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sql } from 'kysely'
import { beforeAll, describe, expect, it } from 'vitest'
import { writeTemplates } from '../../scripts/write-dashboards.ts'
import { readableTables } from '../../src/cli/readable-tables.ts'
import { ALL, panelsOf } from '../../src/dashboards/dashboard.ts'
import { templateOf } from '../../src/dashboards/grafana/template.ts'
import { OWN_HEALTH_FILE } from '../../src/dashboards/grafana/template-files.ts'
import { ENGINES } from '../../src/dashboards/grafana/text.ts'
import { dashboards } from '../../src/dashboards/index.ts'
import { openDatabase } from '../../src/database/open.ts'
import { describeEachWithTables } from '../support/databases.ts'
import { asGrafana } from './as-grafana.ts'

describe('templates for Grafana', () => {
  it('are written for both engines, one per dashboard, and the one of Weir itself', () => {
    const folder = mkdtempSync(join(tmpdir(), 'weir-templates-'))
    try {
      mkdirSync(join(folder, ENGINES[0]))
      for (const before of ['README.md', `${ENGINES[0]}/renamed-since.json`]) writeFileSync(join(folder, before), '{}')
      expect(writeTemplates(folder)).toBe(ENGINES.length * dashboards.length + 1)
      expect(readdirSync(folder).sort()).toEqual(['README.md', 'prometheus', ...ENGINES].sort())
      for (const engine of ENGINES) {
        expect(readdirSync(join(folder, engine)).sort()).toEqual(dashboards.map(({ name }) => `${name}.json`).sort())
        for (const dashboard of dashboards) {
          const written = JSON.parse(readFileSync(join(folder, engine, `${dashboard.name}.json`), 'utf8'))
          expect(written).toEqual(JSON.parse(JSON.stringify(templateOf(dashboard, { engine }))))
        }
      }
      expect(readdirSync(join(folder, 'prometheus'))).toEqual([OWN_HEALTH_FILE])
    } finally {
      rmSync(folder, { recursive: true })
    }
  })

  it.each(ENGINES)('ask whoever imports them for a datasource, and name no host, user or schema (%s)', (engine) => {
    for (const dashboard of dashboards) {
      const template = templateOf(dashboard, { engine }) as any
      expect(template.__inputs).toHaveLength(1)
      const text = JSON.stringify(template)
      expect(text).not.toMatch(/localhost|127\.0\.0\.1|https?:\/\/(?!\$)|public\.|\blake\./)
      expect(text.match(/"uid":"[^"]*"/g)?.every((uid) => /weir-|\$\{DS_WEIR\}/.test(uid))).toBe(true)
      for (const panel of template.panels) {
        if (panel.type === 'row') continue
        expect(panel.description.length, panel.title).toBeGreaterThan(20)
        expect(panel.gridPos.x + panel.gridPos.w).toBeLessThanOrEqual(24)
      }
      expect(new Set(template.panels.map((panel: any) => panel.id)).size).toBe(template.panels.length)
    }
  })

  it('have a fixed datasource when they are to be provisioned', () => {
    for (const dashboard of dashboards) {
      const text = JSON.stringify(templateOf(dashboard, { engine: 'mysql', datasource: 'own' }))
      expect(text).not.toContain('DS_WEIR')
      expect(text).toContain('"uid":"own"')
    }
  })
})

describeEachWithTables('a reader of templates', (test) => {
  const user = `reader_${process.pid}`
  const password = "it's \\ secret"
  beforeAll(async () => {
    for (const statement of test.database.dialect.grantReader({ user, password, tables: readableTables })) {
      await sql.raw(statement).execute(test.database.kysely)
    }
  })

  it('needs no other rights, also where nothing is collected yet', async () => {
    const url = new URL(test.url)
    url.username = user
    url.password = encodeURIComponent(password)
    const reader = await openDatabase(url.href)
    const engine = test.database.dialect.name
    const range = { from: new Date('2026-01-01'), to: new Date('2026-07-01') }
    try {
      for (const dashboard of dashboards) {
        const values = Object.fromEntries(
          dashboard.variables.map(({ name, isList, options }) => [name, isList ? [ALL] : (options?.[0] ?? '')]),
        )
        const template = templateOf(dashboard, { engine }) as any
        const statements = [
          ...template.panels.flatMap((panel: any) => (panel.targets ?? []).map((target: any) => target.rawSql)),
          ...template.templating.list.flatMap((variable: any) => (variable.type === 'query' ? [variable.query] : [])),
        ]
        expect(statements.length).toBeGreaterThanOrEqual(panelsOf(dashboard).length)
        for (const statement of statements) {
          await sql.raw(asGrafana(engine, statement, { ...range, values })).execute(reader.kysely)
        }
      }
      await expect(sql`select * from _devlake_api_keys`.execute(reader.kysely)).rejects.toThrow(/denied/)
      await expect(sql`select * from _tool_github_connections`.execute(reader.kysely)).rejects.toThrow(/denied/)
      await expect(sql`select * from _weir_plans`.execute(reader.kysely)).rejects.toThrow(/denied|exist/)
      await expect(sql`delete from projects`.execute(reader.kysely)).rejects.toThrow()
    } finally {
      await reader.close()
      const farewell = engine === 'mysql' ? [`drop user '${user}'@'%'`] : [`drop owned by ${user}`, `drop role ${user}`]
      for (const statement of farewell) await sql.raw(statement).execute(test.database.kysely)
    }
  })
})
