/** Every figure of the answer is what the metrics say for the same filter. */
import fc from 'fast-check'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { write } from '../../src/database/write.ts'
import type { KeyAnswer } from '../../src/metrics/answer/answer.ts'
import { POLICIES } from '../../src/metrics/policy/policy.ts'
import { startTestApi, type TestApi } from '../api/support/test-api.ts'
import { calculate } from '../metrics/calculate.ts'
import { DAY, plantOrganisation, START } from '../metrics/organisation.ts'
import { describeEachDatabase } from '../support/databases.ts'

const STEPS = 40
const { rows, truths } = plantOrganisation(3, STEPS)
const PROJECTS = truths.map(({ project }) => project)
const FILTERS = 60

const filters = fc.record({
  project: fc.constantFrom(...PROJECTS),
  from: fc.integer({ min: -20, max: STEPS }),
  days: fc.integer({ min: 1, max: 50 }),
  environment: fc.constantFrom('PRODUCTION', 'STAGING'),
  policy: fc.constantFrom('project', ...POLICIES.map(({ name }) => name)),
})
const dayAt = (days: number) => new Date(START + days * DAY).toISOString().slice(0, 10)

describeEachDatabase('the answer', (test) => {
  let api: TestApi
  beforeAll(async () => {
    api = await startTestApi(test.database)
    await write(test.database, rows)
    for (const project of PROJECTS) await calculate(test.database, project)
  })
  afterAll(() => api.close())

  const get = async (path: string, query: Record<string, string>) => {
    const { status, body } = await api.ask('GET', `${path}?${new URLSearchParams(query)}`)
    expect(status, JSON.stringify(body)).toBe(200)
    return body
  }

  it('has the figures of the metrics, for whatever filter', async () => {
    await fc.assert(
      fc.asyncProperty(filters, async ({ project, from, days, environment, policy }) => {
        const shared = { project, environment, policy }
        const answer = await get('/v1/answer', { ...shared, from: dayAt(from), to: dayAt(from + days - 1) })
        for (const key of answer.keys as KeyAnswer[]) {
          for (const [period, measured] of [
            [answer.range, key.now],
            [answer.before, key.before],
          ] as const) {
            const range = { from: period.from, to: period.to }
            const { values } = await get(`/v1/metrics/${key.metric}`, { ...shared, ...range })
            const { value, inWords, counted, total, likely, noData, grades, noGrade } = values[0]
            expect([key.metric, measured]).toEqual([
              key.metric,
              { value: near(value), inWords, counted, total, likely: nearRange(likely), ...(noData && { noData }) },
            ])
            if (measured === key.now) expect([key.grades, key.noGrade]).toEqual([grades, noGrade])
          }
          const { bucket } = answer.when
          const { points } = await get(`/v1/metrics/${key.metric}/series`, {
            ...shared,
            from: answer.range.from,
            to: answer.range.to,
            bucket,
          })
          expect(key.trend.map(({ isPartial: _, ...point }) => point)).toEqual(
            points.map((point: { value: number | null }) => ({ ...point, value: near(point.value) })),
          )
          const { count } = (await api.ask('GET', `${key.items}&reason=counted`)).body
          expect(count).toBe(key.now.counted)
        }
      }),
      { numRuns: FILTERS },
    )
  })

  it('splits the lead time into stages that add up to it', async () => {
    const answer = await get('/v1/answer', { project: PROJECTS[0] as string, from: dayAt(20), to: dayAt(45) })
    const { stages } = answer.where
    const leadTime = answer.keys[0]
    const sum = (name: string) =>
      stages.reduce((all: number, stage: Record<string, number>) => all + (stage[name] ?? 0), 0)
    expect(leadTime.now.value).toBeGreaterThan(0)
    expect(sum('now')).toBeCloseTo(leadTime.now.value, 6)
    expect(sum('before')).toBeCloseTo(leadTime.before.value, 6)
    expect(sum('share')).toBeCloseTo(1, 9)
    expect(sum('change')).toBeCloseTo(leadTime.change.amount, 6)
    if (leadTime.change.amount !== 0) expect(sum('explains')).toBeCloseTo(1, 6)
  })
})

const near = (value: number | null) => (value === null ? null : expect.closeTo(value, 9))
const nearRange = (likely: KeyAnswer['now']['likely']) =>
  likely && { low: expect.closeTo(likely.low, 9), high: expect.closeTo(likely.high, 9) }
