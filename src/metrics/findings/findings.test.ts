/** An explanation names rows that do not count, and says what to change. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { startTestApi, type TestApi } from '../../../tests/api/support/test-api.ts'
import { map, pipeline } from '../../../tests/metrics/workbench.ts'
import { describeEachWithTables } from '../../../tests/support/databases.ts'
import { insertRow } from '../../control-plane/store.ts'
import type { TableRow } from '../../database/table.ts'
import { write } from '../../database/write.ts'
import { repos } from '../../domain/code.ts'
import { cicdDeploymentCommits, cicdPipelines, cicdTasks } from '../../domain/devops.ts'
import { boardIssues, issues } from '../../domain/ticket.ts'
import { pipelines } from '../../system/pipelines.ts'
import { blueprintScopes, blueprints } from '../../system/projects.ts'

const deployed = (environment: string, count: number): TableRow[] =>
  Array.from({ length: count }, (_, index) =>
    cicdDeploymentCommits.row({
      id: `${environment} ${index}`,
      cicd_deployment_id: `${environment} ${index}`,
      cicd_scope_id: 'deploying',
      commit_sha: `c${index}`,
      repo_url: 'https://code.example/shop',
      result: 'SUCCESS',
      environment,
      original_environment: environment,
      finished_date: new Date(),
    }),
  )

const build = (id: string, name: string, scope: string): TableRow[] => [
  cicdPipelines.row({ id, name, cicd_scope_id: scope, result: 'SUCCESS' }),
  cicdTasks.row({ id: `job of ${id}`, name: 'ship it', pipeline_id: id, cicd_scope_id: scope, result: 'SUCCESS' }),
]

const ticket = (id: string, original_type: string): TableRow[] => [
  issues.row({ id, type: '', original_type }),
  boardIssues.row({ board_id: 'board', issue_id: id }),
]

describeEachWithTables('what an explanation has seen', (test) => {
  let api: TestApi
  const explain = async (metric: string, project: string) => {
    const { status, body } = await api.ask('GET', `/v1/metrics/${metric}/explanation?project=${project}`)
    expect(status).toBe(200)
    return body
  }

  beforeAll(async () => {
    api = await startTestApi(test.database)
    await write(test.database, [
      map('deploying', 'cicd_scopes', 'deploying'),
      map('building', 'cicd_scopes', 'building'),
      map('building', 'boards', 'board'),
      map('staging', 'cicd_scopes', 'staging'),
      map('empty', 'repos', 'nothing'),
      ...deployed('production', 59),
      ...deployed('staging', 1),
      ...build('b1', 'lint', 'building'),
      ...build('b2', 'release train', 'building'),
      ...build('b3', 'release train', 'building'),
      ...ticket('i1', 'sev-1'),
      ...ticket('i2', 'sev-1'),
      ...ticket('i3', ''),
      ...pipeline('deploy-staging', 'c1', 1, 'staging', { environment: '' }),
    ])
    const { calculate } = await import('../../../tests/metrics/calculate.ts')
    await calculate(test.database, 'staging')
  })
  afterAll(() => api.close())

  it('names environments that no rule maps, with a pattern that would', async () => {
    const { value, findings, leftOut } = await explain('deployment-frequency', 'deploying')
    expect(value).toBeNull()
    expect(leftOut).toMatchObject([{ reason: 'other_environment', count: 60 }])
    expect(findings.map(({ seen }: any) => seen)).toEqual([
      '59 deployments went to `production`, which no rule maps to PRODUCTION.',
      '1 deployment went to `staging`, which no rule maps to PRODUCTION.',
    ])
    expect(findings[0].remedy).toContain('envNamePattern')
    expect(findings[0].remedy).toContain('(?i)^production$')
  })

  it('has nothing to say of the environment that is asked for', async () => {
    const url = '/v1/metrics/deployment-frequency/explanation?project=deploying&environment=production'
    const { body } = await api.ask('GET', url)
    expect(body.counted).toBe(59)
    // Staging is not mentioned either, since it is known which environment is production.
    expect(body.findings).toEqual([])
  })

  it('names builds and jobs of which none is a deployment', async () => {
    const [{ seen, remedy }] = (await explain('deployment-frequency', 'building')).findings
    expect(seen).toBe(
      '3 builds were seen, called `release train` (2), `lint` (1), with jobs `ship it` (3); no rule takes any of them for a deployment.',
    )
    expect(remedy).toContain('deploymentPattern')
  })

  it('names builds that deploy to no known place', async () => {
    const { findings } = await explain('deployment-frequency', 'staging')
    expect(findings[0].seen).toBe(
      '1 deployment was made from builds such as `deploy-staging`, which no rule maps to PRODUCTION.',
    )
    expect(findings[0].remedy).toContain('productionPattern')
  })

  it('names types of issues of which none is an incident', async () => {
    for (const metric of ['failed-deployment-recovery-time', 'change-failure-rate', 'time-to-restore-service']) {
      const { findings } = await explain(metric, 'building')
      const { seen, remedy } = findings.at(-1)
      expect(seen).toBe(
        '3 issues were seen, of the types `sev-1` (2), `no type` (1); no rule takes any of them for an incident.',
      )
      expect(remedy).toContain('issueTypeIncident')
    }
  })

  it('sends nobody to tasks that there are none of: a project that is only sent messages has no repository', async () => {
    const told = (scope: string) =>
      ['1', '2'].map((id) =>
        cicdDeploymentCommits.row({
          id: `${scope}${id}`,
          cicd_deployment_id: `${scope}${id}`,
          cicd_scope_id: scope,
          commit_sha: `${scope}${id}`,
          repo_url: 'x',
          environment: 'PRODUCTION',
          result: 'SUCCESS',
          finished_date: new Date(),
        }),
      )
    await write(test.database, [
      ...['sent', 'cloned'].flatMap((name) => [map(name, 'cicd_scopes', name), ...told(name)]),
      ...['sent', 'cloned'].flatMap((name) => [
        map(name, 'repos', name),
        repos.row({ id: name, url: name === 'sent' ? '' : 'x' }),
      ]),
    ])
    const remedy = async (project: string) =>
      (await explain('change-lead-time', project)).findings.find(({ seen }: any) => seen.startsWith('The git history'))
    expect((await remedy('sent')).remedy).toMatch(/^Add the repository that is deployed to the project/)
    expect((await remedy('cloned')).remedy).toMatch(/^Look at the gitextractor tasks/)
  })

  it('says what was not collected at all', async () => {
    const { findings } = await explain('change-lead-time', 'empty')
    expect(findings.map(({ seen }: any) => seen)).toEqual([
      'No deployments and no builds were collected.',
      'No pull requests were collected.',
    ])
  })

  it('sends nobody to add what is there: a project that never ran is to be run', async () => {
    const own = { name: 'fresh-Blueprint', project_name: 'fresh', mode: 'NORMAL', enable: true, is_manual: true }
    const blueprint_id = await insertRow(test.database.kysely, blueprints, own)
    const place = { blueprint_id, plugin_name: 'github', connection_id: 1, scope_id: '7' }
    await write(test.database, [map('fresh', 'repos', 'nothing'), blueprintScopes.row(place)])
    const seen = 'This project has not run yet, so nothing of what it is told to collect counts.'
    for (const metric of ['deployment-frequency', 'change-lead-time', 'change-failure-rate']) {
      const { findings } = await explain(metric, 'fresh')
      expect(findings).toMatchObject([{ seen, remedy: expect.stringContaining('`npx weir collect fresh`') }])
    }
    await insertRow(test.database.kysely, pipelines, { name: 'fresh', status: 'TASK_COMPLETED', blueprint_id })
    expect((await explain('deployment-frequency', 'fresh')).findings).toMatchObject([
      { seen: 'No deployments and no builds were collected.' },
    ])
  })

  it('tells which rules are assumed, and none where a scope config is', async () => {
    const { services } = api.control
    const connection = await services.connections.create('github', { name: 'main', token: 'x' })
    const rules = await services.scopeConfigs.create('github', connection.id, { name: 'own', envNamePattern: '' })
    const scope = (githubId: number, more = {}) => ({
      githubId,
      name: `r${githubId}`,
      fullName: `a/r${githubId}`,
      ...more,
    })
    await services.scopes.put('github', connection.id, [scope(1), scope(2), scope(3, { scopeConfigId: rules.id })])
    const project = async (name: string, ...ids: string[]) => {
      const { blueprint } = await services.projects.create({ name })
      const scopes = ids.map((scopeId) => ({ scopeId }))
      await services.blueprints.update(blueprint!.id, {
        connections: [{ pluginName: 'github', connectionId: connection.id, scopes }],
      })
      return blueprint!.id
    }
    const id = await project('assumed', '1', '2', '3')
    await project('written', '3')
    const { assumptions } = await explain('deployment-frequency', 'assumed')
    expect(assumptions).toMatchObject([{ subject: '2 scopes of github connection main' }])
    expect(assumptions[0].rules).toContainEqual({
      name: 'envNamePattern',
      label: 'Production environments',
      value: '(?i)prod(.*)',
    })
    expect((await api.ask('GET', `/v1/blueprints/${id}/plan`)).body.assumptions).toEqual(assumptions)
    expect((await explain('deployment-frequency', 'written')).assumptions).toEqual([])
  })

  it('answers a project or a metric that is not there with the nearest, and with all', async () => {
    const { status, body } = await api.ask('GET', '/v1/metrics/deployment-frequency?project=asumed')
    expect([status, body.message]).toEqual([
      404,
      expect.stringMatching(/There is no project asumed; did you mean assumed\? There are: /),
    ])
    const metric = await api.ask('GET', '/v1/metrics/lead-time?project=assumed')
    expect(metric.status).toBe(404)
    expect(metric.body.message).toMatch(/no metric lead-time; did you mean .*change-lead-time.*There are: deployment-/)
  })
})
