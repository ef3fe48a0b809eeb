/** No grade without evidence: the routes, the panels and plain arithmetic agree. */
import fc from 'fast-check'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { digestOf } from '../../src/alerts/digest.ts'
import { evaluate } from '../../src/alerts/evaluate.ts'
import { fourKeyLines } from '../../src/cli/metrics.ts'
import { findRow, selectRows } from '../../src/control-plane/store.ts'
import { type Dashboard, panelsOf } from '../../src/dashboards/dashboard.ts'
import { dora } from '../../src/dashboards/definitions/dora.ts'
import { doraDeploymentFrequency } from '../../src/dashboards/definitions/dora-deployment-frequency.ts'
import { readPanel } from '../../src/dashboards/read.ts'
import type { TableRow } from '../../src/database/table.ts'
import { write } from '../../src/database/write.ts'
import { projectMapping } from '../../src/domain/crossdomain.ts'
import { cicdDeploymentCommits, cicdScopes } from '../../src/domain/devops.ts'
import { boardIssues, boards, issues } from '../../src/domain/ticket.ts'
import { metricNamed } from '../../src/metrics/index.ts'
import { REFERENCE } from '../../src/metrics/policy/policy.ts'
import { readMetric } from '../../src/metrics/read/read.ts'
import { receipts } from '../../src/plugin-kit/raw/receipts.ts'
import { plugins } from '../../src/plugins/index.ts'
import { alertMessages, alerts } from '../../src/system/alerts.ts'
import { startTestApi, type TestApi } from '../api/support/test-api.ts'
import { describeEachWithTables } from '../support/databases.ts'
import { calculate } from './calculate.ts'

const DAY = 86_400_000
/** A Monday. */
const START = Date.UTC(2024, 0, 1)
const WEEKS = 26
const range = { from: new Date(START), to: new Date(START + WEEKS * 7 * DAY - 1) }
const KEYS = ['deployment-frequency', 'change-failure-rate']

/** Possible evidence of incidents: none, an issue that is an incident, or a list that contains only incidents and was or was not read. */
const TELLERS = ['nothing', 'issue', 'old issue', 'source', 'failed source', 'other list'] as const
type Teller = (typeof TELLERS)[number]
const isTelling = (teller: Teller) => teller === 'issue' || teller === 'old issue' || teller === 'source'

interface World {
  /** Times of deployments, in minutes since the start. */
  readonly minutes: readonly number[]
  readonly teller: Teller
}

function planted(project: string, { minutes, teller }: World): TableRow[] {
  const params = JSON.stringify({ ConnectionId: 1, ScopeId: project })
  const incident = issues.row({
    id: `${project} issue`,
    type: 'INCIDENT',
    created_date: new Date(teller === 'issue' ? START + 200 * DAY : START - 900 * DAY),
  })
  const receipt = receipts.row({
    plugin: 'pager',
    raw_table: '_raw_pager_incidents',
    params,
    subtask: 'collectIncidents',
    status: teller === 'failed source' ? 'failed' : 'complete',
    message: '',
    expected: 0,
    received: 0,
    stored: 0,
    since: null,
    until: null,
    requests: 1,
    counted_requests: 1,
    tells_incidents: teller !== 'other list',
    last_success_at: teller === 'failed source' ? null : new Date(START),
  })
  return [
    cicdScopes.row({ id: `${project} scope`, name: 'scope' }),
    boards.row({ id: `pager:Service:1:${project}`, name: 'board', _raw_data_params: params }),
    projectMapping.row({ project_name: project, table: 'cicd_scopes', row_id: `${project} scope` }),
    projectMapping.row({ project_name: project, table: 'boards', row_id: `pager:Service:1:${project}` }),
    ...minutes.map((minute, index) => {
      const id = `${project} ${index}`
      const finished_date = new Date(START + minute * 60_000)
      return cicdDeploymentCommits.row({
        id,
        cicd_deployment_id: id,
        cicd_scope_id: `${project} scope`,
        name: id,
        commit_sha: id,
        repo_url: 'r',
        result: 'SUCCESS',
        status: 'DONE',
        environment: 'PRODUCTION',
        created_date: finished_date,
        finished_date,
      })
    }),
    ...(teller.endsWith('issue')
      ? [incident, boardIssues.row({ board_id: `pager:Service:1:${project}`, issue_id: `${project} issue` })]
      : []),
    ...(teller.endsWith('source') || teller === 'other list' ? [receipt] : []),
  ]
}

/** Calculates the truth from the days alone, without any statement of Weir. */
function truthOf({ minutes, teller }: World) {
  const days = [...new Set(minutes.map((minute) => Math.floor(minute / 1440)))].sort((one, other) => one - other)
  const weeks = days.length === 0 ? 0 : Math.floor(((days.at(-1) as number) - (days[0] as number)) / 7) + 1
  const active = new Set(days.map((day) => Math.floor(day / 7))).size
  const isEnough = minutes.length >= 10 && weeks >= 4
  return {
    weeks,
    isSparse: active * 2 <= WEEKS,
    isFewerThanHalf: active * 2 < WEEKS,
    hasGrade: { 'deployment-frequency': isEnough, 'change-failure-rate': isEnough && isTelling(teller) },
  }
}

const spread = (count: number, everyDays: number) =>
  Array.from({ length: count }, (_, index) => index * everyDays * 1440)

describeEachWithTables('grades', (test) => {
  let api: TestApi
  beforeAll(async () => {
    api = await startTestApi(test.database)
  })
  afterAll(() => api.close())

  let count = 0
  async function plant(world: World): Promise<string> {
    const project = `project ${++count}`
    await write(test.database, planted(project, world))
    await calculate(test.database, project)
    return project
  }
  const filterOf = (project: string) => ({ project, environment: 'PRODUCTION', policy: REFERENCE, ...range })
  const rowsOf = async (dashboard: Dashboard, name: string, project: string, policy = REFERENCE) => {
    const panel = panelsOf(dashboard).find((each) => each.name === name)!
    const values = new Map([['project', [project]]].concat([['dora_report', ['2023']]]) as [string, string[]][])
    return (await readPanel(test.database, dashboard, panel, { ...range, values, policy })).rows
  }

  it('need ten deployments, four weeks and known incidents, and say what is missing', async () => {
    const read = async (world: World, metric: string) =>
      readMetric(test.database, metricNamed(metric), filterOf(await plant(world)))
    const tooFew = (words: string) => ({
      because: `${words} are too few; a grade needs at least 10 deployments within at least 4 weeks`,
      remedy: expect.stringMatching(/longer time range/),
    })
    const frequency = (minutes: readonly number[]) => read({ minutes, teller: 'nothing' }, 'deployment-frequency')
    expect((await frequency(spread(9, 7))).noGrade).toEqual(tooFew('9 deployments in 9 weeks'))
    expect((await frequency(spread(21, 1))).noGrade).toEqual(tooFew('21 deployments in 3 weeks'))
    expect((await frequency([0])).noGrade).toEqual(tooFew('1 deployment in 1 week'))
    const fine = await frequency(spread(10, 2.4))
    expect(fine.noGrade).toBeUndefined()
    expect(fine.grades.map(({ report }) => report)).toEqual(['2021', '2023'])
    for (const teller of TELLERS) {
      const project = await plant({ minutes: spread(60, 1), teller })
      const rate = await readMetric(test.database, metricNamed('change-failure-rate'), filterOf(project))
      // A panel has no room for the reason, but it also does not show a rate of zero.
      const said = teller === 'issue' ? '1.7 %' : isTelling(teller) ? '0 %' : 'no incident is known'
      expect([teller, await rowsOf(dora, 'change-failure-rate', project)]).toEqual([teller, [[rate.value, 60, said]]])
      const course = await rowsOf(dora, 'change-failure-rate-series', project)
      expect([teller, course.some(([, value]) => value !== null)]).toEqual([teller, isTelling(teller)])
      expect([teller, rate.grades.length]).toEqual([teller, isTelling(teller) ? 2 : 0])
      if (!isTelling(teller)) expect(rate.noGrade?.because).toMatch(/^no incident is known: no rule has matched one/)
      expect(rate.value, teller).toBeCloseTo(teller === 'issue' ? 1 / 60 : 0, 9)
    }
  })

  it('need incidents that could be attributed to something', async () => {
    const project = await plant({ minutes: spread(60, 1), teller: 'issue' })
    const policy = { ...REFERENCE, blameByService: true }
    const read = () => readMetric(test.database, metricNamed('change-failure-rate'), { ...filterOf(project), policy })
    const unnamed = await read()
    expect(unnamed).toMatchObject({ value: 0, grades: [] })
    expect(unnamed.noGrade?.because).toMatch(
      /^the policy attributes an incident to the service that its component names/,
    )
    const panel = async () => {
      const [, , rate] = await rowsOf(dora, 'grades', project, policy)
      return rate?.slice(1)
    }
    expect(await panel()).toEqual(['no grade', `${unnamed.noGrade?.because}. ${unnamed.noGrade?.remedy}`])
    const named = { id: `${project} issue`, component: 'Scope' }
    await test.database.kysely.updateTable('incidents').set(named).where('id', '=', named.id).execute()
    const { grades } = await read()
    expect(grades).toHaveLength(2)
    expect((await panel())?.[0]).toBe(grades[1]?.band)
  })

  it('of a metric without bands are not missed', async () => {
    const project = await plant({ minutes: [0], teller: 'nothing' })
    const read = await readMetric(test.database, metricNamed('rework-rate'), filterOf(project))
    expect(read).toMatchObject({ value: 0, grades: [] })
    expect(read).not.toHaveProperty('noGrade')
  })

  it('agree in routes, panels and the terminal, and the median week is said as it is', async () => {
    // 34 deployments within five of 26 weeks.
    const minutes = Array.from({ length: 34 }, (_, index) => index * 1440)
    const project = await plant({ minutes, teller: 'nothing' })
    await api.ask('POST', '/projects', { name: project })
    const asked = `project=${encodeURIComponent(project)}&from=${range.from.toISOString()}&to=${range.to.toISOString()}`
    const said = '34 deployments in 26 weeks'
    const { body } = await api.ask('GET', `/v1/metrics/deployment-frequency?${asked}`)
    expect(body.values[0]).toMatchObject({ value: 0, inWords: said, counted: 34, frequency: { weeks: 26 } })
    expect(body.values[0].grades).toHaveLength(2)
    const { body: keys } = await api.ask('GET', `/v1/four-keys?${asked}`)
    const [frequency, , failures] = keys.projects[0].keys
    expect(frequency).toMatchObject({ inWords: said })
    expect(failures).toMatchObject({ grades: [], noData: { because: 'no incidents are collected' } })
    expect(failures).not.toHaveProperty('noGrade')
    expect(await rowsOf(dora, 'deployment-frequency', project)).toEqual([[0, 34, said]])
    // January, a little of February, and more than four months without any.
    expect(await rowsOf(doraDeploymentFrequency, 'days-per-month', project)).toEqual([
      [0, 34, '34 deployments in 6 months'],
    ])
    const grades = await rowsOf(dora, 'grades', project)
    expect(grades).toHaveLength(4)
    expect(grades[0]?.[1]).toBe(frequency.grades[1].band)
    // “Fewer than once per month” next to 34 deployments: both say how the band is chosen.
    expect(frequency.grades[1]).toMatchObject({
      band: 'low',
      by: 'The band goes by the days with a deployment: 0 of the median week and 0 of the median month.',
    })
    expect(grades[0]?.[2]).toBe(
      'Fewer than once per month, by the days with a deployment: 0 of the median week and 0 of the median month',
    )
    const { body: course } = await api.ask('GET', `/v1/metrics/change-failure-rate/series?${asked}&bucket=month`)
    expect(new Set(course.points.map(({ value }: any) => value))).toEqual(new Set([null]))
    expect(new Set(failures.points.map(({ value }: any) => value))).toEqual(new Set([null]))
    const { body: days } = await api.ask('GET', `/v1/metrics/deployment-frequency/series?${asked}&bucket=month`)
    expect(days.points.map(({ value }: any) => value)).toContain(0)
    expect(grades[2]).toEqual([
      'Change failure rate',
      'no grade',
      expect.stringMatching(/^no incident is known: .* was collected\. Add a board to the project/),
    ])
  })

  it('are missed in the terminal, with the reason once', async () => {
    const now = Date.now()
    const recent = [1, 2, 3].map((days) => Math.floor((now - days * DAY - START) / 60_000))
    const project = await plant({ minutes: recent, teller: 'source' })
    const lines = await fourKeyLines({ database: test.database, plugins }, project)
    const text = lines.join('\n')
    expect(text).toMatch(/Deployment frequency +3 deployments in 2[67] weeks +no grade/)
    expect(text).toMatch(/Change failure rate +0 %, 3 deployments +no grade/)
    expect(text.match(/no grade: 3 deployments in 1 week are too few;/g)).toHaveLength(1)
  })

  it('are no part of digests and alerts, which say the rest in the same words', async () => {
    const project = await plant({ minutes: [0, 1440], teller: 'nothing' })
    await api.ask('POST', '/projects', { name: project })
    // One of the two weeks that the seven days touch has deployments.
    const { text } = await digestOf(
      { database: test.database, plugins, publicUrl: 'https://weir.example' },
      project,
      new Date(START + 4 * DAY),
    )
    expect(text).toMatch(/Deployment frequency is 2 deployments in 2 weeks/)
    expect(text).toMatch(/Nothing tells the recovery time and the change failure rate: no incident/)
    const nothing = await digestOf(
      { database: test.database, plugins, publicUrl: 'https://weir.example' },
      project,
      new Date(START + 100 * DAY),
    )
    expect(nothing.text).toMatch(/There is nothing to say yet: /)
    const settings = { metric: 'deployment-frequency', direction: 'below', threshold: 1, windowDays: 60, forDays: 0 }
    const target = { kind: 'webhook', url: 'http://127.0.0.1:9/', secret: 'the secret that signs messages' }
    const { body, status } = await api.ask('POST', '/v1/alerts', {
      kind: 'threshold',
      name: project,
      project,
      ...settings,
      target,
    })
    expect(status, JSON.stringify(body)).toBe(201)
    const row = (await findRow(test.database.kysely, alerts, { id: body.id }))!
    await evaluate({ ...api.control.context, publicUrl: 'https://weir.example' }, row, new Date(START + 30 * DAY))
    const said = { value: 0, inWords: expect.stringMatching(/^2 deployments in (9|10) weeks$/), state: 'broken' }
    const listed = (await api.ask('GET', '/v1/alerts')).body.alerts
    expect(listed.find(({ id }: any) => id === body.id)).toMatchObject(said)
    const [message] = await selectRows(test.database.kysely, alertMessages, (query) =>
      query.where('alert_id', '=', body.id),
    )
    expect(JSON.stringify(message)).toMatch(
      /Deployment frequency is 2 deployments in \d+ weeks over the last 60 days, below 1 day per week/,
    )
  })

  it('follow from the days of deployments and from what tells of incidents, whatever they are', async () => {
    const worlds = fc.record({
      minutes: fc
        .tuple(fc.nat(WEEKS * 7 - 1), fc.integer({ min: 1, max: WEEKS * 7 }), fc.integer({ min: 0, max: 40 }))
        .chain(([first, length, most]) =>
          fc.array(fc.integer({ min: first * 1440, max: Math.min(first + length, WEEKS * 7) * 1440 - 1 }), {
            maxLength: most,
          }),
        ),
      teller: fc.constantFrom(...TELLERS),
    })
    await fc.assert(
      fc.asyncProperty(worlds, async (world) => {
        const project = await plant(world)
        const truth = truthOf(world)
        const panel = await rowsOf(dora, 'grades', project)
        for (const metric of KEYS as (keyof typeof truth.hasGrade)[]) {
          const read = await readMetric(test.database, metricNamed(metric), filterOf(project))
          const hasValue = world.minutes.length > 0
          expect([metric, read.value !== null]).toEqual([metric, hasValue])
          expect([metric, read.grades.length > 0]).toEqual([metric, hasValue && truth.hasGrade[metric]])
          expect([metric, read.noGrade !== undefined]).toEqual([metric, hasValue && !truth.hasGrade[metric]])
          const [, band, meaning] = panel.find(([title]) => title === metricNamed(metric).title) ?? []
          const told = read.noGrade ? `${read.noGrade.because}. ${read.noGrade.remedy}` : undefined
          if (told) expect([metric, band, meaning]).toEqual([metric, 'no grade', told])
          else expect([metric, band]).toEqual([metric, read.grades.at(-1)?.band ?? 'no data'])
        }
        const { value, inWords } = await readMetric(
          test.database,
          metricNamed('deployment-frequency'),
          filterOf(project),
        )
        const [[, , words] = []] = await rowsOf(dora, 'deployment-frequency', project)
        expect([inWords, words]).toEqual(value === null ? ['no value', null] : [words, words])
        if (value === null) return
        if (truth.isFewerThanHalf || truth.isSparse) {
          expect(inWords).toMatch(new RegExp(`^${world.minutes.length} deployments? in ${WEEKS} weeks$`))
        } else expect(inWords).toMatch(/^[1-7] days? per week$/)
      }),
      { numRuns: process.env.FULL_SIZE === 'true' ? 300 : 25 },
    )
  }, 300_000)
})
