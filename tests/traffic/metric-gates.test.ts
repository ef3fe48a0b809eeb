import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { tick } from '../../traffic/engine/watch.ts'
import { judgeSamples, type MetricGate, type Sample } from '../../traffic/gates/metric-gates.ts'
import { gateSchema } from '../../traffic/model/gate-schema.ts'
import type { Plan } from '../../traffic/model/plan.ts'
import { openMetrics } from '../../traffic/vendors/metrics.ts'
import { type FakeCloudWatch, startFakeCloudWatch } from '../fake-aws/fake-cloudwatch.ts'
import { describeOneWithTables } from '../support/databases.ts'
import { hasPrometheus, startPrometheus } from './support/prometheus.ts'
import { setStage } from './support/stage.ts'

if (!hasPrometheus && process.env.CI === 'true')
  throw new Error('Prometheus is not installed, and with CI=true it may not be left out.')

const gateOf = (fields: object): MetricGate => gateSchema.parse(fields) as MetricGate
const errorRate = (more: object = {}) => gateOf({ kind: 'cloudWatch', metric: 'errorRate', max: 0.01, ...more })
const sample = (target: number | undefined, more: Partial<Sample> = {}): Sample => ({
  end: 60,
  target,
  current: 0.001,
  targetTraffic: 100,
  currentTraffic: 900,
  ...more,
})

describe('a verdict from periods', () => {
  const verdict = (gate: MetricGate, samples: readonly Sample[], isCovered = true) =>
    judgeSamples(gate, samples, isCovered)

  test('so many in a row fail; a good one begins a new count, a silent one does not', () => {
    const [bad, good, silent] = [sample(0.05), sample(0), sample(0, { targetTraffic: 3 })]
    const gate = errorRate({ failureLimit: 2 })
    expect(verdict(gate, [bad, good, bad, good])[0]).toBe('pass')
    expect(verdict(gate, [good, bad])).toEqual(['inconclusive', expect.stringContaining('1 of 2')])
    expect(verdict(gate, [bad, silent, bad])).toEqual([
      'fail',
      'errorRate of the target was 0.05 in the period until 00:01:00, at most 0.01 allowed (2 periods in a row)',
    ])
  })

  test('too little traffic says nothing, and says it only so often', () => {
    const silent = sample(0, { targetTraffic: 3 })
    expect(verdict(errorRate(), [silent, silent])).toEqual(['inconclusive', expect.stringContaining('50 needed')])
    expect(verdict(errorRate({ inconclusiveLimit: 2 }), [silent, silent])[0]).toBe('fail')
    expect(verdict(errorRate(), [sample(undefined)])[0]).toBe('inconclusive')
    expect(verdict(errorRate(), [])[0]).toBe('pending')
    expect(verdict(errorRate(), [sample(0)], false)[0]).toBe('pending')
  })

  test('the target is held against the current side of the same period', () => {
    const gate = gateOf({ kind: 'cloudWatch', metric: 'latency', maxRatio: 1.5, slack: 0.01, failureLimit: 1 })
    expect(verdict(gate, [sample(0.3, { current: 0.2 })])[0]).toBe('pass')
    expect(verdict(gate, [sample(0.4, { current: 0.2 })])).toEqual([
      'fail',
      expect.stringContaining('of the current side 0.2, at most 0.31 allowed'),
    ])
    expect(verdict(gate, [sample(0.4, { current: undefined })])[0]).toBe('inconclusive')
    expect(verdict(gate, [sample(0.4, { currentTraffic: 1 })])[0]).toBe('inconclusive')
    const count = gateOf({ kind: 'cloudWatch', metric: 'requests', min: 10, failureLimit: 1 })
    expect(verdict(count, [sample(undefined, { targetTraffic: 0 })])[0]).toBe('fail')
  })
})

describeOneWithTables('gates on CloudWatch', (database) => {
  const stage = setStage(database)
  const { start, go, shift, now, journal } = stage
  let cloudWatch: FakeCloudWatch
  beforeEach(async () => {
    cloudWatch = await startFakeCloudWatch()
  })
  afterEach(() => cloudWatch.close())

  const gated =
    (onFail: 'pause' | 'rollback', more: object = {}) =>
    (plan: Plan): void => {
      const gate = errorRate({ maxRatio: 2, slack: 0.01, max: undefined, failureLimit: 2, ...more })
      plan.steps[1] = { ...plan.steps[1]!, dwellSeconds: 300, onFail, gates: [gate] }
    }
  async function begin(change: (plan: Plan) => void) {
    const row = await start(change)
    process.env.AWS_ENDPOINT_URL_CLOUDWATCH = cloudWatch.url
    await shift(row, 1)
    return row
  }
  const currentArn = () =>
    [...stage.world.elb.rules.values()]
      .flatMap(({ action }) => ('groups' in action ? action.groups : []))
      .find(({ arn, weight }) => arn !== stage.group().arn && weight === 90)!.arn
  /** Adds `count` minutes of metrics from now on, with these requests and errors per minute. */
  function minutes(count: number, requests: readonly [number, number], errors: readonly [number, number]): void {
    const from = Math.ceil(stage.clock.getTime() / 60_000) * 60
    for (let minute = 0; minute < count; minute++)
      for (const [side, arn] of [currentArn(), stage.group().arn].entries()) {
        if (requests[side]! > 0) cloudWatch.put('RequestCount', arn, from + minute * 60, requests[side]!)
        if (errors[side]! > 0) cloudWatch.put('HTTPCode_Target_5XX_Count', arn, from + minute * 60, errors[side]!)
      }
    stage.clock = new Date(stage.clock.getTime() + (count + 2) * 60_000)
  }

  test('errors of the target roll back, and the number that did it is told', async () => {
    const row = await begin(gated('rollback'))
    minutes(2, [900, 100], [1, 6])
    expect((await tick(stage.engine, row.id)).state).toBe('rolled-back')
    expect(stage.world.liveWeights()).toEqual([100, 0])
    expect(await journal(row)).toContainEqual(
      expect.objectContaining({
        effect: 'reason',
        detail: expect.stringMatching(
          /cloudWatch errorRate: errorRate of the target was 0\.06 .* of the current side 0\.001111, at most 0\.01222 allowed \(2 periods in a row\)/,
        ),
      }),
    )
  })

  test('the same errors on both sides are not the fault of the target', async () => {
    const row = await begin(gated('rollback'))
    minutes(5, [900, 100], [54, 6])
    expect((await tick(stage.engine, row.id)).state).toBe('shifting')
    expect(await go(row, 'advance')).toMatchObject({ state: 'shifting', step: 2 })
  })

  test('silence, throttling and missing rights never pass', async () => {
    const row = await begin(gated('pause', { inconclusiveLimit: 4 }))
    minutes(3, [900, 10], [0, 0])
    await expect(go(row, 'advance')).rejects.toThrow('cloudWatch errorRate inconclusive: 10 requests')
    cloudWatch.refusal = { code: 'ThrottlingException', message: 'Rate exceeded' }
    expect((await tick(stage.engine, row.id)).state).toBe('shifting')
    cloudWatch.refusal = undefined
    stage.clock = new Date(stage.clock.getTime() + 60_000)
    expect(await tick(stage.engine, row.id)).toMatchObject({
      state: 'paused',
      problem: expect.stringMatching(/4 periods in a row said nothing: 0 requests/),
    })
    cloudWatch.refusal = { code: 'AccessDeniedException', message: 'not authorized' }
    await expect(go(row, 'advance')).rejects.toThrow('Cannot read CloudWatch: AccessDeniedException')
    expect(stage.world.liveWeights()).toEqual([90, 10])
  })

  test('clean-up waits until the old load balancer is quiet', async () => {
    const row = await begin((plan) => {
      plan.cleanup.maxRequestsPerMinute = 5
      plan.dns.quietMinutes = 10
    })
    await go(row, 'advance')
    await go(row, 'advance')
    await go(row, 'advance')
    stage.world.pointDnsAt('target')
    await go(row, 'dns')
    const { arn } = stage.group()
    const at = stage.clock.getTime() / 1000 + 300
    cloudWatch.put('RequestCount', arn, at, 7)
    stage.clock = new Date(stage.clock.getTime() + 12 * 60_000)
    const { confirm } = stage.confirmed()
    await expect(go(row, 'cleanup', { confirm })).rejects.toThrow(/still answers: 7 requests .* at most 5 allowed/)
    expect((await now(row)).state).toBe('dns-switched')
    cloudWatch.put('RequestCount', arn, at, 5)
    expect((await go(row, 'cleanup', { confirm })).state).toBe('cleaned-up')
  })
})

describe.skipIf(!hasPrometheus)('gates on a real Prometheus', () => {
  const end = Math.floor(Date.now() / 60_000) * 60 - 3600
  const span = { from: end - 300, to: end, periodSeconds: 60 }
  const lines: string[] = ['# TYPE requests counter']
  for (const [cluster, failures] of [
    ['blue', 0],
    ['green', 6],
  ] as const)
    for (const [code, growth] of [
      ['500', failures],
      ['200', 100 - failures],
    ] as const)
      for (let minute = 0; minute <= 10; minute++)
        lines.push(`requests_total{cluster="${cluster}",code="${code}"} ${minute * growth} ${end - 600 + minute * 60}`)
  const saved = process.env.PROMETHEUS_URL
  let server: Awaited<ReturnType<typeof startPrometheus>>
  beforeEach(async () => {
    server = await startPrometheus(`${lines.join('\n')}\n# EOF\n`)
    process.env.PROMETHEUS_URL = server.url
  })
  afterEach(async () => {
    if (saved === undefined) delete process.env.PROMETHEUS_URL
    else process.env.PROMETHEUS_URL = saved
    await server.close()
  })

  test('rates of both sides, point for point', async () => {
    const { prometheus } = openMetrics('eu-central-1')
    const rate = (cluster: string) =>
      `sum(increase(requests_total{cluster="${cluster}",code="500"}[2m])) / sum(increase(requests_total{cluster="${cluster}"}[2m]))`
    const green = await prometheus(rate('green'), span)
    expect([...green.keys()]).toEqual([240, 180, 120, 60, 0].map((before) => end - before))
    for (const value of green.values()) expect(value).toBeCloseTo(0.06)
    for (const value of (await prometheus(rate('blue'), span)).values()) expect(value).toBe(0)
    expect(await prometheus('rate(nothing_total[1m])', span)).toEqual(new Map())
    await expect(prometheus('requests_total', span)).rejects.toThrow('gives 4 series')
    await expect(prometheus('sum(', span)).rejects.toThrow('Prometheus refused sum( (HTTP 400)')
    delete process.env.PROMETHEUS_URL
    await expect(prometheus('up', span)).rejects.toThrow('set PROMETHEUS_URL')
    process.env.PROMETHEUS_URL = 'http://127.0.0.1:1'
    await expect(prometheus('up', span)).rejects.toThrow('Cannot read Prometheus')
  })
})
