import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { PREVIEWED } from '../../src/api/contract/metrics.ts'
import type { Match } from '../../src/config-as-code/context.ts'
import { parseConfig } from '../../src/config-as-code/document.ts'
import { exportConfig } from '../../src/config-as-code/export.ts'
import { requireMatches } from '../../src/config-as-code/matching-rules.ts'
import { applyConfig, planConfig } from '../../src/config-as-code/reconcile.ts'
import { globOf } from '../../src/config-as-code/selectors.ts'
import type { Assumption } from '../../src/control-plane/records.ts'
import { openDatabase } from '../../src/database/open.ts'
import { write } from '../../src/database/write.ts'
import { matchPattern } from '../../src/plugin-kit/spec/patterns.ts'
import type { PluginSpec } from '../../src/plugin-kit/spec/plugin.ts'
import { assumedRules } from '../../src/plugin-kit/task/assumed-rules.ts'
import { issues as bitbucketIssues } from '../../src/plugins/bitbucket/entities/issues.ts'
import { issueLabels, issues } from '../../src/plugins/github/entities/issues.ts'
import { runs } from '../../src/plugins/github/entities/runs.ts'
import { ownFields, plugins } from '../../src/plugins/index.ts'
import { issueFields as jiraFields } from '../../src/plugins/jira/entities/issue-fields.ts'
import { issues as jiraIssues } from '../../src/plugins/jira/issue.ts'
import { DEFAULT_TOKEN, type FakeGithub, startFakeGithub } from '../fake-github/fake-github.ts'
import { describeOneWithTables } from '../support/databases.ts'
import { configContext } from './support/config-context.ts'
import { startTestApi, type TestApi } from './support/test-api.ts'

describeOneWithTables('configuration as code', (test) => {
  let api: TestApi
  let github: FakeGithub
  beforeAll(async () => {
    const repositories = ['acme/web', 'acme/api', 'acme/play-1'].map((name) => ({ name }))
    github = await startFakeGithub({ world: { repositories: [...repositories, { name: 'acme/old', archived: true }] } })
    api = await startTestApi(test.database)
  })
  afterAll(async () => {
    await api.close()
    await github.stop()
  })
  const yaml = (collect: string, connection = 'token: { env: TOKEN }') => `
connections:
  github:
    main:
      endpoint: ${github.url}/
      ${connection}
      scopeConfigs: { rules: { entities: [TICKET], issueTypeBug: bug } }
projects:
  shop:
    metrics: [dora, { linker: { prToIssueRegexp: '#(\\d+)' } }]
    schedule: '@daily'
    labels: [b, a]
    collect: [${collect}]
`
  const ALL = '{ connection: github/main, scopes: [acme/*], except: [acme/play-*], scopeConfig: rules }'
  const parse = (text: string) => parseConfig(text, 'weir.yaml', { TOKEN: DEFAULT_TOKEN })
  const apply = async (text: string, isDryRun = false) =>
    (isDryRun ? planConfig : applyConfig)(parse(text), configContext(api))
  const connectionId = async () => (await api.control.services.connections.list('github'))[0]?.id ?? 0
  const namesOf = async () => {
    const { blueprint } = await api.control.services.projects.get('shop')
    const { items } = await api.control.services.scopes.list('github', await connectionId())
    const chosen = blueprint?.connections[0]?.scopes.map(({ scopeId }) => scopeId)
    return items
      .filter(({ scope }) => chosen?.includes(String(scope.githubId)))
      .map(({ scope }) => scope.fullName)
      .sort()
  }

  it('plans without changing, applies, and then has nothing to do', async () => {
    const planned = await apply(yaml(ALL), true)
    expect(await api.control.services.projects.exists('shop')).toBe(false)
    expect(JSON.stringify(planned)).not.toContain(DEFAULT_TOKEN)
    expect(await apply(yaml(ALL))).toEqual(planned)
    expect(await apply(yaml(ALL))).toEqual([])
    expect(await namesOf()).toEqual(['acme/api', 'acme/web'])
    // Planning used up no ids.
    expect(await connectionId()).toBe(1)
    expect((await api.control.services.projects.get('shop')).blueprint?.id).toBe(1)
    const project = await api.control.services.projects.get('shop')
    expect(project).toMatchObject({ blueprint: { cronConfig: '@daily', labels: ['a', 'b'] } })
    expect(project.metrics.map(({ pluginName }) => pluginName)).toEqual(['dora', 'linker'])
  })

  it('tells what a changed file would change', async () => {
    const changed = yaml(ALL).replace('issueTypeBug: bug', 'issueTypeBug: defect').replace('@daily', 'manual')
    expect(await apply(changed, true)).toEqual([
      {
        action: 'update',
        subject: 'github scope config rules',
        fields: [{ name: 'issueTypeBug', before: 'bug', after: 'defect' }],
      },
      { action: 'update', subject: 'schedule of shop', fields: [{ name: 'isManual', before: false, after: true }] },
    ])
  })

  it('exports a file that changes nothing when applied', async () => {
    const text = await exportConfig(configContext(api))
    expect(text).not.toContain(DEFAULT_TOKEN)
    expect(text).toContain('env: TOKEN')
    expect(await apply(text)).toEqual([])
  })

  it('exports the rules of one scope among those that a pattern takes in', async () => {
    await apply(yaml('{ connection: github/main, scopes: [acme/*], except: [acme/play-*] }'))
    const at = `/plugins/github/connections/${await connectionId()}`
    const { id: scopeConfigId } = (await api.ask('GET', `${at}/scope-configs`)).body[0]
    const web = github.world.repository('acme/web').id
    expect((await api.ask('PATCH', `${at}/scopes/${web}`, { scopeConfigId })).status).toBe(200)
    const text = await exportConfig(configContext(api))
    // The single change becomes a selector, and the scope itself stays as it is.
    expect((await apply(text)).map(({ subject }) => subject)).toEqual(['schedule of shop'])
    const rulesOf = async (id: number) => (await api.ask('GET', `${at}/scopes/${id}`)).body.scope.scopeConfigId ?? 0
    expect(await rulesOf(web)).toBe(scopeConfigId)
    expect(await rulesOf(github.world.repository('acme/api').id)).toBe(0)
    expect(await apply(text)).toEqual([])
    expect(await exportConfig(configContext(api))).toBe(text)
    await apply(yaml(ALL))
  })

  it('exports a scope whose name is not enough alike, whether it was put by hand or by that file', async () => {
    const { services } = api.control
    const connection = await connectionId()
    const solo = { githubId: 99, name: 'solo', fullName: 'solo', cloneUrl: 'https://code.example/solo', language: 'Go' }
    await services.scopes.put('github', connection, [solo])
    const { blueprint } = await services.projects.create({ name: 'byhand' })
    const connections = [{ pluginName: 'github', connectionId: connection, scopes: [{ scopeId: '99' }] }]
    await services.blueprints.update(blueprint?.id ?? 0, { connections })
    const text = await exportConfig(configContext(api))
    expect(text).toContain('githubId: 99')
    expect((await apply(text)).map(({ subject }) => subject)).toEqual(['schedule of byhand'])
    expect(await exportConfig(configContext(api))).toBe(text)
    await services.projects.remove('byhand')
    await services.scopes.remove('github', connection, '99')
  })

  it('names the default rules that a scope config drops', async () => {
    const [change] = (await apply(yaml(ALL).replace('issueTypeBug: bug', "issueTypeBug: ''"), true)) ?? []
    expect(change).toMatchObject({ subject: 'github scope config rules' })
    expect(change?.notes).toEqual(['drops the default rule for labels of bugs: issueTypeBug (?i)(bug|broken)'])
    const more = yaml(ALL).replace('rules: {', "more: { envNamePattern: '(?i)live' }, rules: {")
    const [created] = await apply(more, true)
    expect(created?.notes).toContain('drops the default rule for labels of bugs: issueTypeBug (?i)(bug|broken)')
    expect(created?.notes?.join()).not.toContain('envNamePattern')
  })

  it('takes a rule and a scope config away that the file no longer has, and says so', async () => {
    const scope = async () => {
      const { items } = await api.control.services.scopes.list('github', await connectionId())
      return items.map((each) => each.scopeConfig?.name ?? null)
    }
    expect(await scope()).toEqual(['rules', 'rules'])
    const without = yaml(ALL.replace(', scopeConfig: rules', '')).replace(', issueTypeBug: bug', '')
    const planned = await apply(without, true)
    const detached = {
      action: 'update',
      fields: [{ name: 'scopeConfig', before: 'rules', after: null }],
      notes: ['goes by the default rules from now on'],
    }
    expect(planned).toMatchObject([
      { subject: 'github scope config rules', fields: [{ name: 'issueTypeBug', before: 'bug', after: '' }] },
      { subject: 'github scope acme/api', ...detached },
      { subject: 'github scope acme/web', ...detached },
      { subject: 'schedule of shop' },
    ])
    expect(await apply(without)).toEqual(planned)
    expect(await scope()).toEqual([null, null])
    expect(await apply(without, true)).toEqual([])
    expect(await exportConfig(configContext(api))).not.toContain('scopeConfig:')
    // Another project that shares a scope also gets its new rules, though the file does not name that project.
    const { services } = api.control
    const { blueprint } = await services.projects.create({ name: 'neighbour' })
    const scopes = [{ scopeId: String(github.world.repository('acme/web').id) }]
    const connections = [{ pluginName: 'github', connectionId: await connectionId(), scopes }]
    await services.blueprints.update(blueprint?.id ?? 0, { connections })
    const given = (await apply(yaml(ALL), true)).filter(({ subject }) => subject.startsWith('github scope acme/'))
    expect(given.map(({ notes }) => notes)).toEqual([
      undefined,
      ['changes the rules of this scope in project neighbour, too'],
    ])
    await services.projects.remove('neighbour')
    // A file does not remove rules that another project sets.
    const other = yaml(ALL).replace('  shop:', '  other:')
    await apply(other)
    expect(await scope()).toEqual(['rules', 'rules'])
    expect(await apply(without.replace('scopeConfigs: {', 'scopeConfigs: { more: {}, '), true)).not.toContainEqual(
      expect.objectContaining({ subject: 'github scope acme/web' }),
    )
    await api.control.services.projects.remove('other')
    await apply(yaml(ALL))
  })

  it('names what joins and what leaves a project, though the file does not know of it', async () => {
    const { services } = api.control
    const { id } = await services.connections.create('webhook', { name: 'acme' })
    const { blueprint } = await services.projects.get('shop')
    const pushed = { pluginName: 'webhook', connectionId: id, scopes: [] }
    const connections = [...(blueprint?.connections ?? []), pushed]
    await services.blueprints.update(blueprint?.id ?? 0, { connections })
    const [change] = await apply(yaml(ALL.replace('except: [acme/play-*]', 'except: [acme/web]')), true).then((all) =>
      all.filter(({ subject }) => subject === 'schedule of shop'),
    )
    expect(change?.fields).toContainEqual({ name: 'scopes', before: 2, after: 2 })
    expect(change?.fields).toContainEqual({ name: 'connectionsWithoutScopes', before: 1, after: 0 })
    expect(change?.notes).toEqual([
      'adds acme/play-1 of github/main to project shop',
      'removes acme/web of github/main from project shop',
      'removes webhook/acme from project shop',
    ])
    await apply(yaml(ALL))
    await services.connections.remove('webhook', id)
  })

  it('makes a webhook and its project at one moment, and does not count it as a scope', async () => {
    const file = `connections: { webhook: { fresh: {} } }
projects: { pushed: { collect: [{ connection: webhook/fresh }] } }`
    const planned = await apply(file, true)
    expect(planned.at(-1)?.fields).toContainEqual({ name: 'connectionsWithoutScopes', before: 0, after: 1 })
    expect(planned.at(-1)?.fields.map(({ name }) => name)).not.toContain('scopes')
    await apply(file)
    const { services } = api.control
    const [webhook] = await services.connections.list('webhook')
    expect((await services.projects.get('pushed')).createdAt).toEqual(webhook?.createdAt)
    await services.projects.remove('pushed')
    await services.connections.remove('webhook', webhook?.id ?? 0)
  })

  it('knows that another project gives a shared scope its rules, in the plan and in the export', async () => {
    const shared = (scopes: string) => `  other: { collect: [{ connection: github/main, scopes: [${scopes}] }] }\n`
    const assumed = async (text: string) => {
      let all: readonly Assumption[] = []
      const tellAssumed = (told: readonly Assumption[]) => {
        all = told
      }
      await planConfig(parse(text), { ...configContext(api), tellAssumed })
      return all.map(({ subject }) => subject)
    }
    const both = `${yaml(ALL)}${shared('acme/web')}`
    expect(await assumed(both)).toEqual([])
    expect(await assumed(`${yaml(ALL)}${shared('acme/web, acme/play-1')}`)).toEqual([
      'acme/play-1 of github/main in project other',
    ])
    await apply(both)
    // The rules come from a project that is not in this file.
    expect(await assumed(`projects:\n${shared('acme/web')}`)).toEqual([])
    const exported = await exportConfig(configContext(api))
    expect(parse(exported).document.projects.other?.collect).toMatchObject([{ scopes: ['acme/web'] }])
    expect(parse(exported).document.projects.other?.collect[0]).not.toHaveProperty('scopeConfig')
    expect(await apply(exported, true)).toEqual([])
    const empty = await openDatabase(await test.createDatabase())
    const there = await startTestApi(empty)
    try {
      const without = parseConfig(exported, 'weir.yaml', {})
      await expect(planConfig(without, configContext(there))).rejects.toThrow(
        'token comes from TOKEN, which is not set',
      )
      await applyConfig(parse(exported), configContext(there))
      expect(await exportConfig(configContext(there))).toBe(exported)
      expect(await planConfig(parse(exported), configContext(there))).toEqual([])
      const [scope] = (await there.control.services.scopes.list('github', 1)).items.filter(
        (each) => each.scope.fullName === 'acme/web',
      )
      expect(scope?.scopeConfig?.name).toBe('rules')
    } finally {
      await there.close()
      await empty.close()
    }
    await api.control.services.projects.remove('other')
  })

  it('needs no variable of a secret that it has stored, and keeps its name', async () => {
    const exported = await exportConfig(configContext(api))
    const without = parseConfig(exported, 'weir.yaml', {})
    expect(without.unset).toMatchObject([{ name: 'TOKEN' }])
    expect(await planConfig(without, configContext(api))).toEqual([])
    expect(await applyConfig(without, configContext(api))).toEqual([])
    expect(await exportConfig(configContext(api))).toBe(exported)
    const changed = parseConfig(exported.replace('issueTypeBug: bug', 'issueTypeBug: defect'), 'weir.yaml', {})
    expect(await planConfig(changed, configContext(api))).toHaveLength(1)
    // A variable name that differs from the exported one is treated as a typing error.
    const slip = parseConfig(exported.replace('env: TOKEN', 'env: TOKNE'), 'weir.yaml', {})
    await expect(planConfig(slip, configContext(api))).rejects.toThrow('token comes from TOKNE, which is not set')
    // Settings that are not secret have no stored value to keep.
    const address = parseConfig(exported.replace(/endpoint: .*/, 'endpoint: { env: ADDRESS }'), 'weir.yaml', {})
    await expect(planConfig(address, configContext(api))).rejects.toThrow('endpoint comes from ADDRESS')
  })

  it('names connections in a plan, also one that the project no longer collects from, over REST as well', async () => {
    const second = yaml(ALL).replace(
      'projects:',
      `    other: { endpoint: ${github.url}/, token: { env: TOKEN }, scopeConfigs: { two: {} } }\nprojects:`,
    )
    await apply(second.replace(ALL, '{ connection: github/other, scopes: [acme/web], scopeConfig: two }'))
    const body = { config: second, variables: { TOKEN: DEFAULT_TOKEN } }
    const { changes } = (await api.ask('POST', '/v1/config/plan', body)).body
    expect(changes).toEqual(await apply(second, true))
    const { fields, notes } = changes.find(({ subject }: any) => subject === 'schedule of shop')
    const { before, after } = fields.find(({ name }: any) => name === 'selectors')
    expect(before).toMatchObject([{ connection: 'github/other', scopeConfig: 'two' }])
    expect(after).toMatchObject([{ connection: 'github/main', scopeConfig: 'rules' }])
    expect(notes).toContain('removes acme/web of github/other from project shop')
    await apply(second)
    const { connections, scopes } = api.control.services
    const { id = 0 } = (await connections.list('github')).find(({ name }) => name === 'other') ?? {}
    await scopes.remove('github', id, String(github.world.repository('acme/web').id))
    await connections.remove('github', id)
  })

  it('refers to a connection and a scope config that are stored, without repeating them', async () => {
    const short = `projects:${yaml(ALL).split('projects:')[1]}`
    expect(await apply(short, true)).toEqual([])
    const changed = short.replace('except: [acme/play-*]', 'except: [acme/web]')
    expect(await apply(changed, true)).toContainEqual(
      expect.objectContaining({ action: 'create', subject: 'github scope acme/play-1 of main' }),
    )
    await expect(apply(short.replace('github/main', 'github/mian'))).rejects.toThrow(
      /github\/mian is not among the connections of this file, and not stored; did you mean github\/main/,
    )
  })

  it('collects an archived repository that is named outright', async () => {
    const named = yaml(ALL.replace('[acme/*]', '[acme/*, acme/old]'))
    expect(await apply(named)).toContainEqual(expect.objectContaining({ subject: 'github scope acme/old' }))
    expect(await namesOf()).toEqual(['acme/api', 'acme/old', 'acme/web'])
    await apply(yaml(ALL))
    expect(await namesOf()).toEqual(['acme/api', 'acme/web'])
  })

  it('refuses a rule that matches nothing of what was collected, unless told', async () => {
    const labels = ['kind/bug', 'outage'].map((label_name, index) =>
      issueLabels.row({ connection_id: 1, issue_id: index, label_name }),
    )
    await write(test.database, labels)
    const changed = yaml(ALL).replace('issueTypeBug: bug', 'issueTypeBug: defect')
    await expect(apply(changed)).rejects.toThrow(
      'weir.yaml:7: issueTypeBug matches none of the labels of issues that were collected (kind/bug, outage). Correct it, or use --allow-empty.',
    )
    await expect(apply(changed, true)).rejects.toThrow('matches none')
    // Over REST, patterns are matched in a separate thread.
    const sent = { config: changed, variables: { TOKEN: DEFAULT_TOKEN } }
    expect(await api.ask('POST', '/v1/config/plan', sent)).toMatchObject({
      status: 400,
      body: { message: expect.stringContaining('issueTypeBug matches none of the labels') },
    })
    expect(await apply(yaml(ALL), true)).toEqual([])
    expect(await planConfig(parse(changed), { ...configContext(api), allowsEmpty: true })).toHaveLength(1)
    expect(await apply(changed.replace('defect', '^kind/'), true)).toHaveLength(1)
  })

  it('refuses a text, a name and a type that nothing of what was collected has, whatever the tracker', async () => {
    const named = { connection_id: 1, repo_id: 1 }
    await write(test.database, [
      issues.row({ ...named, github_id: 1, title: 'The shop is slow', body: 'since the last rollout' }),
    ])
    const withText = (text: string) =>
      yaml(ALL).replace('issueTypeBug: bug', `issueTypeBug: bug, issueTextIncident: ${text}`)
    await expect(apply(withText('outage'), true)).rejects.toThrow(
      'weir.yaml:7: issueTextIncident matches none of the titles of issues that were collected, nor their texts. Correct it, or use --allow-empty.',
    )
    expect(await apply(withText('rollout'), true)).toHaveLength(1)

    const source = (name: string) => plugins.find((each) => each.name === name)?.source as PluginSpec
    const status = { connection_id: 1, status_name: 'Open', status_key: 'new' }
    await write(test.database, [
      ...['Bug', 'Störung'].map((type, index) => jiraIssues.row({ ...status, issue_id: index + 1, type })),
      jiraFields.row({ connection_id: 1, board_id: 1, id: 'customfield_10016', name: 'Story points' }),
    ])
    const match: Match = async (...asked) => matchPattern(...asked)
    const required = (name: string, rules: object, before?: object) =>
      requireMatches({ database: test.database, match }, source(name), 1, { before, rules })
    const incident = { standardType: 'INCIDENT' }
    await expect(required('jira', { typeMappings: { Störrung: incident } })).rejects.toThrow(
      'typeMappings.Störrung is none of the issue types that were collected (Bug, Störung); did you mean Störung? Correct it, or use --allow-empty.',
    )
    await expect(
      required('jira', { typeMappings: { Bug: { statusMappings: { Closed: { standardStatus: 'DONE' } } } } }),
    ).rejects.toThrow(
      'typeMappings.Bug.statusMappings.Closed is none of the categories of statuses that were collected (new)',
    )
    await expect(required('jira', { storyPointField: 'customfield_1' })).rejects.toThrow('storyPointField matches none')
    await expect(required('jira', { issueTextIncident: 'nowhere' })).rejects.toThrow('issueTextIncident matches none')
    // Values that were collected, that the file had before, that are assumed by default, and that Jira always has.
    const done = { standardStatus: 'DONE' }
    await required('jira', { typeMappings: { Störung: incident, Story: { standardType: 'REQUIREMENT' } } })
    await required('jira', {
      typeMappings: { Bug: { statusMappings: { done } } },
      storyPointField: 'customfield_10016',
    })
    await required('jira', { typeMappings: { Gone: incident } }, { typeMappings: { Gone: incident } })
    await write(test.database, [
      bitbucketIssues.row({ connection_id: 1, repo_id: 'a', bitbucket_id: 1, state: 'open' }),
    ])
    await expect(required('bitbucket', { issueStatusDone: 'finished, over' })).rejects.toThrow(
      'issueStatusDone matches',
    )
    await required('bitbucket', { issueStatusTodo: 'fresh, open' })
    // GitHub's rule for production also looks at branches.
    await write(test.database, [runs.row({ ...named, id: 1, name: 'CI', head_branch: 'live-eu' })])
    await required('github', { productionPattern: '^live-' })
    await required('github', { productionBranchPattern: '^live-' })
    await expect(required('github', { productionPattern: '^nowhere$' })).rejects.toThrow(
      /productionPattern matches none of the .*, .* and branches that were collected \(CI, live-eu\)/,
    )
  })

  it('has custom fields, their columns and what fills them, and another server gets the same of its export', async () => {
    const field = (type: string) => `fields: { issues: { x_risk: { type: ${type}, title: Risk } } }`
    const rule = `{ table: issues, rawDataTable: _raw_github_api_issues, rawDataParams: '{"ConnectionId":"github/main",%', mapping: { x_risk: state } }`
    const plan = `[[{ plugin: customize, options: { transformationRules: [${rule}] } }]]`
    const file = `${field('varchar(255)')}\n${yaml(ALL)}    afterPlan: ${plan}\n`
    const planned = await apply(file, true)
    expect(planned[0]).toEqual({
      action: 'create',
      subject: 'field x_risk of issues',
      fields: [
        { name: 'type', before: null, after: 'varchar(255)' },
        { name: 'title', before: null, after: 'Risk' },
      ],
    })
    expect(await ownFields.list(test.database)).toEqual([])
    await expect(apply(file.replace('schedule: ', 'schedule: every '))).rejects.toThrow('every')
    expect(await ownFields.list(test.database)).toEqual([])
    expect(await apply(file)).toEqual(planned)
    expect(await ownFields.list(test.database)).toMatchObject([{ table: 'issues', columnName: 'x_risk' }])
    expect(await apply(file)).toEqual([])
    const id = await connectionId()
    const { blueprint } = await api.control.services.projects.get('shop')
    const stored = await api.control.services.blueprints.get(blueprint?.id ?? 0)
    expect(JSON.stringify(stored.afterPlan)).toContain(`{\\"ConnectionId\\":${id},%`)
    await expect(apply(`${field('bigint')}\n`)).rejects.toThrow(
      'weir.yaml:1: type of issues.x_risk is varchar(255), and the file says bigint',
    )
    await expect(apply(file.replace('github/main",%', 'github/mian",%'))).rejects.toThrow(
      /There is no connection github\/mian; did you mean github\/main/,
    )
    const exported = await exportConfig(configContext(api))
    expect(exported).toContain('{"ConnectionId":"github/main",%')
    const other = await openDatabase(await test.createDatabase())
    const there = await startTestApi(other)
    try {
      // Here another connection has taken the id.
      const { connections } = there.control.services
      const taken = await connections.create('github', { name: 'taken', endpoint: github.url, token: DEFAULT_TOKEN })
      await applyConfig(parse(exported), configContext(there))
      await connections.remove('github', taken.id)
      expect(await exportConfig(configContext(there))).toBe(exported)
      expect(await ownFields.list(other)).toEqual(await ownFields.list(test.database))
    } finally {
      await there.close()
      await other.close()
    }
    await apply(`${file.replace(/afterPlan: .*/, 'afterPlan: null')}`)
    await ownFields.remove(test.database, 'issues', 'x_risk')
  })

  it('lets what has come to match join at the next run, and runs without when GitHub is away', async () => {
    const { services } = api.control
    const { blueprint } = await services.projects.get('shop')
    const [connection] = blueprint?.connections ?? []
    const [first] = connection?.scopes ?? []
    const id = blueprint?.id ?? 0
    await services.blueprints.update(id, { connections: [{ ...connection!, scopes: connection!.scopes.slice(1) }] })
    await services.scopes.remove('github', await connectionId(), first?.scopeId ?? '')
    expect(await namesOf()).toHaveLength(1)
    const run = await services.blueprints.trigger(id)
    expect(await namesOf()).toEqual(['acme/api', 'acme/web'])
    expect(JSON.stringify(run.plan)).toContain(first?.scopeId)
    await services.pipelines.cancel(run.id)
    // Fails the first attempt and three retries.
    for (let count = 0; count < 4; count++) github.failNext('bad-gateway')
    const again = await services.blueprints.trigger(id)
    expect(again.status).toBe('TASK_CREATED')
    await services.pipelines.cancel(again.id)
  })

  it('refuses what it does not understand, and says where', async () => {
    const wrong: readonly (readonly [string, RegExp])[] = [
      [': nonsense: [', /not YAML/],
      ['project: {}', /project is not a known field.*did you mean projects\?/],
      [
        'projects: { x: { cron: daily } }',
        /projects.x: cron is not a known field.*There are: description, targets, metrics/,
      ],
      [yaml(ALL, `token: ${DEFAULT_TOKEN}`), /token is a secret/],
      [yaml(ALL, 'token: { env: NOT_SET }'), /NOT_SET, which is not set/],
      [yaml(ALL, 'colour: red'), /colour is not known. There are: endpoint/],
      [yaml('{ connection: github/other, scopes: [acme/*] }'), /github\/other is not among/],
      [yaml('{ connection: github/main, scopes: [acme/*], scopeConfig: none }'), /none is not among the scope configs/],
      ['projects: { x: { plan: [{ plugin: org }, [{ plugin: org }]] } }', /plan mixes tasks and lists of tasks: write/],
      ['projects: { x: { afterPlan: [7] } }', /afterPlan.0 must be an object or a list/],
      ['connections: { nothing: { x: {} } }', /no plugin nothing. There are: .*, github, .*, webhook/],
    ]
    for (const [text, says] of wrong) {
      const message = await Promise.resolve()
        .then(() => apply(text))
        .then(
          () => 'it was applied',
          (error) => error.message,
        )
      expect(message).toMatch(says)
      expect(message).not.toContain(DEFAULT_TOKEN)
    }
    expect(await apply(yaml(ALL), true)).toEqual([])
  })
})

it('the example with all important fields keeps every default rule that decides on a key', () => {
  const [, example = ''] = /```yaml\n(.*?)```/s.exec(readFileSync('docs/config-as-code.md', 'utf8')) ?? []
  const { document } = parseConfig(example, 'docs/config-as-code.md', { GITHUB_TOKEN: 'x' })
  const source = plugins.find(({ name }) => name === 'github')?.source as PluginSpec
  const rules = document.connections.github?.main?.scopeConfigs.rules ?? {}
  const dropped = Object.keys(assumedRules(source)).filter((name) => PREVIEWED.has(name) && !rules[name])
  expect(dropped).toEqual([])
})

it.each([
  ['acme/*', 'acme/web', true],
  ['acme/*', 'acme/web/deep', false],
  ['acme/**', 'acme/web/deep', true],
  ['acme/w.b', 'acme/web', false],
  ['*/web', 'ACME/Web', true],
])('the pattern %s on %s: %s', (pattern, name, expected) => {
  expect(globOf(pattern).test(name)).toBe(expected)
})
