import { expect, test } from 'vitest'
import type { Outside } from '../../traffic/effects/effect.ts'
import { connect } from '../../traffic/engine/connect.ts'
import { act } from '../../traffic/engine/engine.ts'
import type { Request } from '../../traffic/engine/engine-types.ts'
import { switchStatus } from '../../traffic/engine/status.ts'
import { createSwitch, type SwitchRow } from '../../traffic/engine/store.ts'
import { tick } from '../../traffic/engine/watch.ts'
import { ElbError } from '../fake-aws/fake-elbv2.ts'
import { describeOneWithTables } from '../support/databases.ts'
import { setStage, times } from './support/stage.ts'

describeOneWithTables('rollback always wins', (database) => {
  const stage = setStage(database)
  const { start, go, shift, now, journal, edit, setAction, setWeights } = stage

  type Fatal = (outside: Outside, die: () => Promise<never>) => Outside
  /** Simulates a process that is killed at a call. Its lease is free at once, as on the same machine. */
  async function kill(row: SwitchRow, action: Request['action'], fatal: Fatal): Promise<void> {
    await new Promise<void>((resolve) => {
      const die = (): Promise<never> => {
        resolve()
        return new Promise(() => {})
      }
      const mortal = {
        ...stage.engine,
        connect: async (...call: Parameters<typeof connect>) => fatal(await connect(...call), die),
      }
      void act(mortal, row.id, { action, actor: 'ada', confirm: stage.world.plan.name }).catch(() => undefined)
    })
    await database.database.kysely
      .updateTable('_weir_traffic_switches')
      .set({ lease_holder: null, lease_until: null })
      .where('id', '=', row.id)
      .execute()
  }

  test('it takes the switch over from an advance that verifies, which then writes nothing more', async () => {
    const row = await start()
    await shift(row, 1)
    stage.world.currentController.isPaused = true
    const advancing = go(row, 'advance').catch((error: Error) => error)
    while (!(await journal(row)).some(({ kind, effect }) => kind === 'intent' && effect === 'rule-verified'))
      await new Promise(setImmediate)
    const rollingBack = go(row, 'rollback')
    stage.world.currentController.isPaused = false
    expect((await rollingBack).state).toBe('rolled-back')
    expect(String(await advancing)).toContain('took over')
    expect(stage.world.liveWeights()).toEqual([100, 0])
    expect(await now(row)).toMatchObject({ state: 'rolled-back', lease_holder: null, problem: null })
  })

  test('an advance that had already looked can write nothing after the rollback', async () => {
    const row = await start((plan) => (plan.stickiness = { enabled: false, atFinalStep: 'disable' }))
    await go(row, 'prepare')
    const outside = await connect(stage.world.plan)
    const slow = {
      ...stage.engine,
      connect: async () => ({
        ...outside,
        current: {
          ...outside.current,
          // A rollback happens between reading and writing the Ingress. The advance has also seen 100/0.
          patchIngress: async (...call: Parameters<typeof outside.current.patchIngress>) => {
            await go(row, 'rollback')
            edit((object) => (object.metadata.labels = { touched: 'yes' }))
            return outside.current.patchIngress(...call)
          },
        },
      }),
    }
    await expect(act(slow, row.id, { action: 'advance', actor: 'ada' })).rejects.toThrow('took over')
    expect(await now(row)).toMatchObject({ state: 'rolled-back' })
    expect(stage.world.liveWeights()).toEqual([100, 0])
  })

  test('drift is written over, and on record', async () => {
    const row = await start()
    await shift(row, 2)
    const foreign = '{"type":"forward","targetGroupARN":"arn:other"}'
    setAction(foreign)
    expect((await go(row, 'rollback', { reason: 'errors everywhere' })).state).toBe('rolled-back')
    expect(stage.world.liveWeights()).toEqual([100, 0])
    const notes = (await journal(row)).filter(({ kind }) => kind === 'note')
    expect(notes).toContainEqual(
      expect.objectContaining({
        effect: 'drift-overridden',
        detail: expect.stringMatching(/kubectl-edit wrote it.*arn:other/s),
      }),
    )
    expect(notes).toContainEqual(expect.objectContaining({ effect: 'reason', detail: 'errors everywhere' }))
  })

  test('the annotation is gone, or the original manifest was applied in the middle: back all the same', async () => {
    const row = await start()
    await shift(row, 2)
    edit((object) => delete object.metadata.annotations['alb.ingress.kubernetes.io/actions.web-switch'])
    expect((await go(row, 'rollback')).state).toBe('rolled-back')
    expect(stage.world.liveWeights()).toEqual([100, 0])
    await shift(row, 2)
    edit((object) => (object.spec.rules[0].http.paths[0].backend = { service: { name: 'web', port: { number: 80 } } }))
    await expect(go(row, 'advance')).rejects.toThrow('backend missing')
    expect((await go(row, 'rollback')).state).toBe('rolled-back')
    expect((await go(row, 'abort', stage.confirmed())).state).toBe('aborted')
    expect(stage.ingress().spec.rules[0].http.paths[0].backend.service).toEqual({ name: 'web', port: { number: 80 } })
  })

  test('a server that answers 429 and 503 for a while changes nothing but the time it takes', async () => {
    const row = await start()
    await shift(row, 2)
    const read = times(4, 429)
    const write = times(3, 503)
    stage.world.current.intercept = (method, kind) =>
      kind === 'Ingress' ? (method === 'GET' ? read() : write()) : undefined
    stage.world.elb.intercept = times(12, new ElbError('Throttling', 'Rate exceeded'))
    expect((await go(row, 'rollback')).state).toBe('rolled-back')
    expect(stage.world.liveWeights()).toEqual([100, 0])
  })

  test('what did not hold is taken up by the watch until it does', async () => {
    const row = await start((plan) => (plan.verifyTimeoutSeconds = 1))
    await shift(row, 2)
    stage.world.current.intercept = () => 503
    await expect(go(row, 'rollback')).rejects.toThrow('fault 503')
    expect(await now(row)).toMatchObject({ state: 'rolling-back', problem: expect.stringContaining('503') })
    await expect(tick(stage.engine, row.id)).rejects.toThrow('503')
    stage.world.current.intercept = () => undefined
    expect(await tick(stage.engine, row.id)).toMatchObject({ state: 'rolled-back', problem: null })
    expect(stage.world.liveWeights()).toEqual([100, 0])
  })

  test('somebody who keeps writing is written over until it holds', async () => {
    const row = await start()
    await shift(row, 2)
    const foreign = times(3, stage.ingress().metadata.annotations['alb.ingress.kubernetes.io/actions.web-switch'])
    stage.world.elb.intercept = (action) => {
      const text = action === 'DescribeRules' ? foreign() : undefined
      if (text !== undefined) setAction(text)
      return undefined
    }
    expect((await go(row, 'rollback')).state).toBe('rolled-back')
    expect(stage.world.liveWeights()).toEqual([100, 0])
  })

  test('after the DNS switch the weights go first; then it is finished, taken further or left', async () => {
    const row = await start()
    await shift(row, 4)
    stage.world.pointDnsAt('target')
    await go(row, 'dns')
    await expect(go(row, 'rollback')).rejects.toThrow('Move the record')
    expect(stage.world.liveWeights()).toEqual([100, 0])
    const entries = (await journal(row)).length
    expect((await tick(stage.engine, row.id)).state).toBe('rolling-back')
    expect(await journal(row)).toHaveLength(entries)
    expect((await go(row, 'dns')).state).toBe('dns-switched')
    await expect(go(row, 'rollback')).rejects.toThrow('Move the record')
    stage.world.pointDnsAt('current')
    expect((await tick(stage.engine, row.id)).state).toBe('rolled-back')
  })

  test('killed while it waits for the record: repeated, it looks at the weights once more', async () => {
    const row = await start()
    await shift(row, 4)
    stage.world.pointDnsAt('target')
    await go(row, 'dns')
    await kill(row, 'rollback', (outside, die) => ({ ...outside, answersOf: die }))
    expect(stage.world.liveWeights()).toEqual([100, 0])
    setWeights(50, 50)
    stage.world.pointDnsAt('current')
    expect((await go(row, 'rollback')).state).toBe('rolled-back')
    expect(stage.world.liveWeights()).toEqual([100, 0])
  })

  test('killed right after its write: an abort does not take that for the work of somebody else', async () => {
    const row = await start()
    await shift(row, 2)
    await kill(row, 'rollback', (outside, die) => ({
      ...outside,
      current: {
        ...outside.current,
        patchIngress: (...call) => outside.current.patchIngress(...call).then(die),
      },
    }))
    // The controller notices the write by itself.
    await expect.poll(() => stage.world.liveWeights(), { timeout: 60_000 }).toEqual([100, 0])
    expect((await go(row, 'abort', stage.confirmed())).state).toBe('aborted')
    expect(stage.ingress().metadata.annotations['alb.ingress.kubernetes.io/actions.web-switch']).toBeUndefined()
  })

  test('a switch that was never prepared leaves the traffic of another with the same plan alone', async () => {
    const row = await start()
    const closed = await createSwitch(database.database, stage.world.whole, 'ada')
    await go(closed, 'rollback')
    await shift(row, 1)
    expect((await tick(stage.engine, closed.id)).state).toBe('rolled-back')
    expect((await go(closed, 'rollback')).state).toBe('rolled-back')
    expect(stage.world.liveWeights()).toEqual([90, 10])
  })

  test('a rollback while one runs: who repeats it joins, who begins one takes it over, and each is told so', async () => {
    const row = await start()
    await shift(row, 1)
    stage.world.current.intercept = (method) => (method === 'PATCH' ? 503 : undefined)
    const first = go(row, 'rollback').catch((error: Error) => error)
    while ((await now(row)).state !== 'rolling-back') await new Promise(setImmediate)
    await expect(go(row, 'rollback', { isRepeated: true })).rejects.toThrow('Another process is working on switch')
    expect((await tick(stage.engine, row.id)).state).toBe('rolling-back')
    const second = go(row, 'rollback')
    expect(await first).toMatchObject({
      message: `Another process took over switch ${row.id}; this one stops and writes nothing more.`,
    })
    stage.world.current.intercept = () => undefined
    expect((await second).state).toBe('rolled-back')
    expect(stage.world.liveWeights()).toEqual([100, 0])
  })

  test('AWS lets nobody look while the cluster is away for a moment: it waits for the cluster', async () => {
    const row = await start((plan) => (plan.verifyTimeoutSeconds = 3))
    await shift(row, 1)
    const isDenied = new ElbError('AccessDenied', 'not authorized')
    let isAway = true
    stage.world.elb.intercept = () => (isAway ? isDenied : undefined)
    stage.world.current.intercept = () => (isAway ? 503 : undefined)
    const rollingBack = go(row, 'rollback')
    // Longer than the controller would have had.
    await new Promise((resolve) => setTimeout(resolve, 2_000))
    isAway = false
    expect((await rollingBack).state).toBe('rolled-back')
    expect(stage.world.liveWeights()).toEqual([100, 0])
  })

  test('an abort that was interrupted is watched: no weight comes back behind it', async () => {
    const row = await start()
    await shift(row, 1)
    await go(row, 'rollback')
    await kill(row, 'abort', (outside, die) => ({ ...outside, current: { ...outside.current, patchIngress: die } }))
    expect((await tick(stage.engine, row.id)).state).toBe('cleaning')
    expect((await switchStatus(stage.engine, await now(row))).next.says).toContain('abort again to continue')
    setWeights(70, 30)
    expect((await tick(stage.engine, row.id)).state).toBe('rolled-back')
    expect(stage.world.liveWeights()).toEqual([100, 0])
    expect((await go(row, 'abort', stage.confirmed())).state).toBe('aborted')
  })

  test('an abort after the host name has moved does not claim that all traffic stayed', async () => {
    const row = await start()
    await shift(row, 4)
    stage.world.pointDnsAt('target')
    await go(row, 'dns')
    await expect(go(row, 'rollback')).rejects.toThrow('Move the record')
    expect((await go(row, 'abort', stage.confirmed())).state).toBe('cleaned-up')

    await stage.end()
    const again = await start()
    await shift(again, 4)
    stage.world.pointDnsAt('target')
    await go(again, 'dns')
    await expect(go(again, 'rollback')).rejects.toThrow('Move the record')
    stage.world.pointDnsAt('current')
    expect(await stage.deployments(again)).toMatchObject([{ result: 'SUCCESS' }])
    expect(await go(again, 'abort', stage.confirmed())).toMatchObject({ state: 'aborted', dns_confirmed_at: null })
    // A switch that moved and came back is not a success.
    expect(await stage.deployments(again)).toMatchObject([{ result: 'FAILURE' }])
  })

  test('a switch that was cleaned up is refused, with what to do', async () => {
    const row = await start()
    await shift(row, 4)
    stage.world.pointDnsAt('target')
    await go(row, 'dns')
    await go(row, 'cleanup', stage.confirmed())
    await expect(go(row, 'rollback')).rejects.toThrow('npx weir traffic reverse')
    expect((await now(row)).state).toBe('cleaned-up')
  })

  test('a version that is old by now does not stop a rollback', async () => {
    const row = await start()
    await shift(row, 1)
    expect((await go(row, 'rollback', { expectedVersion: 1 })).state).toBe('rolled-back')
  })

  test('a prepare that cannot finish can be given up', async () => {
    const row = await start((plan) => (plan.verifyTimeoutSeconds = 1))
    stage.world.elb.isRuleRefused = () => true
    await expect(go(row, 'prepare')).rejects.toThrow('no rule of the load balancer names')
    stage.world.elb.isRuleRefused = () => false
    expect((await go(row, 'abort', stage.confirmed())).state).toBe('aborted')
    expect(stage.group()).toBeUndefined()
  })
})
