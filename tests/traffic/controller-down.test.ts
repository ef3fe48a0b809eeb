import { expect, test } from 'vitest'
import { startWatch, tick } from '../../traffic/engine/watch.ts'
import { ElbError } from '../fake-aws/fake-elbv2.ts'
import { describeOneWithTables } from '../support/databases.ts'
import { setStage } from './support/stage.ts'

const ACTION = 'alb.ingress.kubernetes.io/actions.web-switch'
const LIMIT = { timeout: 240_000 }
/** From the command until the rules are right. */
const LONGEST_MS = 10_000

describeOneWithTables('the controller of the current cluster is down', (database) => {
  const stage = setStage(database)
  const { start, go, shift, now, journal } = stage
  const down = () => (stage.world.currentController.isPaused = true)
  const backAgain = () => {
    stage.world.currentController.isPaused = false
    stage.world.currentController.reconcile()
  }
  const isBack = () => stage.world.liveWeights()?.[1] === 0
  const until = async (condition: () => boolean): Promise<number> => {
    const began = Date.now()
    while (!condition()) await new Promise((resolve) => setTimeout(resolve, 20))
    return Date.now() - began
  }
  /** Refuses writes like a webhook whose server is down or says no. */
  const refuseWrites = (status: number) => {
    stage.world.current.intercept = (method) => (method === 'PATCH' ? status : undefined)
  }
  const weightsWritten = (): number[] =>
    JSON.parse(stage.ingress().metadata.annotations[ACTION]).forwardConfig.targetGroups.map(({ weight }: any) => weight)

  test('the write is accepted and nobody reconciles: rules right in time, and when it is back', LIMIT, async () => {
    const row = await start()
    await shift(row, 1)
    down()
    const rollingBack = go(row, 'rollback')
    expect(await until(isBack)).toBeLessThan(LONGEST_MS)
    expect((await rollingBack).state).toBe('rolled-back')
    expect(weightsWritten()).toEqual([100, 0])
    expect(stage.world.liveWeights()).toEqual([100, 0])
    expect(await journal(row)).toContainEqual(
      expect.objectContaining({
        kind: 'result',
        effect: 'balancer-directly',
        detail: '1 rule changed at the load balancer itself, because they did not follow within 5 s',
      }),
    )
    backAgain()
    expect(stage.world.liveWeights()).toEqual([100, 0])
  })

  for (const status of [500, 403, 422])
    test(
      `a webhook refuses the write with ${status}: rules right in time, watched until the annotation holds`,
      LIMIT,
      async () => {
        const row = await start()
        await shift(row, 1)
        down()
        refuseWrites(status)
        const rollingBack = go(row, 'rollback')
        expect(await until(isBack)).toBeLessThan(LONGEST_MS)
        // The controller comes back before its webhook does, and reads the old annotation.
        backAgain()
        expect(isBack()).toBe(false)
        expect(await until(isBack)).toBeLessThan(LONGEST_MS)
        stage.world.current.intercept = () => undefined
        expect((await rollingBack).state).toBe('rolled-back')
        stage.world.currentController.reconcile()
        expect(stage.world.liveWeights()).toEqual([100, 0])
        expect(weightsWritten()).toEqual([100, 0])
      },
    )

  test('nobody mends the webhook: the command says who must repeat it, and the server does', LIMIT, async () => {
    const row = await start((plan) => (plan.verifyTimeoutSeconds = 2))
    await shift(row, 1)
    down()
    refuseWrites(403)
    await expect(go(row, 'rollback')).rejects.toMatchObject({
      trouble: 'timeout',
      message: expect.stringMatching(
        /HTTP 403.*already sends everything to cluster blue.*A running server \(npm start\) keeps watching.*npx weir traffic rollback/s,
      ),
    })
    expect(isBack()).toBe(true)
    expect((await now(row)).state).toBe('rolling-back')
    backAgain()
    expect(isBack()).toBe(false)
    const watch = startWatch({ ...stage.engine, watchMs: 20 }, () => {})
    expect(await until(isBack)).toBeLessThan(LONGEST_MS)
    stage.world.current.intercept = () => undefined
    while ((await now(row)).state !== 'rolled-back') await new Promise(setImmediate)
    await watch.stop()
    stage.world.currentController.reconcile()
    expect(stage.world.liveWeights()).toEqual([100, 0])
  })

  test(
    'weights that come back after the rollback, whoever sets them, are taken back by the server',
    LIMIT,
    async () => {
      const row = await start()
      await shift(row, 1)
      await go(row, 'rollback')
      const entries = (await journal(row)).length
      const recorded = await stage.deployments(row)
      expect(recorded).toMatchObject([{ result: 'FAILURE' }])
      stage.clock = new Date(stage.clock.getTime() + 3_600_000)
      expect(await tick(stage.engine, row.id)).toMatchObject({ state: 'rolled-back' })
      expect(await journal(row)).toHaveLength(entries)
      stage.setWeights(50, 50)
      expect(await tick(stage.engine, row.id)).toMatchObject({ state: 'rolled-back', problem: null })
      expect(stage.world.liveWeights()).toEqual([100, 0])
      expect(await stage.deployments(row)).toEqual(recorded)
    },
  )

  test('a missing right is named, and the rollback waits for the controller', LIMIT, async () => {
    const row = await start((plan) => (plan.verifyTimeoutSeconds = 2))
    await shift(row, 1)
    down()
    stage.world.elb.intercept = (action) =>
      action === 'ModifyRule' ? new ElbError('AccessDenied', 'not authorized') : undefined
    await expect(go(row, 'rollback')).rejects.toMatchObject({
      trouble: 'timeout',
      message: expect.stringMatching(
        /rule-rolled-back was not reached.*could not be changed directly.*Grant the right elasticloadbalancing:ModifyRule/s,
      ),
    })
    expect(isBack()).toBe(false)
    backAgain()
    expect((await go(row, 'rollback')).state).toBe('rolled-back')
  })

  test('a rule that AWS does not take keeps no other where it is', LIMIT, async () => {
    const row = await start((plan) => (plan.verifyTimeoutSeconds = 2))
    stage.edit(({ spec }) => {
      const { paths } = spec.rules[0].http
      paths.push({ ...paths[0], path: '/second' })
    })
    await shift(row, 1)
    const rules = () =>
      [...stage.world.elb.rules.values()].flatMap(({ arn, action }) =>
        'groups' in action && action.groups.length > 1 ? [{ arn, target: action.groups[1]!.weight }] : [],
      )
    const refused = rules()[0]!.arn
    down()
    stage.world.elb.intercept = (action, parameters) =>
      action === 'ModifyRule' && parameters.get('RuleArn') === refused
        ? new ElbError('InvalidLoadBalancerAction', 'not this one')
        : undefined
    await expect(go(row, 'rollback')).rejects.toThrow('not this one')
    expect(rules().map(({ target }) => target)).toEqual([10, 0])
  })

  test('a sticky target group, which AWS takes in no rule of two that is not sticky, is left out', LIMIT, async () => {
    const row = await start((plan) => (plan.verifyTimeoutSeconds = 2))
    await shift(row, 1)
    stage.group().attributes.set('stickiness.enabled', 'true')
    down()
    refuseWrites(403)
    await expect(go(row, 'rollback')).rejects.toThrow('already sends everything to cluster blue')
    expect(stage.world.liveWeights()).toBeUndefined()
    stage.world.current.intercept = () => undefined
    stage.world.currentController.isPaused = false
    expect((await go(row, 'rollback')).state).toBe('rolled-back')
  })

  test('mode observe changes nothing at the load balancer', LIMIT, async () => {
    const row = await start((plan) => (plan.verifyTimeoutSeconds = 1))
    await shift(row, 1)
    const observed = { ...stage.world.plan, mode: 'observe' }
    await database.database.kysely
      .updateTable('_weir_traffic_switches')
      .set({ checked_plan: JSON.stringify(observed), plan: JSON.stringify(observed) })
      .where('id', '=', row.id)
      .execute()
    down()
    await expect(go(row, 'rollback')).rejects.toThrow('mode observe')
    expect(stage.world.liveWeights()).toEqual([90, 10])
    expect(stage.world.elb.calls).not.toContain('ModifyRule')
  })

  test('who prepares is not told to advance, which is not possible then', LIMIT, async () => {
    const row = await start((plan) => (plan.verifyTimeoutSeconds = 1))
    down()
    const error = await go(row, 'prepare').catch((each: Error) => each)
    expect(String(error)).toContain('rule-verified was not reached')
    expect(String(error)).not.toContain('--directly')
  })

  test('an advance waits for the controller, unless the operator says otherwise', LIMIT, async () => {
    const row = await start((plan) => {
      plan.verifyTimeoutSeconds = 6
      plan.stickiness = { enabled: true, durationSeconds: 60, atFinalStep: 'disable' }
    })
    await shift(row, 1)
    down()
    await expect(go(row, 'advance')).rejects.toThrow(/rule-verified was not reached.*advance with --directly --reason/)
    expect(stage.world.liveWeights()).toEqual([90, 10])
    await expect(go(row, 'advance', { directly: true })).rejects.toThrow('say why with --reason')
    const after = await go(row, 'advance', { directly: true, reason: 'the controller is away until Monday' })
    expect(after).toMatchObject({ state: 'shifting', step: 2 })
    expect(stage.world.liveWeights()).toEqual([50, 50])
    backAgain()
    expect(stage.world.liveWeights()).toEqual([50, 50])

    // An action that is refused before its first write changes no rule.
    down()
    stage.setHealth('unhealthy')
    await expect(go(row, 'advance', { directly: true, overrideGates: true, reason: 'again' })).rejects.toThrow('TS-H01')
    expect(stage.world.liveWeights()).toEqual([50, 50])
  })
})
