import { expect, test } from 'vitest'
import { tick } from '../../traffic/engine/watch.ts'
import { describeOneWithTables } from '../support/databases.ts'
import { setStage } from './support/stage.ts'

const LIMIT = { timeout: 240_000 }

describeOneWithTables('somebody changes the weights at AWS', (database) => {
  const stage = setStage(database)
  const { start, go, shift, now, journal, setWeights } = stage
  const leaveTargetOut = () => {
    for (const rule of stage.world.elb.rules.values())
      if ('groups' in rule.action && rule.action.groups.length > 1)
        rule.action = { ...rule.action, groups: [{ ...rule.action.groups[0]!, weight: 100 }] }
  }
  const written = () => stage.ingress().metadata.annotations['alb.ingress.kubernetes.io/actions.web-switch']
  const REFUSAL =
    /Drift: 1 of 1 rules of the load balancer are not as Weir left them; rule .* has weights 70\/30.*wanted 90\/10.*Somebody changed this at AWS.*Nothing was overwritten.*--accept-live.*roll back/s

  test('without a server: advance is refused, and carried out by who has seen it', LIMIT, async () => {
    const row = await start()
    await shift(row, 1)
    const before = written()
    setWeights(70, 30)
    await expect(go(row, 'advance')).rejects.toMatchObject({
      trouble: 'conflict',
      message: expect.stringMatching(REFUSAL),
    })
    expect(written()).toBe(before)
    expect(stage.world.liveWeights()).toEqual([70, 30])
    // Repeating the request changes nothing, and neither does accepting the live weights without a reason.
    await expect(go(row, 'advance')).rejects.toThrow('Drift')
    await expect(go(row, 'advance', { acceptLive: true })).rejects.toThrow('say why with --reason')
    expect(stage.world.liveWeights()).toEqual([70, 30])
    const after = await go(row, 'advance', { acceptLive: true, reason: 'bob tried something' })
    expect(after).toMatchObject({ state: 'shifting', step: 2, problem: null })
    expect(stage.world.liveWeights()).toEqual([50, 50])
    expect(await journal(row)).toContainEqual(
      expect.objectContaining({ effect: 'drift-overridden', detail: expect.stringContaining('weights 70/30') }),
    )
  })

  test('with a server: it pauses, and advance is refused all the same', LIMIT, async () => {
    const row = await start()
    await shift(row, 1)
    setWeights(70, 30)
    expect(await tick(stage.engine, row.id)).toMatchObject({
      state: 'paused',
      problem: expect.stringMatching(/^Drift: .*weights 70\/30/),
    })
    await expect(go(row, 'advance')).rejects.toThrow(REFUSAL)
    expect(stage.world.liveWeights()).toEqual([70, 30])
    expect((await go(row, 'rollback')).state).toBe('rolled-back')
    expect(stage.world.liveWeights()?.[1] ?? 0).toBe(0)
  })

  test('a target group that was taken out of the rule, and the last look before the end', LIMIT, async () => {
    const row = await start((plan) => (plan.verifyTimeoutSeconds = 6))
    await shift(row, 1)
    leaveTargetOut()
    await expect(go(row, 'advance')).rejects.toThrow('no rule of the load balancer names the target group any more')
    expect((await now(row)).state).toBe('paused')
    // Nobody knows whether targets without a rule are healthy: the operator has to restore the rule or roll back.
    await expect(go(row, 'advance', { acceptLive: true, reason: 'test' })).rejects.toThrow('TS-H01')
    stage.world.currentController.reconcile()
    expect(await go(row, 'advance')).toMatchObject({ step: 2 })
    await go(row, 'advance')
    setWeights(10, 90)
    await expect(go(row, 'advance')).rejects.toThrow(/Drift: 1 of 1 rules .*weights 10\/90/)
    // The annotation is already right, so the controller sees nothing to do.
    await expect(go(row, 'advance', { acceptLive: true, reason: 'test' })).rejects.toThrow('--directly --reason')
    const last = await go(row, 'advance', { acceptLive: true, directly: true, reason: 'test' })
    expect(last.state).toBe('switched')
    expect(stage.world.liveWeights()).toEqual([0, 100])
  })
})
