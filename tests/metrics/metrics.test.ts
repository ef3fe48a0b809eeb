import fc from 'fast-check'
import { beforeAll, expect, it } from 'vitest'
import { write } from '../../src/database/write.ts'
import { lowerMedian } from '../../src/metrics/grades/frequency.ts'
import { fourKeys, metricNamed, metrics } from '../../src/metrics/index.ts'
import type { MetricFilter, Reading, Reason } from '../../src/metrics/metric.ts'
import { POLICIES, REFERENCE } from '../../src/metrics/policy/policy.ts'
import { readManySeries, readMetric } from '../../src/metrics/read/read.ts'
import { readItems } from '../../src/metrics/read/read-items.ts'
import { underPolicy } from '../../src/metrics/whole.ts'
import { describeEachWithTables } from '../support/databases.ts'
import { calculate } from './calculate.ts'
import { DAY, plantOrganisation, START, type TruePullRequest, type Truth } from './organisation.ts'

const STEPS = 40
const { rows, truths } = plantOrganisation(3, STEPS)
const everything = { from: new Date(START - 10 * DAY), to: new Date(START + (STEPS + 10) * DAY) }
const filterOf = (project: string, range = everything): MetricFilter => ({
  project,
  environment: 'PRODUCTION',
  policy: REFERENCE,
  ...range,
})

const mean = (values: number[]) =>
  values.length === 0 ? null : values.reduce((sum, each) => sum + each, 0) / values.length
/** The number of values 1 divided by the number of values 0. */
function ratio(values: number[]): number | null {
  const marked = values.filter((each) => each === 1).length
  return marked === values.length ? null : marked / (values.length - marked)
}
const known = (values: (number | null)[]) => values.filter((each) => each !== null)
const within =
  ({ from, to }: { from: Date; to: Date }) =>
  (time: number | null) =>
    time !== null && time >= from.getTime() && time <= to.getTime()
function tally(reasons: (Reason | null)[]): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const reason of reasons) if (reason) counts[reason] = (counts[reason] ?? 0) + 1
  return counts
}

/** Calculates value and reasons of each metric from the planted rows alone. */
function expected(
  { pullRequests, deployments, incidents, builds, issuesResolved, issuesOpen }: Truth,
  range: MetricFilter,
) {
  const isIn = within(range)
  const ranged = (reason: Reason | null, time: number | null): Reason | null =>
    reason ?? (isIn(time) ? null : 'outside_time_range')
  /** A row that counts in no range has its reason only in the range to which it belongs. */
  const timed = (reason: Reason | null, belongs: boolean): Reason | null =>
    reason !== null && !belongs ? 'other_time' : reason
  const isOfRange = ({ merged, created }: TruePullRequest) =>
    merged === null ? created <= range.to.getTime() : isIn(merged)
  const changes = pullRequests.map((each) => ({
    ...each,
    reason: ranged(timed(each.reason, isOfRange(each)), each.deployed),
  }))
  const shipped = deployments.map((each) => ({
    ...each,
    reason: ranged(timed(each.reason, isIn(each.finished)), each.finished),
  }))
  const counted = shipped.filter((each) => each.reason === null)
  const recovered = incidents.map((each) => {
    if (each.deployment === null) return { ...each, reason: timed(each.reason, isIn(each.created)) }
    if (!isIn(each.deployment)) return { ...each, reason: 'deployment_outside_time_range' as const }
    return { ...each, reason: ranged(each.reason, each.resolved) }
  })
  const merged = pullRequests.filter((each) => isIn(each.merged))
  const resolved = issuesResolved.filter((each) => isIn(each.at) && each.minutes >= 0)
  const built = builds.filter((each) => each.isCounted && isIn(each.finished))
  return {
    'change-lead-time': {
      value: lowerMedian(changes.filter((each) => each.reason === null).map((each) => each.cycle)),
      leftOut: tally(changes.map((each) => each.reason)),
    },
    'change-failure-rate': {
      value: mean(counted.map((each) => Number(each.hasFailed))),
      leftOut: tally(shipped.map((each) => each.reason)),
    },
    'rework-rate': { value: mean(counted.map((each) => Number(each.isRework))) },
    'failed-deployment-recovery-time': {
      value: lowerMedian(
        recovered
          .filter((each) => each.reason === null)
          .map((each) => Math.floor((each.resolved! - each.deployment!) / 60_000)),
      ),
      leftOut: tally(recovered.map((each) => each.reason)),
    },
    'pull-request-coding-time': { value: mean(known(merged.map((each) => each.coding))) },
    'pull-request-pickup-time': { value: mean(known(merged.map((each) => each.pickup))) },
    'pull-request-review-time': { value: mean(known(merged.map((each) => each.review))) },
    'pull-request-deploy-time': { value: mean(known(merged.map((each) => each.deploy))) },
    'pull-request-cycle-time': { value: mean(merged.map((each) => each.cycle)) },
    'pull-request-size': { value: mean(merged.map((each) => each.lines)) },
    'review-depth': { value: mean(merged.map((each) => each.comments)) },
    'pull-request-throughput': { value: merged.length },
    'issue-throughput': { value: resolved.length },
    'issue-lead-time': { value: lowerMedian(resolved.map((each) => each.minutes)) },
    'time-to-restore-service': { value: lowerMedian(resolved.map((each) => each.minutes)) },
    'incident-age': {
      value: lowerMedian(
        incidents
          .filter(
            (each) =>
              each.created <= range.to.getTime() && (each.resolved === null || each.resolved > range.to.getTime()),
          )
          .map((each) => Math.floor((range.to.getTime() - each.created) / 60_000)),
      ),
      total: issuesResolved.length + issuesOpen,
    },
    'build-duration': { value: mean(built.map((each) => each.seconds)) },
    'build-success-rate': { value: mean(built.map((each) => Number(each.hasSucceeded))) },
  }
}

describeEachWithTables('metrics of a planted organisation', (test) => {
  beforeAll(async () => {
    await write(test.database, rows)
    for (const { project } of truths) await calculate(test.database, project)
  })

  const ranges = {
    'the whole time': everything,
    'two weeks': { from: new Date(START + 9 * DAY), to: new Date(START + 23 * DAY) },
    'one moment': { from: new Date(START), to: new Date(START) },
  }
  for (const [name, range] of Object.entries(ranges)) {
    it.each(truths.map((truth) => truth.project))(`equal the truth over ${name} (%s)`, async (project) => {
      const filter = filterOf(project, range)
      const truth = expected(truths.find((each) => each.project === project)!, filter)
      for (const [metric, { value, leftOut }] of Object.entries(truth) as [
        string,
        { value: number | null; leftOut?: object },
      ][]) {
        const read = await readMetric(test.database, metricNamed(metric), filter, true)
        if (value === null) expect([metric, read.value]).toEqual([metric, null])
        else expect(read.value, metric).toBeCloseTo(value, 9)
        if (leftOut) expect([metric, tallyOf(read.leftOut)]).toEqual([metric, leftOut])
      }
    })
  }

  it.each(truths.map(({ project }) => project))(
    'read times of pull requests as the panels do, too (%s)',
    async (project) => {
      const { pullRequests } = truths.find((each) => each.project === project)!
      const range = ranges['two weeks']
      const isIn = within(range)
      const read = async (stage: string, reading: Reading) =>
        readMetric(test.database, metricNamed(`pull-request-${stage}-time`), { ...filterOf(project, range), reading })
      const merged = pullRequests.filter((each) => isIn(each.merged))
      const deployed = pullRequests.filter((each) => isIn(each.deployed))
      for (const stage of ['coding', 'pickup', 'review', 'deploy', 'cycle'] as const) {
        const times = (some: typeof pullRequests) => mean(some.map((each) => each[stage] ?? 0)) as number
        expect((await read(stage, 'panels-merged')).value, stage).toBeCloseTo(times(merged), 9)
        expect((await read(stage, 'panels-deployed')).value, stage).toBeCloseTo(times(deployed), 9)
        expect((await read(stage, 'panels-deployed')).counted).toBe(deployed.length)
      }
      expect(merged.some(({ pickup }) => pickup === null) && merged.some(({ deploy }) => deploy === null)).toBe(true)
      expect((await read('pickup', 'panels-merged')).value).toBeLessThan((await read('pickup', 'known')).value!)
    },
  )

  it('count deployments of a range of years, in value and series alike', async () => {
    const good = truths[0]!.deployments.filter((each) => each.reason === null)
    const filter = filterOf('project 0', { from: everything.from, to: new Date(START + 800 * DAY) })
    const read = await readMetric(test.database, metricNamed('deployment-frequency'), filter, true)
    expect(read.counted).toBe(good.length)
    const [points = []] = await readManySeries(test.database, metricNamed('deployment-frequency'), [filter], 'month')
    expect(points.reduce((sum, { value }) => sum + value!, 0)).toBe(good.length)
    expect(points.find(({ start }) => start.getTime() === START)!.value).toBe(
      good.filter(({ finished }) => finished < START + 31 * DAY).length,
    )
  })

  it('have no grade where nothing was deployed, and say why', async () => {
    const frequency = metricNamed('deployment-frequency')
    const before = filterOf('project 0', { from: new Date(START - 90 * DAY), to: new Date(START - 30 * DAY) })
    expect(await readMetric(test.database, frequency, before)).toMatchObject({
      value: null,
      counted: 0,
      frequency: { weekly: null, monthly: null, sixMonths: null },
      grades: [],
      noData: {
        because: expect.stringMatching(
          /^none of the \d+ deployments counts, .* for this reason: its date lies outside the time range$/,
        ),
      },
    })
    const testing = { ...filterOf('project 0'), environment: 'TESTING' }
    expect(await readMetric(test.database, frequency, testing)).toMatchObject({
      value: null,
      grades: [],
      noData: { because: expect.stringMatching(/went to another environment/) },
    })
    expect(await readMetric(test.database, frequency, filterOf('nobody knows it'))).toMatchObject({
      value: null,
      grades: [],
      noData: { because: 'no deployments are collected', remedy: expect.stringMatching(/^Add a source/) },
    })
    // The last three days of January with deployments, the first days of February without.
    const quiet = { from: new Date(START + 15 * DAY), to: new Date(START + 45 * DAY) }
    const { grades } = await readMetric(test.database, frequency, filterOf('project 0', quiet))
    expect(grades.map(({ band }) => band)).not.toContain('low')
  })

  it('count deployment days by week, with empty weeks as 0', async () => {
    const { deployments } = truths[0]!
    const frequency = await readMetric(test.database, metricNamed('deployment-frequency'), filterOf('project 0'))
    const good = deployments.filter((each) => each.reason === null)
    expect(frequency.counted).toBe(good.length)
    const weeks = new Map<number, Set<number>>()
    const days = Math.round((everything.to.getTime() - everything.from.getTime()) / DAY) + 1
    // 2024-01-01 is a Monday.
    const weekOf = (time: number) => Math.floor((time - START) / (7 * DAY))
    for (let back = 0; back < days; back++) weeks.set(weekOf(everything.to.getTime() - back * DAY), new Set())
    for (const { finished } of good) weeks.get(weekOf(finished))!.add(Math.floor(finished / DAY))
    expect(frequency.value).toBe(lowerMedian([...weeks.values()].map((each) => each.size)))
  })

  it('give a point for every month and week, and sums that agree with the whole', async () => {
    for (const bucket of ['week', 'month'] as const) {
      const filter = filterOf('project 1')
      const [points = []] = await readManySeries(
        test.database,
        metricNamed('pull-request-throughput'),
        [filter],
        bucket,
      )
      const whole = await readMetric(test.database, metricNamed('pull-request-throughput'), filter)
      expect(points.reduce((sum, point) => sum + point.counted, 0)).toBe(whole.counted)
      expect(points.length).toBe(bucket === 'month' ? 3 : 10)
      const merged = truths[1]!.pullRequests.flatMap((each) => (each.merged === null ? [] : [each.merged]))
      const ends = [...points.slice(1).map((point) => point.start.getTime()), Number.POSITIVE_INFINITY]
      expect(points.map((point) => point.value)).toEqual(
        points.map(
          ({ start }, index) => merged.filter((time) => time >= start.getTime() && time < ends[index]!).length,
        ),
      )
    }
    const [lead = []] = await readManySeries(
      test.database,
      metricNamed('change-lead-time'),
      [filterOf('project 1')],
      'month',
    )
    const january = truths[1]!.pullRequests.filter(
      (each) => each.deployed !== null && each.deployed < Date.UTC(2024, 1, 1),
    )
    expect(lead.find((point) => point.start.getUTCMonth() === 0 && point.start.getUTCFullYear() === 2024)!.value).toBe(
      lowerMedian(january.map((each) => each.cycle)),
    )
  })

  it('explain every number: items add up, and the counted ones give it back', async () => {
    const day = fc.integer({ min: -5, max: STEPS + 5 })
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...metrics.filter((metric) => metric.summary !== 'days')),
        fc.constantFrom(...truths.map((truth) => truth.project)),
        fc.constantFrom(...POLICIES),
        fc.tuple(day, day),
        async (metric, project, { policy }, [one, other]) => {
          const from = new Date(START + Math.min(one, other) * DAY)
          const to = new Date(START + Math.max(one, other) * DAY)
          const filter = { ...filterOf(project, { from, to }), policy }
          const { value, counted, total, leftOut } = await readMetric(test.database, metric, filter, true)
          const items = await readItems(test.database, metric, filter, { limit: 100_000, offset: 0 })
          expect(items.length).toBe(total)
          expect(new Set(items.map((item) => `${item.kind} ${item.id}`)).size).toBe(total)
          expect(leftOut.reduce((sum, each) => sum + each.count, counted)).toBe(total)
          expect(tally(items.map((item) => item.reason))).toEqual(tallyOf(leftOut))
          const kept = items.filter((item) => item.reason === null).map((item) => item.value as number)
          expect(kept.length).toBe(counted)
          const { summary } = underPolicy(metric, filter)
          const known = { median: lowerMedian, mean, ratio, count: () => kept.length, days: () => null }[summary](kept)
          if (kept.length === 0) expect(value).toBe(summary === 'count' && total > 0 ? 0 : null)
          else if (known === null) expect(value).toBeNull()
          else expect(value).toBeCloseTo(known, 9)
        },
      ),
      { numRuns: 40, seed: 7 },
    )
  })

  it('name the raw row that an item came from', async () => {
    const [item] = await readItems(test.database, metricNamed('change-lead-time'), filterOf('project 0'), {
      reason: 'counted',
      limit: 1,
      offset: 0,
    })
    expect(item).toMatchObject({ kind: 'pull_request', raw_table: '_raw_plant', raw_params: 'project 0' })
    expect(Number(item!.raw_id)).toBeGreaterThan(0)
  })

  it('have no value, and say why, where a project has nothing', async () => {
    for (const metric of metrics) {
      const read = await readMetric(test.database, metric, filterOf('nobody knows it'), true)
      expect([metric.name, read.value, read.total]).toEqual([metric.name, null, 0])
      expect(read.grades).toEqual([])
    }
    const staging = { ...filterOf('project 0'), environment: 'TESTING' }
    const lead = await readMetric(test.database, metricNamed('change-lead-time'), staging, true)
    expect(lead.value).toBeNull()
    expect(tallyOf(lead.leftOut)).toHaveProperty('no_deployments')
  })

  it('refuse a range that runs backwards', async () => {
    const backwards = filterOf('project 0', { from: everything.to, to: everything.from })
    await expect(readMetric(test.database, metricNamed('change-lead-time'), backwards)).rejects.toThrow(
      /runs backwards/,
    )
  })

  it('stay whole for a reader while everything is calculated again', async () => {
    const filter = filterOf('project 0')
    const before = await Promise.all(fourKeys.map((metric) => readMetric(test.database, metric, filter)))
    let isDone = false
    let reads = 0
    const reader = (async () => {
      while (!isDone) {
        for (const [index, metric] of fourKeys.entries()) {
          expect(await readMetric(test.database, metric, filter)).toEqual(before[index])
        }
        reads++
        await new Promise((resolve) => setTimeout(resolve, 10))
      }
    })()
    // Started together, so that a failing reader ends the test.
    await Promise.race([
      reader,
      (async () => {
        for (let turn = 0; turn < 3; turn++) await calculate(test.database, 'project 0')
      })(),
    ])
    isDone = true
    await reader
    expect(reads).toBeGreaterThan(0)
  })
})

const tallyOf = (leftOut: readonly { reason: Reason; count: number }[]) =>
  Object.fromEntries(leftOut.map(({ reason, count }) => [reason, count]))
