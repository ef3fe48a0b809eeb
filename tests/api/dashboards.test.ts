/** Dashboards over HTTP: time ranges, dashboards of users, public links, and annotations on time charts. */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { templateOf } from '../../src/dashboards/grafana/template.ts'
import { dashboardNamed, dashboards } from '../../src/dashboards/index.ts'
import { write } from '../../src/database/write.ts'
import { sharedDashboards } from '../../src/system/dashboards.ts'
import { trafficJournal, trafficSwitches } from '../../src/system/traffic.ts'
import { calculate } from '../metrics/calculate.ts'
import { DAY, plantOrganisation, START } from '../metrics/organisation.ts'
import { describeEachWithTables } from '../support/databases.ts'
import { startTestApi, type TestApi } from './support/test-api.ts'

const ADMIN = 'the-token-of-an-admin'
const TOKENS = {
  viewer: 'the-token-of-a-viewer',
  operator: 'the-token-of-an-operator',
  one: 'the-token-of-an-operator-in-one',
}
const AUTH_TOKENS = `v:viewer:${TOKENS.viewer},o:operator:${TOKENS.operator},s:operator@project%200:${TOKENS.one}`
const PANEL = { dashboard: 'dora', panel: 'change-lead-time', width: 12 }
const FROM = new Date(START - 10 * DAY).toISOString()
const TO = new Date(START + 50 * DAY).toISOString()
const range = `from=${FROM}&to=${TO}`
const valuesOf = (values: object) => `values=${encodeURIComponent(JSON.stringify(values))}`
const shop = valuesOf({ project: 'project 0' })

describeEachWithTables('dashboards over HTTP', (test) => {
  let api: TestApi
  const as = (token: string | null, method: string, url: string, body?: unknown, headers = {}) =>
    api.ask(method, url, body, { headers: { ...(token && { authorization: `Bearer ${token}` }), ...headers } })
  const ask = (method: string, url: string, body?: unknown, headers = {}) => as(ADMIN, method, url, body, headers)

  beforeAll(async () => {
    api = await startTestApi(test.database, { AUTH: 'token', AUTH_TOKEN: ADMIN, AUTH_TOKENS })
    const { rows, truths } = plantOrganisation(2, 20)
    await write(test.database, rows)
    for (const { project } of truths) {
      await calculate(test.database, project)
      await ask('POST', '/projects', { name: project })
    }
  })
  afterAll(() => api.close())

  it('give templates for Grafana: one, one of your own, and all, for the database in use', async () => {
    const type = test.engine === 'postgres' ? 'grafana-postgresql-datasource' : 'mysql'
    const one = await as(TOKENS.viewer, 'GET', '/v1/dashboards/dora/template')
    expect(one.body).toEqual(JSON.parse(JSON.stringify(templateOf(dashboardNamed('dora'), { engine: test.engine }))))
    expect(one.body.__requires).toContainEqual(expect.objectContaining({ type: 'datasource', id: type }))
    const fixed = await as(TOKENS.viewer, 'GET', '/v1/dashboards/dora/template?datasource=own')
    expect(JSON.stringify(fixed.body)).not.toContain('DS_WEIR')
    expect(fixed.body.panels.at(-1).datasource).toEqual({ type, uid: 'own' })
    const own = (await ask('POST', '/v1/own-dashboards', { title: 'For Grafana', panels: [PANEL] })).body
    const ownTemplate = (await ask('GET', `/v1/dashboards/${own.name}/template`)).body
    expect([ownTemplate.title, ownTemplate.panels.length]).toEqual(['For Grafana', 1])

    const headers = { authorization: `Bearer ${TOKENS.viewer}` }
    const { rawPayload } = await api.server.inject({ url: '/v1/dashboard-templates.tar.gz', headers })
    const folder = mkdtempSync(join(tmpdir(), 'weir-templates-'))
    try {
      execFileSync('tar', ['--extract', '--gzip', '--directory', folder], { input: rawPayload })
      expect(readdirSync(folder).sort()).toEqual(dashboards.map(({ name }) => `${name}.json`).sort())
      expect(JSON.parse(readFileSync(join(folder, 'dora.json'), 'utf8'))).toEqual(one.body)
    } finally {
      rmSync(folder, { recursive: true })
    }
    const refused = await ask('GET', '/v1/dashboards/dora/template?datasource=a%20b')
    expect([refused.status, refused.body.message]).toEqual([400, expect.stringContaining('must be the uid')])
    expect((await ask('GET', '/v1/dashboards/nothing/template')).status).toBe(404)
  })

  it('say what a range is now, and what lies before it', async () => {
    const { body } = await ask('GET', '/v1/dashboards/dora?from=now-1Q/Q&to=now-1Q/Q')
    const { from, to, before } = body.range
    expect([from, to, before.from, before.to].map((moment) => moment.slice(8))).toEqual([
      '01T00:00:00.000Z',
      expect.stringMatching(/^3[01]T23:59:59.999Z$/),
      '01T00:00:00.000Z',
      expect.stringMatching(/^3[01]T23:59:59.999Z$/),
    ])
    expect(Date.parse(before.to) + 1).toBe(Date.parse(from))
    expect(body.sections[0].panels[1]).toMatchObject({ origin: { dashboard: 'dora', panel: 'change-lead-time' } })
    for (const [query, words] of [
      ['from=yesterday', 'from is not a valid time: yesterday. Write'],
      ['from=now&to=now-1d', 'runs backwards'],
      [`from=${'n'.repeat(61)}`, 'must be at most 60 characters'],
    ]) {
      const refused = await ask('GET', `/v1/dashboards/dora?${query}`)
      expect([refused.status, refused.body.message]).toEqual([400, expect.stringContaining(words as string)])
    }
  })

  it('read ten years, and one value of what has one', async () => {
    const panel = '/v1/dashboards/dora/panels/deployment-frequency-series'
    const decade = await ask('GET', `${panel}?from=now-10y&${valuesOf({ project: 'project 0', interval: 'day' })}`)
    expect([decade.status, decade.body.rows.length > 3600]).toEqual([200, true])
    const two = await ask('GET', `${panel}?${valuesOf({ project: ['project 0', 'project 1'] })}`)
    expect([two.status, two.body.message]).toEqual([400, 'project has one value: choose one.'])
  })

  it('show a project to those who may see it, by whatever way', async () => {
    const panels = '/v1/dashboards/dora/panels/deployment-frequency'
    expect((await as(TOKENS.one, 'GET', `${panels}?${shop}`)).status).toBe(200)
    for (const project of ['project 1', ['project 0', 'project 1']]) {
      expect((await as(TOKENS.one, 'GET', `${panels}?${valuesOf({ project })}`)).status).toBe(403)
    }
    const marks = (project: string) => as(TOKENS.one, 'GET', `/v1/annotations?project=${encodeURIComponent(project)}`)
    expect([(await marks('project 0')).status, (await marks('project 1')).status]).toEqual([200, 403])
  })

  it('mark deployments, incidents and switches of the project', async () => {
    const at = new Date(START + 5 * DAY)
    const row = { name: 'to green', state: 'shifting', plan: '{}' }
    await write(test.database, [
      trafficSwitches.row({ id: 'a', project: 'project 0', ...row }),
      trafficSwitches.row({ id: 'b', project: 'project 1', ...row }),
      ...['a', 'b'].flatMap((switch_id) =>
        ['draft', 'shifting', 'switched'].map((effect, index) =>
          trafficJournal.row({ switch_id, sequence: index + 1, at: new Date(+at + index), kind: 'state', effect }),
        ),
      ),
    ])
    const asked = `/v1/annotations?project=project%200&${range}`
    const { body } = await ask('GET', asked)
    const [kinds, moments] = [new Map<string, number>(), body.annotations.map((each: any) => Date.parse(each.at))]
    for (const { kind } of body.annotations) kinds.set(kind, (kinds.get(kind) ?? 0) + 1)
    const metric = async (name: string) =>
      (await ask('GET', `/v1/metrics/${name}?project=project%200&${range}`)).body.values[0].counted
    expect(kinds.get('deployment')).toBe(await metric('deployment-frequency'))
    expect(kinds.get('incident')).toBeGreaterThan(0)
    expect(moments).toEqual(moments.toSorted((one: number, other: number) => one - other))
    const { annotations } = (await ask('GET', `${asked}&kinds=switch`)).body
    expect(annotations).toEqual(
      ['shifting', 'switched'].map((state, index) => ({
        kind: 'switch',
        at: new Date(+at + index + 1).toISOString(),
        title: `to green: ${state}`,
        url: '/traffic/a',
      })),
    )
    const unknown = await ask('GET', `${asked}&kinds=party`)
    expect([unknown.status, unknown.body.message]).toEqual([
      400,
      expect.stringContaining('deployment, incident, switch'),
    ])
    expect((await ask('GET', '/v1/annotations?project=projct%200')).body.message).toContain('did you mean project 0')
  })

  it('are arranged from panels of others', async () => {
    const title = 'Monday “50 %” 🛒'
    const made = await as(TOKENS.operator, 'POST', '/v1/own-dashboards', { title, panels: [PANEL] })
    expect([made.status, made.body.maker]).toEqual([201, 'o'])
    const { id, name, updatedAt } = made.body
    const listed = (await ask('GET', '/v1/dashboards')).body.find((each: any) => each.name === name)
    expect(listed).toMatchObject({ title, group: 'Your own' })
    const own = (await ask('GET', `/v1/dashboards/${name}`)).body
    expect(own.variables.map((each: any) => each.name)).toEqual(['project', 'dora_report', 'interval'])
    expect(own.own).toEqual({ id, updatedAt })
    expect(own.sections[0].panels).toMatchObject([{ name: 'dora.change-lead-time', width: 12, origin: PANEL_ORIGIN }])
    const rows = async (path: string) => (await ask('GET', `/v1/dashboards/${path}?${shop}&${range}`)).body.rows
    expect(await rows(`${name}/panels/dora.change-lead-time`)).toEqual(await rows('dora/panels/change-lead-time'))
    const panel = `/v1/dashboards/${name}/panels/dora.change-lead-time`
    expect((await as(TOKENS.one, 'GET', `${panel}?${valuesOf({ project: 'project 1' })}`)).status).toBe(403)

    const wider = [{ ...PANEL, width: 24 }]
    const saved = await ask('PATCH', `/v1/own-dashboards/${id}`, { panels: wider }, { 'if-match': `"${updatedAt}"` })
    expect([saved.status, saved.body.panels]).toEqual([200, wider])
    const late = await ask('PATCH', `/v1/own-dashboards/${id}`, { title: 'x' }, { 'if-match': `"${updatedAt}"` })
    expect([late.status, late.body.data.panels]).toEqual([412, wider])
    expect((await ask('GET', `/v1/own-dashboards/${id}`)).body.title).toBe(title)
    for (const [changes, status, words] of [
      [{ panels: [{ ...PANEL, panel: 'change-led-time' }] }, 404, 'did you mean change-lead-time'],
      [{ panels: [{ ...PANEL, dashboard: 'none' }] }, 404, 'There is no dashboard none'],
      [{ panels: [PANEL, PANEL] }, 400, 'is on it twice'],
      [{ panels: [{ ...PANEL, width: 7 }] }, 400, 'width'],
      [{ title: ' ' }, 400, 'must not be empty'],
      [{ title: 'n'.repeat(101) }, 400, 'at most 100'],
    ] as const) {
      const refused = await ask('PATCH', `/v1/own-dashboards/${id}`, changes)
      expect([refused.status, refused.body.message]).toEqual([status, expect.stringContaining(words)])
    }
    expect((await as(TOKENS.viewer, 'DELETE', `/v1/own-dashboards/${id}`)).status).toBe(403)
    expect((await ask('DELETE', `/v1/own-dashboards/${id}`)).status).toBe(200)
    for (const path of [`/v1/own-dashboards/${id}`, `/v1/dashboards/${name}`]) {
      expect((await ask('GET', path)).body.message).toBe(`There is no dashboard ${name}: it may have been deleted.`)
    }
    const entries = (await ask('GET', '/v1/audit?subject=own%20dashboard')).body
    expect(JSON.stringify(entries)).toContain(title)
  })

  it('are open to whoever has a link, until it is revoked', async () => {
    const link = { dashboard: 'dora', values: { project: 'project 0' }, from: FROM, to: TO }
    const made = await as(TOKENS.operator, 'POST', '/v1/shared-dashboards', link)
    expect(made.status).toBe(201)
    const { id, token } = made.body
    const seen = await as(null, 'GET', `/v1/shared/${token}`)
    expect(seen.body).toMatchObject({ name: 'dora', values: link.values, range: { from: FROM, to: TO } })
    const own = await as(null, 'GET', `/v1/shared/${token}/panels/change-lead-time`)
    const theirs = await ask('GET', `/v1/dashboards/dora/panels/change-lead-time?${shop}&${range}`)
    expect(own.body).toEqual(theirs.body)
    const before = await as(null, 'GET', `/v1/shared/${token}/panels/change-lead-time?period=before`)
    expect(before.body.to).toBe(new Date(Date.parse(FROM) - 1).toISOString())
    // The link gives access only to what was shared.
    const other = await as(
      null,
      'GET',
      `/v1/shared/${token}/panels/change-lead-time?${valuesOf({ project: 'project 1' })}`,
    )
    expect(other).toMatchObject({ status: 400, body: { message: expect.stringContaining('no parameter values') } })
    expect((await as(token, 'GET', '/v1/dashboards')).status).toBe(401)
    expect((await as(null, 'GET', `/v1/shared/${token}/panels/none`)).status).toBe(404)

    const stored = await test.database.kysely.selectFrom(sharedDashboards.name).selectAll().execute()
    expect(JSON.stringify(stored)).not.toContain(token)
    expect(JSON.stringify((await ask('GET', '/v1/shared-dashboards')).body)).not.toContain(token)
    const audit = (await ask('GET', '/v1/audit?subject=public%20link')).text
    expect(audit).toContain('public link')
    expect(audit + api.log()).not.toContain(token)

    expect((await as(TOKENS.viewer, 'DELETE', `/v1/shared-dashboards/${id}`)).status).toBe(403)
    expect((await ask('DELETE', `/v1/shared-dashboards/${id}`)).status).toBe(200)
    expect((await ask('DELETE', `/v1/shared-dashboards/${id}`)).status).toBe(404)
    for (const path of [`/v1/shared/${token}`, `/v1/shared/${token}/panels/change-lead-time`, '/v1/shared/guess']) {
      const gone = await as(null, 'GET', path)
      expect([gone.status, gone.body.message]).toEqual([
        404,
        expect.stringContaining('it was revoked, or it has expired'),
      ])
    }
  })

  it('are shared with what they need, and not for longer than said', async () => {
    const link = { dashboard: 'dora', values: { project: 'project 0' } }
    const share = (changes: object) => ask('POST', '/v1/shared-dashboards', { ...link, ...changes })
    for (const [changes, status, words] of [
      [{ values: {} }, 400, 'project is missing'],
      [{ values: { projct: 'project 0' } }, 400, 'did you mean project'],
      [{ values: { project: 'none' } }, 404, 'There is no project none'],
      [{ dashboard: 'none' }, 404, 'There is no dashboard none'],
      [{ from: 'tomorrow' }, 400, 'from is not a valid time'],
      [{ expiresAt: '2020-01-01T00:00:00Z' }, 400, 'has passed already'],
    ] as const) {
      const refused = await share(changes)
      expect([refused.status, refused.body.message]).toEqual([status, expect.stringContaining(words)])
    }
    const { body } = await share({ expiresAt: new Date(Date.now() + DAY).toISOString() })
    expect(body).toMatchObject({ from: 'now-6M', to: 'now' })
    expect((await as(null, 'GET', `/v1/shared/${body.token}`)).status).toBe(200)
    await test.database.kysely
      .updateTable(sharedDashboards.name)
      .set({ expires_at: new Date(Date.now() - 1000) })
      .where('id', '=', body.id)
      .execute()
    expect((await as(null, 'GET', `/v1/shared/${body.token}`)).status).toBe(404)
    expect((await as(TOKENS.one, 'POST', '/v1/shared-dashboards', link)).status).toBe(403)
  })
})

const PANEL_ORIGIN = { dashboard: 'dora', panel: 'change-lead-time' }
