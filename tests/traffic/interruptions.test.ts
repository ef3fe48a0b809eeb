import { expect, test } from 'vitest'
import { refuseEdits, submitPlan } from '../../traffic/engine/submit-plan.ts'
import { startWatch, tick } from '../../traffic/engine/watch.ts'
import { ElbError } from '../fake-aws/fake-elbv2.ts'
import { describeOneWithTables } from '../support/databases.ts'
import { setStage, withGates } from './support/stage.ts'

describeOneWithTables('in the middle of a switch', (database) => {
  const stage = setStage(database)
  const { start, go, shift, now, journal } = stage

  test('credentials of AWS expire: the step waits for new ones, or pauses and is taken up again', async () => {
    const row = await start((plan) => (plan.verifyTimeoutSeconds = 1))
    await shift(row, 1)
    const expired = new ElbError('ExpiredToken', 'The security token included in the request is expired')
    let isExpired = true
    stage.world.elb.intercept = () => (isExpired ? expired : undefined)
    await expect(go(row, 'advance')).rejects.toThrow('ExpiredToken')
    expect(await now(row)).toMatchObject({ state: 'paused', problem: expect.stringContaining('ExpiredToken') })
    await expect(go(row, 'rollback')).rejects.toThrow('ExpiredToken')
    isExpired = false
    expect((await tick(stage.engine, row.id)).state).toBe('rolled-back')
    expect(stage.world.liveWeights()).toEqual([100, 0])
  })

  test('credentials of the cluster expire: the step pauses with what was refused, and continues later', async () => {
    const row = await start()
    await shift(row, 1)
    stage.world.current.intercept = () => 401
    await expect(go(row, 'advance')).rejects.toThrow('HTTP 401')
    expect(await now(row)).toMatchObject({ state: 'paused', step: 2, problem: expect.stringContaining('401') })
    expect(stage.world.liveWeights()).toEqual([90, 10])
    stage.world.current.intercept = () => undefined
    expect(await go(row, 'advance')).toMatchObject({ state: 'shifting', step: 2, problem: null })
    expect(stage.world.liveWeights()).toEqual([50, 50])
  })

  test('a message with bytes that no column takes is kept without them, and the switch is paused', async () => {
    const row = await start()
    await shift(row, 1)
    expect(await go(row, 'pause', { reason: 'saw\u0000this' })).toMatchObject({ state: 'paused', problem: 'saw this' })
  })

  test('two operators at once: one acts, the other is told, and no step is made twice', async () => {
    const row = await start()
    await shift(row, 1)
    const { version } = await now(row)
    const outcomes = await Promise.allSettled([
      go(row, 'advance', { actor: 'ada', expectedVersion: version }),
      go(row, 'advance', { actor: 'bob', expectedVersion: version }),
    ])
    expect(outcomes.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected'])
    const { reason } = outcomes.find((outcome) => outcome.status === 'rejected')!
    expect(reason.message).toMatch(/Another process is working|somebody acted in between/)
    expect(await now(row)).toMatchObject({ state: 'shifting', step: 2 })
    expect(stage.world.liveWeights()).toEqual([50, 50])
    const both = await Promise.allSettled([
      go(row, 'rollback', { actor: 'ada' }),
      go(row, 'rollback', { actor: 'bob' }),
    ])
    expect(both.some(({ status }) => status === 'fulfilled')).toBe(true)
    expect(await now(row)).toMatchObject({ state: 'rolled-back', lease_holder: null })
    expect(stage.world.liveWeights()).toEqual([100, 0])
  })

  test('the plan file is edited: nothing moves, the differences are named, and the way back is open', async () => {
    const row = await start()
    await shift(row, 1)
    const edited = structuredClone(stage.world.plan)
    edited.steps[2]!.weights = { current: 20, target: 80 }
    await expect(submitPlan(database.database, edited, 'ada')).rejects.toThrow('steps[2].weights.current: 50 → 20')
    expect(() => refuseEdits(row, ['name: a → b'])).toThrow('Put it back, or roll back')
    expect(stage.world.liveWeights()).toEqual([90, 10])
    expect((await go(row, 'rollback')).state).toBe('rolled-back')
  })

  test('clocks apart: a process that lives in the past neither shortens a dwell time nor keeps a lease', async () => {
    const row = await start((plan) => {
      withGates(plan)
      for (const step of plan.steps) step.dwellSeconds = 60
    })
    await go(row, 'prepare')
    await go(row, 'advance', { overrideGates: true, reason: 'test' })
    const elsewhere = (minutes: number) => ({
      ...stage.engine,
      now: () => new Date(stage.clock.getTime() + minutes * 60_000),
    })
    // This clock is behind: the step began in its future, so it waits longer, never shorter.
    stage.engine = elsewhere(-10)
    await expect(go(row, 'advance')).rejects.toThrow('more seconds')
    stage.setHealth('unhealthy')
    // A lease from a clock that is ahead does not stop the watch from rolling back.
    await database.database.kysely
      .updateTable('_weir_traffic_switches')
      .set({ lease_holder: 'another-machine:1', lease_until: new Date(Date.now() + 3_600_000) })
      .where('id', '=', row.id)
      .execute()
    const watch = startWatch({ ...stage.engine, watchMs: 5 }, () => {})
    while ((await now(row)).state !== 'rolled-back') await new Promise(setImmediate)
    await watch.stop()
    expect(stage.world.liveWeights()).toEqual([100, 0])
    const times = (await journal(row)).map(({ sequence }) => Number(sequence))
    expect(times).toEqual(times.toSorted((left, right) => left - right))
  })
})
