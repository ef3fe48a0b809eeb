/** Answers where there is little or too much: nothing, one deployment, a thousand a day, a range to come. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { TableRow } from '../../src/database/table.ts'
import { write } from '../../src/database/write.ts'
import { projectMapping, projectPrMetrics, pullRequestIssues } from '../../src/domain/crossdomain.ts'
import { cicdDeploymentCommits, cicdScopes } from '../../src/domain/devops.ts'
import { pullRequests } from '../../src/domain/pull-requests.ts'
import { issues } from '../../src/domain/ticket.ts'
import type { KeyAnswer } from '../../src/metrics/answer/answer.ts'
import { startTestApi, type TestApi } from '../api/support/test-api.ts'
import { describeEachDatabase } from '../support/databases.ts'

const START = Date.UTC(2024, 0, 1)
const RANGE = 'from=2024-01-01&to=2024-03-31'

describeEachDatabase('an answer', (test) => {
  let api: TestApi
  beforeAll(async () => {
    api = await startTestApi(test.database)
  })
  afterAll(() => api.close())

  /** Deployments at the given minutes; a title makes the pull request that one brought. */
  async function plant(project: string, minutes: readonly number[], titles: Readonly<Record<number, string>> = {}) {
    const rows: TableRow[] = minutes.map((minute, index) => {
      const finished_date = new Date(START + minute * 60_000)
      const id = `${project} ${index}`
      return cicdDeploymentCommits.row({
        id,
        cicd_deployment_id: id,
        cicd_scope_id: `${project} scope`,
        name: `release ${index}`,
        commit_sha: id,
        repo_url: 'r',
        result: 'SUCCESS',
        status: 'DONE',
        environment: 'PRODUCTION',
        created_date: finished_date,
        finished_date,
      })
    })
    const brought = Object.entries(titles).flatMap(([index, title]) => {
      const id = `${project} pull ${index}`
      const deployed = new Date(START + (minutes[Number(index)] as number) * 60_000)
      return [
        pullRequests.row({ id, title, head_ref: title.startsWith('fix') ? 'fix/it' : 'work', merged_date: deployed }),
        projectPrMetrics.row({
          id,
          project_name: project,
          deployment_commit_id: `${project} ${index}`,
          pr_deployed_date: deployed,
        }),
      ]
    })
    await write(test.database, [
      cicdScopes.row({ id: `${project} scope`, name: 'scope' }),
      projectMapping.row({ project_name: project, table: 'cicd_scopes', row_id: `${project} scope` }),
      ...rows,
      ...brought,
    ])
    expect((await api.ask('POST', '/projects', { name: project })).status).toBe(201)
  }
  const ask = (query: string) => api.ask('GET', `/v1/answer?${query}`)
  const answerOf = async (query: string) => {
    const { status, body } = await ask(query)
    expect(status, JSON.stringify(body)).toBe(200)
    return body
  }
  const keyOf = (body: { keys: KeyAnswer[] }, metric: string) =>
    body.keys.find((key) => key.metric === metric) as KeyAnswer

  it('of a project without data says for each key why there is none', async () => {
    await plant('empty', [])
    const body = await answerOf(`project=empty&${RANGE}`)
    expect(body.keys).toHaveLength(5)
    for (const { now, change, grades } of body.keys as KeyAnswer[]) {
      expect(now).toMatchObject({ value: null, likely: null, counted: 0 })
      expect(now.noData?.because).toMatch(/^no |^none /)
      expect(now.noData?.remedy).not.toBe('')
      expect([change, grades]).toEqual([null, []])
    }
    expect(body.where).toMatchObject({ restsOn: 0, noData: { because: expect.any(String) } })
    expect(body.look.every(({ heaviest, of }: any) => heaviest.length === 0 && of === 0)).toBe(true)
    expect(body.when.buckets).toHaveLength(13)
  })

  it('of one deployment claims nothing', async () => {
    await plant('single', [10 * 1440])
    const body = await answerOf(`project=single&${RANGE}`)
    const frequency = keyOf(body, 'deployment-frequency')
    expect(frequency.now).toMatchObject({ value: 0, inWords: '1 deployment in 13 weeks', counted: 1 })
    expect(frequency).toMatchObject({
      grades: [],
      noGrade: { because: expect.stringMatching(/too few/) },
      change: null,
    })
    const gaps = body.look.find(({ metric }: any) => metric === 'deployment-frequency')
    expect(gaps.of).toBe(2)
    expect(gaps.heaviest[0]).toMatchObject({ kind: 'gap', at: '2024-01-11T00:00:00.000Z', inWords: '81 d' })
    const rework = keyOf(body, 'rework-rate')
    expect(rework.now).toMatchObject({ value: 0, likely: { low: 0 } })
    expect(rework.now.likely?.high).toBeGreaterThan(0.7)
  })

  it('of a thousand deployments a day shows the newest and says that there are more', async () => {
    const minutes = Array.from({ length: 3000 }, (_, index) => index * 1.44)
    await plant('busy', minutes)
    const body = await answerOf('project=busy&from=2024-01-01&to=2024-01-03')
    expect(keyOf(body, 'deployment-frequency').now).toMatchObject({ value: 3, counted: 3000 })
    expect(body.when).toMatchObject({ bucket: 'day', isShortened: true })
    expect(body.when.deployments).toHaveLength(2000)
    expect(body.when.buckets.map(({ deployments }: any) => deployments)).toEqual([1000, 1000, 1000])
    expect(body.look[1].heaviest).toHaveLength(10)
  })

  it('about a range to come or one that runs backwards says so', async () => {
    const body = await answerOf('project=busy&from=2999-01-01&to=2999-01-31')
    expect(body.keys.every(({ now }: KeyAnswer) => now.value === null && now.noData !== undefined)).toBe(true)
    expect(body.when.buckets.every(({ isPartial }: any) => isPartial)).toBe(true)
    const backwards = await ask('project=busy&from=2024-02-01&to=2024-01-01')
    expect([backwards.status, backwards.body.message]).toEqual([400, expect.stringMatching(/runs backwards/)])
    const unknown = await ask(`project=bussy&${RANGE}`)
    expect([unknown.status, unknown.body.message]).toEqual([404, expect.stringMatching(/busy/)])
  })

  it('compares with the period right before, whole days with whole days', async () => {
    const { range, before } = await answerOf('project=busy&from=2024-01-04&to=2024-01-06')
    expect(range).toEqual({ from: '2024-01-04T00:00:00.000Z', to: '2024-01-06T23:59:59.999Z' })
    expect(before).toEqual({ from: '2024-01-01T00:00:00.000Z', to: '2024-01-03T23:59:59.999Z' })
  })

  it('names what made a deployment rework, by a rule that can be tried and changed', async () => {
    const titles = { 1: 'Revert "Add"', 2: 'fix the total', 3: 'Add more', 4: 'Repair' }
    await plant('shop', [0, 1440, 2880, 4320, 5760], titles)
    await write(test.database, [
      issues.row({ id: 'bug', type: 'BUG' }),
      pullRequestIssues.row({ pull_request_id: 'shop pull 4', issue_id: 'bug' }),
    ])
    const rework = async (policy = '') => {
      const body = await answerOf(`project=shop&${RANGE}${policy}`)
      const { heaviest } = body.look.find(({ metric }: any) => metric === 'rework-rate')
      return { key: keyOf(body, 'rework-rate'), why: heaviest.map(({ title, why }: any) => `${title}: ${why}`) }
    }
    expect(await rework()).toMatchObject({
      key: { now: { value: 2 / 5 } },
      why: ['release 4: a repair of a bug: Repair', 'release 1: a revert: Revert "Add"'],
    })
    const policy = { reworkSigns: ['revert', 'hotfix'], reworkBranches: ['fix/', 'hotfix'] }
    const tried = await api.ask('POST', '/v1/metrics/rule-preview', {
      project: 'shop',
      from: '2024-01-01',
      to: '2024-03-31',
      policy,
    })
    expect(tried.status, JSON.stringify(tried.body)).toBe(200)
    expect(tried.body.effects).toEqual([
      expect.objectContaining({
        rule: 'reworkSigns',
        matching: 2,
        starting: 1,
        stopping: 1,
        samples: {
          starting: [{ table: 'cicd_deployments', id: 'shop 2', name: 'release 2' }],
          stopping: [{ table: 'cicd_deployments', id: 'shop 4', name: 'release 4' }],
        },
      }),
    ])
    const metrics = [{ pluginName: 'dora', enable: true, pluginOption: { policy } }]
    const saved = await api.ask('PATCH', '/projects/shop', { name: 'shop', metrics })
    expect(saved.status, JSON.stringify(saved.body)).toBe(201)
    const after = await rework()
    expect(after.why).toEqual(['release 2: a hotfix: fix the total', 'release 1: a revert: Revert "Add"'])
    expect(after.key.definition).toMatch(/only these count: a revert, a branch that begins with fix\/ or hotfix\./)
    const wrong = { ...metrics[0], pluginOption: { policy: { reworkSigns: ['luck'] } } }
    const refused = await api.ask('PATCH', '/projects/shop', { name: 'shop', metrics: [wrong] })
    expect([refused.status, refused.body.message]).toEqual([
      400,
      expect.stringMatching(/one or more of revert, hotfix/),
    ])
  })
})
