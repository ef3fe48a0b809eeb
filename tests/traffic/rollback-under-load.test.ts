import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { rollbackAction } from '../../traffic/model/action.ts'
import { describeOneWithTables } from '../support/databases.ts'
import { hasHaproxy, startProxy } from './support/haproxy.ts'
import { setStage } from './support/stage.ts'

if (!hasHaproxy && process.env.CI === 'true')
  throw new Error('HAProxy is not installed, and with CI=true it may not be left out.')

describeOneWithTables('under load', (database) => {
  const stage = setStage(database)
  const { start, go, shift, journal } = stage

  describe.skipIf(!hasHaproxy)('through HAProxy', () => {
    test('a rollback while another process verifies brings every request back', async () => {
      const row = await start()
      const { world } = stage
      const proxy = await startProxy()
      let told = Promise.resolve()
      let isLoaded = true
      // The proxy follows the rules of the load balancer, whoever changes them.
      const { putRule } = world.elb
      world.elb.putRule = (...call) => {
        putRule(...call)
        const [current, target] = world.liveWeights() ?? [100, 0]
        const { forwardConfig } = rollbackAction(world.plan, 'arn:of:the:target')
        const targetGroups = forwardConfig.targetGroups.map((group, index) => ({
          ...group,
          weight: index === 0 ? current : target,
        }))
        told = told.then(() => proxy.follow({ type: 'forward', forwardConfig: { ...forwardConfig, targetGroups } }))
      }
      try {
        await shift(row, 2)
        await told
        const load = (async () => {
          const total = { current: 0, target: 0, errors: 0 }
          while (isLoaded) {
            const counts = await proxy.count(40)
            for (const name of ['current', 'target', 'errors'] as const) total[name] += counts[name]
          }
          return total
        })()
        // The controller is away, so the next step stays in verification and keeps the switch busy.
        world.currentController.isPaused = true
        const advancing = go(row, 'advance').catch((error: Error) => error)
        const verifications = async () =>
          (await journal(row)).filter(({ kind, effect }) => kind === 'intent' && effect === 'rule-verified').length
        const before = 3
        while ((await verifications()) <= before) await sleep(5)
        const began = performance.now()
        const rollingBack = go(row, 'rollback')
        world.currentController.isPaused = false
        expect((await rollingBack).state).toBe('rolled-back')
        await told
        console.info(`back ${((performance.now() - began) / 1000).toFixed(2)} s after the command, under load`)
        expect(String(await advancing)).toContain('took over')
        expect(await proxy.count(500)).toEqual({ current: 500, target: 0, errors: 0 })
        isLoaded = false
        const { current, target, errors } = await load
        expect(errors).toBe(0)
        expect(current).toBeGreaterThan(0)
        expect(target).toBeGreaterThan(0)
      } finally {
        isLoaded = false
        await proxy.close()
      }
    })
  })
})
