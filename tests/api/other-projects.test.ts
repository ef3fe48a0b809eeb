/**
 * Every route, requested by everyone whose role is limited: nothing of another project is shown, changed or run. Requests are
 * made from the descriptions of the routes, with ids of the other project in them.
 */
import { createHash } from 'node:crypto'
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { LawfulRoute } from '../../src/api/access/route-law.ts'
import { ROLES } from '../../src/config/config.ts'
import { dashboards } from '../../src/dashboards/index.ts'
import { write } from '../../src/database/write.ts'
import { repos } from '../../src/domain/code.ts'
import { projectMapping } from '../../src/domain/crossdomain.ts'
import { cicdDeployments, cicdScopes } from '../../src/domain/devops.ts'
import { quarantine } from '../../src/plugin-kit/raw/quarantine.ts'
import { allTables } from '../../src/tables.ts'
import { describeOneWithTables } from '../support/databases.ts'
import { sampleRequest } from './support/sample-requests.ts'
import { startTestApi, type TestApi } from './support/test-api.ts'

const isFull = process.env.FULL_SIZE === 'true'
const ADMIN = 'the-token-of-an-admin'
const TOKENS = {
  'viewer of the shop': 'the-token-of-a-viewer-in-shop',
  'operator of the shop': 'the-token-of-an-operator-in-shop',
  'admin of the shop': 'the-token-of-an-admin-in-shop',
  viewer: 'the-token-of-a-viewer',
  operator: 'the-token-of-an-operator',
}
type Name = keyof typeof TOKENS
const isOfShop = (name: Name) => name.endsWith('of the shop')
const roleOf = (name: Name) => name.split(' ')[0] as (typeof ROLES)[number]
const rank = (role: string) => ROLES.indexOf(role as (typeof ROLES)[number])
const AUTH_TOKENS = Object.entries(TOKENS)
  .map(([name, token], index) => `t${index}:${roleOf(name as Name)}${isOfShop(name as Name) ? '@shop' : ''}:${token}`)
  .join(',')
/** A text that is in everything of the project `bank`. */
const SECRET = 'goldbar'
const REPO = 'github:GithubRepo:1:7'
const DAY = new Date(Date.now() - 86_400_000)
const OPEN: readonly string[] = ['probe', 'anyone', 'signed']
/** Tables that reading alone writes to. */
const OF_ASKING = ['_weir_audit_entries', '_weir_own_dashboards']

describeOneWithTables('other projects', (test) => {
  let api: TestApi
  let known: Record<string, unknown>
  const ids: Record<string, number> = {}
  const as = (token: string, method: string, url: string, body?: unknown) =>
    api.ask(method, url, body, { headers: { authorization: `Bearer ${token}` } })
  const made = async (url: string, body: unknown, method = 'POST') => {
    const answer = await as(ADMIN, method, url, body)
    expect(answer.status, `${url}: ${answer.text}`).toBeLessThan(300)
    return answer.body
  }

  beforeAll(async () => {
    api = await startTestApi(test.database, { AUTH: 'token', AUTH_TOKEN: ADMIN, AUTH_TOKENS })
    const connection = { name: `${SECRET} connection`, endpoint: 'http://127.0.0.1:1/', token: 'a-token-for-nobody' }
    const { id: connectionId } = await made('/plugins/github/connections', connection)
    const at = `/plugins/github/connections/${connectionId}`
    const { id: scopeConfigId } = await made(`${at}/scope-configs`, { name: `${SECRET} rules` })
    const scope = { githubId: 7, name: `${SECRET}-repo`, fullName: `acme/${SECRET}-repo`, scopeConfigId }
    await made(`${at}/scopes`, { data: [scope] }, 'PUT')
    for (const name of ['shop', 'bank']) {
      const isBank = name === 'bank'
      const connections = isBank ? [{ pluginName: 'github', connectionId, scopes: [{ scopeId: '7' }] }] : []
      const { blueprint } = await made('/projects', { name, description: isBank ? SECRET : 'a shop' })
      const title = isBank ? `${SECRET} blueprint` : 'shop blueprint'
      await made(`/blueprints/${blueprint.id}`, { name: title, connections, isManual: true, enable: true }, 'PATCH')
      ids[`blueprint of ${name}`] = blueprint.id
      ids[`pipeline of ${name}`] = (await made(`/blueprints/${blueprint.id}/trigger`, {})).id
    }
    const { tasks } = (await as(ADMIN, 'GET', `/pipelines/${ids['pipeline of bank']}/tasks`)).body
    ids['task of bank'] = tasks[0].id
    await write(test.database, [
      ...['repos', 'cicd_scopes'].map((table) => projectMapping.row({ project_name: 'bank', table, row_id: REPO })),
      repos.row({ id: REPO, name: `${SECRET}-repo`, url: `https://git.example/${SECRET}` }),
      cicdScopes.row({ id: REPO, name: `${SECRET}-repo` }),
      cicdDeployments.row({
        id: `${SECRET}-deployment`,
        name: SECRET,
        cicd_scope_id: REPO,
        environment: 'PRODUCTION',
        result: 'SUCCESS',
        status: 'DONE',
        created_date: DAY,
        started_date: DAY,
        finished_date: DAY,
      }),
      quarantine.row({
        plugin: 'github',
        subtask: 'x',
        raw_table: '_raw_github_api_issues',
        raw_id: 1,
        record_key: SECRET,
        params: `{"ConnectionId":${connectionId},"Name":"acme/${SECRET}-repo"}`,
        entity: 'x',
        reason: SECRET,
      }),
    ])
    known = {
      project: 'bank',
      projectName: 'bank',
      projects: ['bank'],
      connectionId,
      scopeConfigId,
      scopeId: '7',
      blueprintId: ids['blueprint of bank'],
      pipelineId: ids['pipeline of bank'],
      plugin: 'github',
      pluginName: 'github',
      metric: 'deployment-frequency',
      dashboard: 'dora',
      tableName: 'repos',
      from: '2026-01-01',
      to: new Date().toISOString().slice(0, 10),
    }
  })
  afterAll(() => api.close())

  /** Returns every row of every table. */
  async function contents() {
    const found: Record<string, string> = {}
    for (const { name } of allTables) {
      if (OF_ASKING.includes(name)) continue
      const { rows } = await sql`select * from ${sql.table(name)}`.execute(test.database.kysely)
      const lines = rows.map((row) => JSON.stringify(row)).sort()
      found[name] = `${rows.length} ${createHash('sha256').update(lines.join('\n')).digest('hex')}`
    }
    return found
  }

  const routes = () => {
    const { laws } = api.server as unknown as { laws: readonly LawfulRoute[] }
    // All sources have the same routes, so a few stand for them.
    const isOne = ({ url }: LawfulRoute) => isFull || !/^\/plugins\/(?!github\/|webhook\/|customize\/|org\/)/.test(url)
    return laws.filter((law) => law.method !== 'HEAD' && isOne(law) && !OPEN.includes(law.least))
  }

  it('by any route: refused whoever may not, and shown to nobody', { timeout: 600_000 }, async () => {
    const document = (api.server as any).swagger()
    const before = await contents()
    const troubles: string[] = []
    let asked = 0
    let shown = 0
    for (const law of routes()) {
      const { least, reach } = law
      const id = ids[`${reach} of bank`] ?? 1
      const { method, url, body } = sampleRequest(document, law, { ...known, id })
      const isRead = method === 'GET' && !/\/(events|log)$/.test(law.url)
      if (isRead && (await as(ADMIN, method, url)).text.includes(SECRET)) shown++
      for (const [name, token] of Object.entries(TOKENS) as [Name, string][]) {
        const has = rank(roleOf(name)) >= rank(least)
        const mayPass = has && (!isOfShop(name) || reach === 'somewhere')
        // Roles that hold everywhere are tested elsewhere. Here their requests would change the rows that are compared.
        if (mayPass && !isOfShop(name)) continue
        asked++
        const answer = await as(token, method, url, body)
        const isShown = isOfShop(name) && answer.text.includes(SECRET)
        const isWrong = mayPass ? answer.status >= 500 : answer.status !== 403
        if (isShown || isWrong) {
          troubles.push(
            `${name}: ${method} ${url} ${JSON.stringify(body)}: ${answer.status} ${answer.text.slice(0, 300)}`,
          )
        }
      }
    }
    expect(troubles).toEqual([])
    expect(asked).toBeGreaterThan(500)
    // People with the right role do see something.
    expect(shown).toBeGreaterThan(20)
    expect(await contents()).toEqual(before)
  })

  it('by dashboards: not by a variable either', { timeout: 600_000 }, async () => {
    const troubles: string[] = []
    let shown = 0
    const see = async (url: string) => {
      const answer = await as(TOKENS['admin of the shop'], 'GET', url)
      if ((await as(ADMIN, 'GET', url)).text.includes(SECRET)) shown++
      if (answer.status >= 500 || answer.text.includes(SECRET)) troubles.push(`${url}: ${answer.text.slice(0, 300)}`)
    }
    for (const { name, variables, sections } of dashboards) {
      const others = Object.fromEntries(
        variables.filter((each) => !each.options && each.name !== 'project').map((each) => [each.name, REPO]),
      )
      const choices = ['bank', 'shop'].map((project) => encodeURIComponent(JSON.stringify({ ...others, project })))
      for (const variable of variables) {
        for (const choice of choices) await see(`/v1/dashboards/${name}/variables/${variable.name}?values=${choice}`)
      }
      const panels = sections.flatMap((section) => section.panels)
      for (const panel of isFull ? panels : panels.slice(0, 2)) {
        for (const choice of choices) await see(`/v1/dashboards/${name}/panels/${panel.name}?values=${choice}`)
      }
    }
    expect(troubles).toEqual([])
    expect(shown).toBeGreaterThan(0)
  })
})
