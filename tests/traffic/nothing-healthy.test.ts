import { expect, test } from 'vitest'
import { editsOf } from '../../traffic/engine/submit-plan.ts'
import { tick } from '../../traffic/engine/watch.ts'
import { planFromText } from '../../traffic/lint/require-plan.ts'
import { initialPlan, PRESETS } from '../../traffic/model/init.ts'
import type { RoutePlan } from '../../traffic/model/plan.ts'
import { ElbError } from '../fake-aws/fake-elbv2.ts'
import { describeOneWithTables } from '../support/databases.ts'
import { setStage } from './support/stage.ts'

const LIMIT = { timeout: 240_000 }

test('every preset says what happens when a step fails', () => {
  for (const preset of Object.keys(PRESETS))
    for (const { weights, onFail } of planFromText(initialPlan('shop', preset)).steps)
      if (weights.target > 0) expect([preset, onFail]).toEqual([preset, 'rollback'])
})

describeOneWithTables('a share of the traffic for a target without any healthy pod', (database) => {
  const stage = setStage(database)
  const { start, go, shift, now, journal } = stage
  const pauses = (plan: RoutePlan) => {
    for (const step of plan.steps) step.onFail = 'pause'
  }
  const isBack = () => stage.world.liveWeights()?.[1] === 0

  test('the server rolls back, although the plan says nothing about it', LIMIT, async () => {
    const row = await start()
    await shift(row, 2)
    stage.setHealth('unhealthy')
    expect((await tick(stage.engine, row.id)).state).toBe('rolled-back')
    expect(isBack()).toBe(true)
    expect(await journal(row)).toContainEqual(
      expect.objectContaining({ effect: 'reason', detail: expect.stringContaining('0 of 2 targets are healthy') }),
    )
  })

  test('without a server, advance rolls back instead of going on', LIMIT, async () => {
    const row = await start()
    await shift(row, 1)
    stage.setHealth('unhealthy')
    await expect(go(row, 'advance')).rejects.toThrow('Traffic was rolled back.')
    expect((await now(row)).state).toBe('rolled-back')
    expect(isBack()).toBe(true)
  })

  test('without a server, a step that stopped half-way goes back, too', LIMIT, async () => {
    const row = await start((plan) => (plan.verifyTimeoutSeconds = 1))
    await shift(row, 1)
    stage.world.currentController.isPaused = true
    await expect(go(row, 'advance')).rejects.toThrow('rule-verified was not reached')
    expect(await now(row)).toMatchObject({ state: 'paused', step: 2, verified_at: null })
    stage.world.currentController.isPaused = false
    stage.setHealth('unhealthy')
    await expect(go(row, 'advance')).rejects.toThrow('Traffic was rolled back.')
    expect((await now(row)).state).toBe('rolled-back')
    expect(isBack()).toBe(true)
  })

  test('a step whose targets die while it is made goes back at once, not when its time is over', LIMIT, async () => {
    const row = await start((plan) => (plan.verifyTimeoutSeconds = 3600))
    await shift(row, 1)
    // The targets become unhealthy just when AWS is asked about them after the weights of the step were written.
    stage.world.elb.intercept = (action) => {
      if (action === 'DescribeTargetHealth' && stage.world.liveWeights()?.[1] === 50) stage.setHealth('unhealthy')
      return undefined
    }
    await expect(go(row, 'advance')).rejects.toThrow(/none of 2 targets is healthy.*Traffic was rolled back/)
    expect((await now(row)).state).toBe('rolled-back')
    expect(isBack()).toBe(true)
  })

  test('who wrote pause is obeyed: server and command only pause', LIMIT, async () => {
    const row = await start(pauses)
    await shift(row, 1)
    stage.setHealth('unhealthy')
    await expect(go(row, 'advance')).rejects.toThrow('The switch is paused.')
    expect(await tick(stage.engine, row.id)).toMatchObject({ state: 'paused' })
    expect(stage.world.liveWeights()).toEqual([90, 10])
  })

  test('a plan that was stored when pause was the default is not taken for edited', LIMIT, async () => {
    const row = await start(pauses)
    const file = structuredClone(stage.world.plan)
    for (const step of file.steps) delete step.onFail
    expect(editsOf(row, file)).toEqual([])
    file.steps[1]!.onFail = 'rollback'
    expect(editsOf(row, file)).toHaveLength(1)
  })

  test('where nobody can look at the targets of a step, it goes back when its time is over', LIMIT, async () => {
    const row = await start((plan) => {
      plan.verifyTimeoutSeconds = 1
      for (const step of plan.steps) step.onFail = 'rollback'
    })
    await shift(row, 1)
    stage.world.elb.intercept = (action) =>
      action === 'DescribeTargetHealth' && stage.world.liveWeights()?.[1] === 50
        ? new ElbError('Throttling', 'Rate exceeded')
        : undefined
    await expect(go(row, 'advance')).rejects.toThrow(
      /^Step 2 failed: targets-healthy was not reached after 1 s: .* Rate exceeded\. Traffic was rolled back\.$/,
    )
    expect(isBack()).toBe(true)
  })

  test('where a few are left it pauses', LIMIT, async () => {
    const row = await start((plan) => (plan.targetGroup.minHealthy = 2))
    await shift(row, 1)
    stage.group().targets.set([...stage.group().targets.keys()][0]!, 'unhealthy')
    expect(await tick(stage.engine, row.id)).toMatchObject({
      state: 'paused',
      problem: expect.stringContaining('1 of 2 targets are healthy'),
    })
  })
})
