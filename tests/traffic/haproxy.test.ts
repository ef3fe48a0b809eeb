import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { actionKey, type ForwardAction } from '../../traffic/model/action.ts'
import type { RoutePlan } from '../../traffic/model/plan.ts'
import { renderPhase } from '../../traffic/render/render.ts'
import { simulate } from '../../traffic/render/simulate.ts'
import { hasHaproxy, startProxy, type WeightedProxy } from './support/haproxy.ts'
import { shopPlan } from './support/shop.ts'

const REQUESTS = 4000

if (!hasHaproxy && process.env.CI === 'true')
  throw new Error('HAProxy is not installed, and with CI=true it may not be left out.')

/** Reads the forward action back from the YAML of a step's rendered manifest. */
function annotationOf(plan: RoutePlan, step: number): ForwardAction {
  const file = renderPhase(plan, `step-${step}`).find(({ path }) => path.endsWith('current-ingress.yaml'))!
  return JSON.parse(parse(file.content).metadata.annotations[actionKey(plan.actionName)])
}

/** Four standard deviations of the count for a share in this many draws. */
const tolerance = (share: number, draws: number): number => 4 * Math.sqrt(draws * share * (1 - share))

describe.skipIf(!hasHaproxy)('real traffic through HAProxy, driven by the rendered annotation', () => {
  let proxy: WeightedProxy
  beforeEach(async () => {
    proxy = await startProxy()
  })
  afterEach(() => proxy.close())

  test('100/0, 90/10, 50/50 and 0/100', async () => {
    const plan = shopPlan()
    for (const [step, { weights }] of plan.steps.entries()) {
      await proxy.follow(annotationOf(plan, step))
      const counts = await proxy.count(REQUESTS)
      const share = weights.target / 100
      console.info(`${weights.current}/${weights.target}: ${counts.current}/${counts.target}`)
      expect(counts.errors).toBe(0)
      expect(counts.current + counts.target).toBe(REQUESTS)
      expect(Math.abs(counts.target - REQUESTS * share)).toBeLessThanOrEqual(tolerance(share, REQUESTS))
    }
  })

  test('weights that do not add up to 100 are shares all the same', async () => {
    const plan = shopPlan((copy) => {
      copy.steps[1]!.weights = { current: 8, target: 2 }
    })
    await proxy.follow(annotationOf(plan, 1))
    const { target } = await proxy.count(REQUESTS)
    expect(Math.abs(target - REQUESTS * 0.2)).toBeLessThanOrEqual(tolerance(0.2, REQUESTS))
  })

  describe.each(['disable', 'keep'] as const)('clients with a cookie, atFinalStep: %s', (atFinalStep) => {
    test('go where the simulator says', async () => {
      const clients = 500
      const plan = shopPlan((copy) => {
        copy.stickiness.atFinalStep = atFinalStep
        copy.steps[3]!.dwellSeconds = 120
      })
      const cookies: (string | undefined)[] = Array.from({ length: clients })
      const shares: number[] = []
      for (const step of [1, 2, 3]) {
        await proxy.follow(annotationOf(plan, step))
        let target = 0
        for (const [client, cookie] of cookies.entries()) {
          const answer = await proxy.ask(cookie)
          if (answer.cluster === 'target') target++
          cookies[client] = answer.cookie ?? cookie
        }
        shares.push(target / clients)
      }
      // No client leaves, so all keep the cookie of the first step.
      const simulated = simulate(plan, {
        clients,
        sessionSeconds: 1e12,
        thinkSeconds: 20,
        seed: 7,
        stepStartsSeconds: [0, 0, 600, 1200],
      })
      const expected = [9, 19, 21].map((minute) => simulated.minutes[minute]!.targetShare)
      console.info(
        `sticky (${atFinalStep}): real ${shares.join(', ')}; simulated ${expected.map((share) => share.toFixed(3)).join(', ')}`,
      )
      expect(expected[2]).toBe(atFinalStep === 'disable' ? 1 : expected[2])
      for (const [index, share] of shares.entries()) {
        // The real and the simulated share are one draw each, of the same number of clients.
        const spread = Math.max(tolerance(expected[index]!, clients), tolerance(0.1, clients)) / clients
        expect(Math.abs(share - expected[index]!)).toBeLessThanOrEqual(Math.SQRT2 * spread)
      }
      if (atFinalStep === 'disable') expect(shares[2]).toBe(1)
      else {
        expect(shares[2]).toBeLessThan(0.3)
        const { target } = await proxy.count(200)
        expect(target).toBe(200)
      }
    })
  })

  test('an empty target group answers its share with 503, as the simulator says', async () => {
    const plan = shopPlan((copy) => {
      copy.stickiness = { enabled: false, atFinalStep: 'disable' }
    })
    await proxy.follow(annotationOf(plan, 2))
    await proxy.stopTarget()
    const { errors, current } = await proxy.count(1000)
    const simulated = simulate(plan, {
      clients: 500,
      stepStartsSeconds: [0, 0, 0, 600],
      minutes: 10,
      outages: [{ group: 'target', fromSeconds: 0, toSeconds: 600 }],
    })
    const share = simulated.errors / simulated.requests
    expect(Math.abs(errors - 1000 * share)).toBeLessThanOrEqual(tolerance(0.5, 1000) + 10)
    expect(current).toBe(1000 - errors)
  })
})
