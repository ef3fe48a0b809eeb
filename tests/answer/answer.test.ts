/** Every figure of the answer is what the metrics say for the same filter. */
import fc from 'fast-check'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { readKeys } from '../../src/control-plane/answer/read-keys.ts'
import { measure } from '../../src/control-plane/projects/measure.ts'
import { write } from '../../src/database/write.ts'
import type { KeyAnswer } from '../../src/metrics/answer/answer.ts'
import { during, periodBefore } from '../../src/metrics/answer/calendar.ts'
import { KEYS, type KeyRead } from '../../src/metrics/answer/keys.ts'
import { POLICIES } from '../../src/metrics/policy/policy.ts'
import type { Explanation } from '../../src/metrics/read/read.ts'
import { type Asked, wholeOfParts } from '../../src/metrics/whole.ts'
import { plugins } from '../../src/plugins/index.ts'
import { startTestApi, type TestApi } from '../api/support/test-api.ts'
import { calculate } from '../metrics/calculate.ts'
import { DAY, plantOrganisation, START } from '../metrics/organisation.ts'
import { describeEachDatabase } from '../support/databases.ts'

const SEED = 37
const STEPS = 40
const { rows, truths } = plantOrganisation(3, STEPS)
const PROJECTS = truths.map(({ project }) => project)
const FILTERS = process.env.FULL_SIZE === 'true' ? 500 : 50
/** Filters that the metrics read together, so that 500 of them take seconds. */
const TOGETHER = 25
/** The number of filters that are asked over REST as well. */
const OVER_REST = 5

const filters = fc.record({
  /** One project, or several as one. */
  projects: fc.subarray(PROJECTS, { minLength: 1 }),
  from: fc.integer({ min: -20, max: STEPS }),
  days: fc.integer({ min: 1, max: 50 }),
  environment: fc.constantFrom('PRODUCTION', 'STAGING'),
  policy: fc.constantFrom(...POLICIES),
})
type Generated = typeof filters extends fc.Arbitrary<infer Value> ? Value : never

const dayAt = (days: number) => new Date(START + days * DAY).toISOString().slice(0, 10)

function askedBy({ projects, from, days, environment, policy: { policy } }: Generated): Asked {
  const start = new Date(START + from * DAY)
  const shared = { environment, from: start, to: new Date(start.getTime() + days * DAY - 1) }
  const parts = projects.map((project) => ({ ...shared, project, policy }))
  return wholeOfParts(shared, parts)
}

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

  it(`has the figures of the metrics, for ${FILTERS} filters`, async () => {
    const context = { database: test.database, plugins }
    for (let batch = 0; batch < FILTERS / TOGETHER; batch++) {
      const asked = fc.sample(filters, { numRuns: TOGETHER, seed: SEED + batch }).map(askedBy)
      const earlier = asked.map((filter) => during(filter, periodBefore(filter)))
      const reads = await Promise.all(asked.map((filter) => readKeys(context, filter, periodBefore(filter))))
      for (const [place, { metric, group }] of KEYS.entries()) {
        const now = await measure(context, metric, asked)
        const past = await measure(context, metric, earlier)
        for (const [index, filter] of asked.entries()) {
          const read = (reads[index] as KeyRead[])[place] as KeyRead
          expect(read.group).toBe(group)
          expect([filter, metric.name, plain(read.now.explained)]).toEqual([
            filter,
            metric.name,
            comparable(now[index] as Explanation),
          ])
          // The period before has no grades, which nobody sees.
          const { noGrade: _, ...before } = comparable(past[index] as Explanation)
          expect(plain(read.before.explained)).toEqual({ ...before, grades: [] })
        }
      }
    }
  })

  it('says over REST what the metrics say there: values, ranges, trends and items', async () => {
    for (const { projects, from, days, environment, policy } of fc.sample(filters, {
      numRuns: OVER_REST,
      seed: SEED,
    })) {
      const whose: Record<string, string> = projects.length === 1 ? { project: projects[0] as string } : { all: 'true' }
      const shared = { ...whose, environment, policy: policy.name }
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
        const range = { from: answer.range.from, to: answer.range.to, bucket: answer.when.bucket }
        const { points } = await get(`/v1/metrics/${key.metric}/series`, { ...shared, ...range })
        expect(key.trend.map(({ isPartial: _, ...point }) => point)).toEqual(
          points.map((point: { value: number | null }) => ({ ...point, value: near(point.value) })),
        )
        const { count } = (await api.ask('GET', `${key.items}&reason=counted`)).body
        expect(count).toBe(key.now.counted)
      }
    }
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

/** A missing grade is missing, not undefined. */
const plain = ({ noGrade, ...explained }: Explanation) => ({ ...explained, ...(noGrade && { noGrade }) })
const comparable = (explained: Explanation) => ({ ...plain(explained), value: near(explained.value) })
