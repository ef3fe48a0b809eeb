import { expect, test } from 'vitest'
import { describeStatus } from '../../src/cli/traffic/status-text.ts'
import { clockProblem } from '../../traffic/engine/aws-time.ts'
import { act } from '../../traffic/engine/engine.ts'
import type { Request } from '../../traffic/engine/engine-types.ts'
import { requestsByCluster } from '../../traffic/engine/requests-by-cluster.ts'
import { switchStatus } from '../../traffic/engine/status.ts'
import { describeSwitch } from '../../traffic/engine/store.ts'
import { tick } from '../../traffic/engine/watch.ts'
import { preflightReport } from '../../traffic/survey/preflight-report.ts'
import { ElbError } from '../fake-aws/fake-elbv2.ts'
import { describeOneWithTables } from '../support/databases.ts'
import { setStage } from './support/stage.ts'

const LIMIT = { timeout: 240_000 }
const HOUR_MS = 3_600_000

test('an answer that is a while ago makes no clock wrong', () => {
  const answered = Date.parse('2026-11-15T12:00:00Z')
  const clock = { last: answered, rules: answered, heard: performance.now() - 45_000 }
  expect(clockProblem(new Date(answered + 45_000), { clock })).toBeUndefined()
  expect(clockProblem(new Date(answered), { clock })).toContain('45 s behind the clock of AWS')
})

describeOneWithTables('the clock of an operator is wrong', (database) => {
  const stage = setStage(database)
  const { start, go, now } = stage
  const later = (seconds: number) => (stage.clock = new Date(stage.clock.getTime() + seconds * 1000))
  /** An engine on a laptop whose clock is ahead of AWS by `skewMs`. */
  const laptop = (skewMs: number) => ({ ...stage.engine, now: () => new Date(stage.clock.getTime() + skewMs) })
  const from = (skewMs: number, id: string, action: Request['action'], more: Partial<Request> = {}) =>
    act(laptop(skewMs), id, { action, actor: 'ada', ...more })
  const dwells = (plan: { steps: { weights: { target: number }; dwellSeconds: number }[] }) => {
    for (const step of plan.steps) if (step.weights.target > 0) step.dwellSeconds = 600
  }

  for (const [name, skew] of [
    ['two hours ahead', 2 * HOUR_MS],
    ['two hours behind', -2 * HOUR_MS],
  ] as const)
    test(`${name}: every dwell time is as long as it is`, LIMIT, async () => {
      const row = await start(dwells)
      await go(row, 'prepare')
      // One clock begins the step and the other judges it: first the laptop and then the server, and the other way round.
      await from(skew, row.id, 'advance')
      expect((await now(row)).verified_at).toEqual(stage.clock)
      for (const own of [skew, 0]) await expect(from(own, row.id, 'advance')).rejects.toThrow('must stay for 600 more')
      later(599)
      for (const own of [skew, 0]) await expect(from(own, row.id, 'advance')).rejects.toThrow('must stay for 1 more')
      later(1)
      expect(await from(skew, row.id, 'advance')).toMatchObject({ step: 2, verified_at: stage.clock })
    })

  test('a server with a wrong clock moves on when the time is over, not before', LIMIT, async () => {
    const row = await start((plan) => {
      dwells(plan)
      plan.advance = 'auto'
    })
    await go(row, 'prepare')
    await go(row, 'advance')
    later(590)
    expect(await tick(laptop(2 * HOUR_MS), row.id)).toMatchObject({ step: 1 })
    later(10)
    expect(await tick(laptop(-2 * HOUR_MS), row.id)).toMatchObject({ step: 2 })
  })

  test('the quiet time before clean-up, and the TTL of a record', LIMIT, async () => {
    const row = await start((plan) => {
      plan.dns.quietMinutes = 60
      plan.dns.route53 = { hostedZoneId: 'Z0123456789SHOP', txtPrefix: '', txtSuffix: '' }
    })
    await stage.shift(row, 4)
    await expect(from(2 * HOUR_MS, row.id, 'dns')).rejects.toThrow('Wait 60 s more')
    await expect(from(2 * HOUR_MS, row.id, 'dns')).rejects.toThrow('Wait 60 s more')
    later(60)
    expect(await from(2 * HOUR_MS, row.id, 'dns')).toMatchObject({ dns_confirmed_at: stage.clock })
    const cleanUp = (skew: number) => from(skew, row.id, 'cleanup', { confirm: stage.world.plan.name })
    for (const skew of [2 * HOUR_MS, 0]) await expect(cleanUp(skew)).rejects.toThrow('Wait 60 more minutes')
    later(3600)
    expect((await cleanUp(-2 * HOUR_MS)).state).toBe('cleaned-up')
  })

  test('a look-up that takes its time shortens no quiet time', LIMIT, async () => {
    const row = await start((plan) => (plan.dns.quietMinutes = 60))
    await stage.shift(row, 4)
    stage.world.pointDnsAt('target')
    const connect: typeof stage.engine.connect = async (...call) => {
      const outside = await stage.engine.connect(...call)
      const answersOf = (name: string) => {
        later(240)
        return outside.answersOf(name)
      }
      return { ...outside, answersOf }
    }
    const after = await act({ ...stage.engine, connect }, row.id, { action: 'dns', actor: 'ada' })
    expect(after.dns_confirmed_at).toEqual(stage.clock)
  })

  test('requests are asked for by the clock of AWS', LIMIT, async () => {
    const row = await start((plan) => (plan.cleanup.maxRequestsPerMinute = 5))
    await stage.shift(row, 1)
    const connect: typeof stage.engine.connect = async (...call) => {
      const outside = await stage.engine.connect(...call)
      const metrics = { ...outside.metrics, cloudWatch: async () => [] }
      return { ...outside, metrics }
    }
    for (const skew of [2 * HOUR_MS, -2 * HOUR_MS]) {
      const { minutes, problem } = await requestsByCluster({ ...laptop(skew), connect }, await now(row))
      expect([problem, minutes.at(-1)?.at]).toEqual([null, new Date(stage.clock.getTime() - 120_000)])
    }
  })

  test('while AWS does not say what time it is, nothing moves on', LIMIT, async () => {
    const row = await start((plan) => {
      dwells(plan)
      plan.verifyTimeoutSeconds = 1
    })
    await go(row, 'prepare')
    await go(row, 'advance')
    stage.world.elb.intercept = () => new ElbError('Throttling', 'Rate exceeded')
    await expect(from(2 * HOUR_MS, row.id, 'advance')).rejects.toThrow('Throttling')
    expect(await now(row)).toMatchObject({ step: 1 })
    stage.world.elb.intercept = () => undefined
    expect(stage.world.liveWeights()).toEqual([90, 10])
  })

  test('status and preflight tell it; half a minute is no matter', LIMIT, async () => {
    const row = await start(dwells)
    await go(row, 'prepare')
    const report = async (skew: number) =>
      (
        await preflightReport(
          stage.world.plan,
          await stage.engine.connect(stage.world.plan),
          await now(row),
          laptop(skew).now(),
        )
      ).filter(({ check }) => check === 'clock')
    const text = async (skew: number) => {
      const live = await switchStatus(laptop(skew), row)
      return { live, words: describeStatus(describeSwitch(row), live) }
    }
    await go(row, 'advance')
    Object.assign(row, await now(row))
    expect(await report(2 * HOUR_MS)).toEqual([
      {
        check: 'clock',
        status: 'warning',
        message:
          'the clock of the machine that runs Weir is 120 minutes ahead of the clock of AWS: set it, for example with NTP. Dwell, quiet and TTL times go by AWS',
      },
    ])
    expect(await report(-31_000)).toMatchObject([{ message: expect.stringContaining('31 s behind the clock of AWS') }])
    expect(await report(29_000)).toMatchObject([{ status: 'ok' }])
    const wrong = await text(2 * HOUR_MS)
    expect(wrong.words).toContain('clock: the clock of the machine that runs Weir is 120 minutes ahead')
    expect(wrong.live).toMatchObject({ secondsLeft: 600 })
    expect((await text(0)).live).toMatchObject({ clock: null, secondsLeft: 600 })
  })
})
