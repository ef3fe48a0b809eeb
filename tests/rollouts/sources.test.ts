/** For every source, a rollout that it reports twice counts once, and is explained. */
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { dashboardNamed, panelNamed } from '../../src/dashboards/index.ts'
import { readPanel } from '../../src/dashboards/read.ts'
import { writeRollouts } from '../../src/metrics/calculate/rollouts.ts'
import { DEFAULT_POLICY } from '../../src/metrics/policy/policy.ts'
import { plugins } from '../../src/plugins/index.ts'
import { startTestApi, type TestApi } from '../api/support/test-api.ts'
import { calculate } from '../metrics/calculate.ts'
import { describeOneWithTables } from '../support/databases.ts'
import { SEEN_TWICE, type SeenTwice, SHA, WENT_ELSEWHERE } from './seen-twice.ts'
import { empty, mapAll, PROJECT, tell } from './tell.ts'

const RANGE = `project=${PROJECT}&from=2024-03-01T00:00:00Z&to=2024-03-31T00:00:00Z`

it('there is a rollout of every source that deploys', () => {
  const deploying = plugins.filter(({ source, subtasks }) =>
    source
      ? subtasks.some(({ writes }) => writes.some((table) => /^cicd_(pipelines|deployments)$/.test(table)))
      : false,
  )
  const told = new Set(SEEN_TWICE.flatMap((each) => each.told.map(({ plugin }) => plugin.name)))
  expect(deploying.map(({ name }) => name).filter((name) => !told.has(name))).toEqual([])
})

describeOneWithTables('one rollout, seen twice', (test) => {
  let api: TestApi
  beforeAll(async () => {
    api = await startTestApi(test.database)
  })
  beforeEach(() => empty(test.database))
  afterAll(() => api.close())

  const get = async (path: string) => {
    const { status, body } = await api.ask('GET', path)
    expect([path, status, body.message]).toEqual([path, 200, undefined])
    return body
  }
  async function see({ told, message }: Pick<SeenTwice, 'told' | 'message'>) {
    for (const each of told) await tell(test.database, each)
    if (message) {
      const { body } = await api.ask('POST', '/plugins/webhook/connections', { name: 'hook' })
      const sent = await api.ask('POST', `/plugins/webhook/connections/${body.id}/deployments`, message)
      expect(sent.status).toBe(200)
    }
    await mapAll(test.database)
    await calculate(test.database, PROJECT)
  }
  const explained = (policy = 'project') =>
    get(`/v1/metrics/deployment-frequency/explanation?${RANGE}&policy=${policy}`)

  it.each(SEEN_TWICE)('$name: counted once, explained, and every row with that policy', async (seen) => {
    await see(seen)
    const once = await explained()
    expect(once).toMatchObject({ rollouts: 'once', counted: 1, total: 2 })
    expect(once.leftOut.map((each: any) => [each.reason, each.count])).toEqual([['same_rollout', 1]])
    const [rollout, ...others] = once.rolloutsJoined
    expect(others).toEqual([])
    expect(rollout.rows).toMatchObject([
      { id: rollout.id, stands: true, counts: true, kind: seen.kind, commit: SHA, result: 'SUCCESS' },
      { stands: false, counts: false, reason: seen.reason, commit: SHA, result: 'SUCCESS' },
    ])
    for (const row of rollout.rows) expect(row.why).toMatch(/\.$/)
    // The item shows both rows.
    const { items } = await get(`/v1/metrics/deployment-frequency/items?${RANGE}`)
    expect(items.map((item: any) => item.rollout.id)).toEqual([rollout.id, rollout.id])

    const everyRow = await explained('every-row')
    expect(everyRow).toMatchObject({ rollouts: 'every-row', counted: 2, total: 2, leftOut: [], rolloutsJoined: [] })
    expect(await explained('reference')).toMatchObject({ rollouts: 'every-row', counted: 2 })
    expect(await get(`/v1/rollouts?project=${PROJECT}`)).toMatchObject({
      policy: 'once',
      rules: [],
      count: 1,
      rollouts: [{ id: rollout.id }],
    })
  })

  it.each([
    ['Bitbucket', 'bitbucket', 2],
    ['Argo CD, which follows the repository of a workflow run', 'argocd', 1],
    ['a webhook and Jenkins', 'webhooks', 1],
  ])('%s: the dashboard of the source counts it once as well', async (name, dashboard, rows) => {
    await see(SEEN_TWICE.find((each) => each.name === name)!)
    const count = async () => {
      const own = dashboardNamed(dashboard)
      const range = { from: new Date('2024-03-01'), to: new Date('2024-03-31') }
      const read = { ...range, values: new Map(), policy: DEFAULT_POLICY }
      return (await readPanel(test.database, own, panelNamed(own, 'deployments'), read)).rows
    }
    expect(await count()).toEqual([[1, 0]])
    await writeRollouts(test.database, PROJECT, { ...DEFAULT_POLICY, rollouts: 'every-row' })
    expect(await count()).toEqual([[rows, 0]])
  })

  it('a run whose deployment went elsewhere is none of production, whatever no rule says', async () => {
    await see({ told: [WENT_ELSEWHERE] })
    expect(await explained('every-row')).toMatchObject({ counted: 1 })
    const { findings, ...nothing } = await explained()
    expect(nothing).toMatchObject({ value: null, counted: 0, total: 2 })
    // The run did not deploy to production, so it does not show which environment is production.
    expect(findings.map(({ seen }: any) => seen)).toEqual([
      '1 deployment went to `Staging`, which no rule maps to PRODUCTION.',
    ])
    expect(await get(`/v1/metrics/deployment-frequency/explanation?${RANGE}&environment=STAGING`)).toMatchObject({
      counted: 1,
    })
  })
})
