import { afterAll, beforeAll, expect, it } from 'vitest'
import { parseConfig } from '../../src/config-as-code/document.ts'
import { exportConfig } from '../../src/config-as-code/export.ts'
import { applyConfig, planConfig } from '../../src/config-as-code/reconcile.ts'
import { globOf } from '../../src/config-as-code/selectors.ts'
import { DEFAULT_TOKEN, type FakeGithub, startFakeGithub } from '../fake-github/fake-github.ts'
import { describeEachDatabase } from '../support/databases.ts'
import { configContext } from './support/config-context.ts'
import { startTestApi, type TestApi } from './support/test-api.ts'

describeEachDatabase('configuration as code', (test) => {
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
    // The first attempt and three more.
    for (let count = 0; count < 4; count++) github.failNext('bad-gateway')
    const again = await services.blueprints.trigger(id)
    expect(again.status).toBe('TASK_CREATED')
    await services.pipelines.cancel(again.id)
  })

  it('refuses what it does not understand, and says where', async () => {
    const wrong: readonly (readonly [string, RegExp])[] = [
      [': nonsense: [', /not YAML/],
      ['project: {}', /project is not a known field.*did you mean projects\?/],
      ['projects: { x: { cron: daily } }', /projects.x: cron is not a known field.*There are: description, metrics/],
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

it.each([
  ['acme/*', 'acme/web', true],
  ['acme/*', 'acme/web/deep', false],
  ['acme/**', 'acme/web/deep', true],
  ['acme/w.b', 'acme/web', false],
  ['*/web', 'ACME/Web', true],
])('the pattern %s on %s: %s', (pattern, name, expected) => {
  expect(globOf(pattern).test(name)).toBe(expected)
})
