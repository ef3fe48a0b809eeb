/** Answers of metrics name what they are about. If a name is unknown, the answer lists the known ones. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { write } from '../../src/database/write.ts'
import { repos } from '../../src/domain/code.ts'
import { projectMapping } from '../../src/domain/crossdomain.ts'
import { accounts, teams, teamUsers, userAccounts } from '../../src/domain/people.ts'
import { metricNamed } from '../../src/metrics/index.ts'
import { calculate } from '../metrics/calculate.ts'
import { DAY, plantOrganisation, START } from '../metrics/organisation.ts'
import { pipeline } from '../metrics/workbench.ts'
import { describeEachWithTables } from '../support/databases.ts'
import { startTestApi, type TestApi } from './support/test-api.ts'

const STEPS = 30
const range = `from=${new Date(START).toISOString()}&to=${new Date(START + STEPS * DAY).toISOString()}`
const lead = metricNamed('change-lead-time')

describeEachWithTables('answers of metrics', (test) => {
  let api: TestApi
  beforeAll(async () => {
    api = await startTestApi(test.database)
    await write(test.database, plantOrganisation(1, STEPS).rows)
    await write(test.database, [
      ...['core', 'twin a', 'twin b'].map((id) =>
        teams.row({ id, name: id.startsWith('twin') ? 'Twins' : 'Core team' }),
      ),
      // Weir shows no numbers of fewer than five people.
      ...['core', 'twin a'].flatMap((team_id) =>
        ['bob', 'cleo', 'dan', 'eve', 'fay'].map((user_id) => teamUsers.row({ team_id, user_id })),
      ),
      teamUsers.row({ team_id: 'core', user_id: 'ann' }),
      userAccounts.row({ account_id: 'author', user_id: 'ann' }),
      accounts.row({ id: 'author', full_name: 'Ann Author', user_name: 'ann' }),
      repos.row({ id: 'elsewhere', name: 'somebody/else' }),
      // A project with deployments but no source of incidents.
      projectMapping.row({ project_name: 'quiet', table: 'cicd_scopes', row_id: 'quiet scope' }),
      ...pipeline('ship it', 'c1', 3, 'quiet scope'),
    ])
    await calculate(test.database, 'project 0')
    await calculate(test.database, 'quiet')
  })
  afterAll(() => api.close())
  const ask = (path: string, project = 'project 0') =>
    api.ask(
      'GET',
      `/v1/metrics/${path}${path.includes('?') ? '&' : '?'}${range}&project=${encodeURIComponent(project)}`,
    )
  const refusal = async (path: string, project?: string) => {
    const { status, body } = await ask(path, project)
    return [status, body.message]
  }

  it('carry title, unit and definition, all of them', async () => {
    const { title, unit, better } = lead
    // The definition continues with how rollouts count in this project.
    const definition = expect.stringContaining(lead.definition)
    for (const part of ['', '/series', '/items', '/explanation', '/policies']) {
      const { status, body } = await ask(`change-lead-time${part}`)
      expect([part, status]).toEqual([part, 200])
      expect(body).toMatchObject({ metric: 'change-lead-time', title, unit, better, definition, project: 'project 0' })
    }
    const { body } = await api.ask('GET', `/v1/four-keys?project=${encodeURIComponent('project 0')}&${range}`)
    expect(body.projects[0].keys[1]).toMatchObject({ metric: 'change-lead-time', title, unit, better, definition })
  })

  it('say in which reading they are, and refuse one that a metric does not have', async () => {
    const { body } = await ask('pull-request-cycle-time?reading=panels-deployed')
    expect(body.definition).toMatch(/of those deployed in the range/)
    expect((await ask('pull-request-cycle-time')).body.definition).not.toMatch(/DevLake/)
    expect(await refusal('deployment-frequency?reading=panels-merged')).toEqual([
      400,
      expect.stringMatching(/has no reading panels-merged: leave it out. These have one: pull-request-cycle-time/),
    ])
  })

  it('name groups, repositories and people', async () => {
    const { body: byRepository } = await ask('pull-request-throughput?groupBy=repository')
    expect(byRepository.values.map(({ group, name }: any) => [group, name])).toEqual([
      ['plant:Repo:0:0', 'repo 0'],
      ['plant:Repo:0:1', 'repo 1'],
    ])
    const { body: byTeam } = await ask('pull-request-throughput?groupBy=team')
    expect(byTeam.values.map(({ group, name }: any) => [group, name])).toEqual([
      ['core', 'Core team'],
      ['twin a', 'Twins'],
      ['twin b', 'Twins'],
    ])
    const { body: byEnvironment } = await ask('deployment-frequency?groupBy=environment')
    expect(byEnvironment.values.map(({ name }: any) => name)).toEqual(['PRODUCTION', 'STAGING'])
    const { body } = await ask('change-lead-time/items?pageSize=1')
    expect(body.items[0]).toMatchObject({
      repositoryName: expect.stringMatching(/^repo [01]$/),
      accountName: 'Ann Author',
    })
  })

  it('take a repository and a team by name as by id', async () => {
    const value = async (filter: string) => (await ask(`pull-request-throughput?${filter}`)).body.values[0]
    expect(await value('repository=repo 1')).toEqual(await value('repository=plant:Repo:0:1'))
    expect((await value('repository=repo 1')).counted).toBeLessThan((await value('')).counted)
    expect(await value('team=Core team')).toEqual(await value('team=core'))
    expect((await value('team=Core team')).counted).toBeGreaterThan(0)
    expect((await value('team=twin a')).counted).toBe(0)
    expect(await refusal('change-lead-time?team=Twins')).toEqual([400, expect.stringMatching(/twin a, twin b/)])
  })

  it('are 404 with the nearest names where something is not there', async () => {
    expect(await refusal('change-lead-time', 'quite')).toEqual([404, expect.stringMatching(/no project quite/)])
    for (const part of ['', '/series', '/items', '/explanation', '/policies']) {
      expect(await refusal(`change-lead-time${part}?repository=repo 2`)).toEqual([
        404,
        expect.stringMatching(/no repository repo 2; did you mean repo 0 or repo 1\?/),
      ])
    }
    // The repository belongs to another project.
    expect(await refusal('change-lead-time?repository=somebody/else')).toEqual([404, expect.stringMatching(/repo 0/)])
    expect(await refusal('change-lead-time?team=Core')).toEqual([404, expect.stringMatching(/did you mean Core team/)])
    expect(await refusal('change-lead-time?environment=PRODUCTIN')).toEqual([
      404,
      expect.stringMatching(
        /no environment PRODUCTIN; did you mean PRODUCTION\? There are: PRODUCTION, STAGING, TESTING/,
      ),
    ])
    // The domain model has this environment, even if nothing was deployed to it.
    expect((await ask('change-lead-time?environment=TESTING')).status).toBe(200)
  })

  it('grade nothing where no incidents are collected, and say so', async () => {
    const noData = { because: 'no incidents are collected', remedy: expect.stringMatching(/typeMappings/) }
    const nothing = { value: null, grades: [], noData }
    for (const metric of ['change-failure-rate', 'failed-deployment-recovery-time', 'time-to-restore-service']) {
      expect((await ask(metric, 'quiet')).body.values[0]).toMatchObject(nothing)
      const { body } = await ask(`${metric}/policies`, 'quiet')
      expect(body.chosen).toMatchObject(nothing)
      expect(body.policies[0]).toMatchObject(nothing)
    }
    expect((await ask('change-failure-rate/explanation', 'quiet')).body).toMatchObject({ ...nothing, counted: 1 })
    const { body } = await api.ask('GET', `/v1/four-keys?project=quiet&${range}`)
    const [frequency, , failures, recovery] = body.projects[0].keys
    expect([failures, recovery]).toMatchObject([nothing, nothing])
    expect(frequency).not.toHaveProperty('noData')
  })

  it('grade no rate of none where a rule could tell of incidents, and never did', async () => {
    const connection = await api.ask('POST', '/plugins/jira/connections', {
      name: 'tickets',
      endpoint: 'http://127.0.0.1:9/rest/',
      authMethod: 'AccessToken',
      token: 'token',
    })
    const at = `/plugins/jira/connections/${connection.body.id}`
    const typeMappings = { Outage: { standardType: 'INCIDENT', statusMappings: {} } }
    const config = await api.ask('POST', `${at}/scope-configs`, { name: 'rules', entities: ['TICKET'], typeMappings })
    expect(config.status).toBe(201)
    const scope = { boardId: 8, name: 'board', scopeConfigId: config.body.id }
    expect((await api.ask('PUT', `${at}/scopes`, { data: [scope] })).status).toBe(200)
    const { body: project } = await api.ask('POST', '/projects', { name: 'quiet' })
    const change = {
      connections: [{ pluginName: 'jira', connectionId: connection.body.id, scopes: [{ scopeId: '8' }] }],
    }
    expect((await api.ask('PATCH', `/blueprints/${project.blueprint.id}`, change)).status).toBe(200)
    const [value] = (await ask('change-failure-rate', 'quiet')).body.values
    expect(value).toMatchObject({ value: 0, inWords: '0 %', grades: [] })
    expect(value.noGrade).toEqual({
      because: 'no incident is known: no rule has matched one at any time, and no source of incidents was collected',
      remedy: expect.stringMatching(/issueTypeIncident, typeMappings or issueTextIncident/),
    })
    expect((await ask('failed-deployment-recovery-time', 'quiet')).body.values[0]).toMatchObject({
      value: null,
      noData: { because: 'no incidents were found' },
    })
  })
})
