import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { inspect } from 'node:util'
import { expect, test } from 'vitest'
import { connect } from '../../traffic/engine/connect.ts'
import { preview } from '../../traffic/engine/preview.ts'
import { describeSwitch } from '../../traffic/engine/store.ts'
import { tick } from '../../traffic/engine/watch.ts'
import { contextNames } from '../../traffic/vendors/cluster.ts'
import { ElbError } from '../fake-aws/fake-elbv2.ts'
import { describeOneWithTables } from '../support/databases.ts'
import { setStage, withGates } from './support/stage.ts'

const PREFIX = 'alb.ingress.kubernetes.io/'

describeOneWithTables('a rollback that meets trouble', (database) => {
  const stage = setStage(database)
  const { start, go, shift, now, journal, edit, setAction } = stage
  const ruleNow = () => [...stage.world.elb.rules.values()].find(({ arn }) => arn.endsWith('/web/0/0'))!
  const impatient = (plan: { verifyTimeoutSeconds: number }) => (plan.verifyTimeoutSeconds = 1)
  const endCallsSoon = () => {
    stage.engine = { ...stage.engine, connect: (plan, isLenient) => connect(plan, isLenient, 300) }
  }
  const editStored = (id: string, values: object) =>
    database.database.kysely.updateTable('_weir_traffic_switches').set(values).where('id', '=', id).execute()

  test('the cluster cannot be reached: the load balancer moves, the rest is told and repeated', async () => {
    const row = await start(impatient)
    edit((object) => (object.metadata.annotations[`${PREFIX}auth-type`] = 'oidc'))
    await shift(row, 2)
    expect(ruleNow().guards).toEqual(['authenticate-oidc'])
    stage.world.current.intercept = () => 503
    await expect(go(row, 'rollback')).rejects.toThrow('already sends everything to cluster blue')
    expect(stage.world.liveWeights()).toEqual([100, 0])
    expect(ruleNow().guards).toEqual(['authenticate-oidc'])
    expect(await now(row)).toMatchObject({
      state: 'rolling-back',
      problem: expect.stringContaining('the controller may'),
    })

    // The controller still reads the old annotation.
    stage.world.currentController.reconcile()
    expect(stage.world.liveWeights()).toEqual([50, 50])
    expect((await tick(stage.engine, row.id)).state).toBe('rolling-back')
    expect(stage.world.liveWeights()).toEqual([100, 0])

    stage.world.current.intercept = () => undefined
    expect(await tick(stage.engine, row.id)).toMatchObject({ state: 'rolled-back', problem: null })
    expect(stage.world.liveWeights()).toEqual([100, 0])
  })

  test('a cluster that accepts and never answers: the same, and nobody waits without end', async () => {
    const row = await start(impatient)
    await shift(row, 2)
    endCallsSoon()
    stage.world.current.intercept = () => 0
    await expect(go(row, 'rollback')).rejects.toThrow(/it does not answer.*already sends everything to cluster blue/s)
    expect(stage.world.liveWeights()).toEqual([100, 0])
    await expect(tick(stage.engine, row.id)).rejects.toThrow('it does not answer')
    stage.world.current.intercept = () => undefined
    stage.engine = { ...stage.engine, connect }
    expect(await tick(stage.engine, row.id)).toMatchObject({ state: 'rolled-back', problem: null })
  })

  test('an AWS that accepts and never answers holds the watch only for a while', async () => {
    const row = await start(withGates)
    await shift(row, 2)
    stage.setHealth('unhealthy')
    endCallsSoon()
    stage.world.elb.intercept = () => 'silence'
    await expect(tick(stage.engine, row.id)).rejects.toThrow(/Cannot read target group .*TimeoutError/)
    stage.world.elb.intercept = () => undefined
    stage.engine = { ...stage.engine, connect }
    expect((await tick(stage.engine, row.id)).state).toBe('rolled-back')
  })

  test('a kubeconfig that is gone, or a session that is over, is no reason to leave traffic there', async () => {
    const row = await start(impatient)
    await shift(row, 2)
    process.env.KUBECONFIG = join(stage.world.environment.KUBECONFIG!, 'gone')
    await expect(go(row, 'rollback')).rejects.toThrow('Set KUBECONFIG')
    expect(stage.world.liveWeights()).toEqual([100, 0])
    process.env.KUBECONFIG = stage.world.environment.KUBECONFIG!
    stage.world.current.intercept = () => 401
    await expect(go(row, 'rollback')).rejects.toThrow('HTTP 401')
    stage.world.current.intercept = () => undefined
    expect((await go(row, 'rollback')).state).toBe('rolled-back')
    expect(stage.world.liveWeights()).toEqual([100, 0])
  })

  test('of a kubeconfig that is no YAML no line is quoted, because tokens stand there', async () => {
    await start()
    const spoiled = `${stage.world.environment.KUBECONFIG}-spoiled`
    writeFileSync(spoiled, 'users:\n- user:\n    token: secret-of-ada\n   name: ada\n')
    process.env.KUBECONFIG = spoiled
    const error = await contextNames().catch((each: Error) => each)
    expect(String(error)).toMatch(/^UserError: Cannot read the kubeconfig: bad indentation [^\n]* Set KUBECONFIG/)
    expect(inspect(error)).not.toContain('secret-of-ada')
  })

  test('who may not change rules is told so, and the cluster is waited for', async () => {
    const row = await start()
    await shift(row, 2)
    let refusals = 0
    stage.world.current.intercept = () => (refusals > 0 ? undefined : 503)
    stage.world.elb.intercept = (action) =>
      action === 'ModifyRule' && ++refusals > 0 ? new ElbError('AccessDenied', 'not authorized') : undefined
    expect((await go(row, 'rollback')).state).toBe('rolled-back')
    expect(stage.world.liveWeights()).toEqual([100, 0])
    expect((await journal(row)).map(({ detail }) => detail)).toContainEqual(
      expect.stringContaining('could not be changed directly: AWS refused'),
    )
  })

  test('a stored plan that was edited by hand stops every step, and neither the watch nor the way back', async () => {
    const row = await start(withGates)
    await shift(row, 2)
    const edited = structuredClone(stage.world.plan)
    edited.current.ingress.name = 'another'
    for (const plan of [JSON.stringify(edited), '{']) {
      await editStored(row.id, { plan })
      await expect(go(row, 'advance')).rejects.toThrow('was changed by hand')
    }
    expect(describeSwitch(await now(row)).problem).toContain('cannot be read')
    expect(await preview(stage.engine, await now(row), { action: 'rollback' })).toContainEqual(
      expect.stringContaining('rollback-weights: would change'),
    )
    stage.setHealth('unhealthy')
    expect((await tick(stage.engine, row.id)).state).toBe('rolled-back')
    expect(stage.world.liveWeights()).toEqual([100, 0])
    expect(await journal(row)).toContainEqual(expect.objectContaining({ effect: 'plan-edited' }))
    expect((await go(row, 'abort', stage.confirmed())).state).toBe('aborted')
    expect(stage.group()).toBeUndefined()
  })

  test('stickiness that is enabled in the annotation or in the rule is drift, and pauses', async () => {
    const row = await start((plan) => (plan.stickiness = { enabled: false, atFinalStep: 'disable' }))
    await shift(row, 2)
    const before = stage.ingress().metadata.annotations[`${PREFIX}actions.web-switch`]
    setAction(before.replace('"enabled":false', '"enabled":true,"durationSeconds":60'))
    expect(await tick(stage.engine, row.id)).toMatchObject({
      state: 'paused',
      problem: expect.stringMatching(/^Drift/),
    })
    setAction(before)
    stage.world.currentController.reconcile()
    expect((await go(row, 'advance')).state).toBe('shifting')
    Object.assign(ruleNow().action, { stickiness: { enabled: true, durationSeconds: 60 } })
    expect(await tick(stage.engine, row.id)).toMatchObject({ problem: expect.stringContaining('sticky; wanted 0/100') })
    expect((await go(row, 'rollback')).state).toBe('rolled-back')
    expect(ruleNow().action).toMatchObject({ stickiness: { enabled: false } })
  })

  test('stickiness of the Service, enabled midway, pauses; the way back leaves the target group out', async () => {
    const row = await start((plan) => (plan.stickiness = { enabled: false, atFinalStep: 'disable' }))
    await shift(row, 2)
    edit(
      (object) => (object.metadata.annotations = { [`${PREFIX}target-group-attributes`]: 'stickiness.enabled=true' }),
      'Service',
    )
    stage.world.currentController.reconcile()
    expect(await tick(stage.engine, row.id)).toMatchObject({
      state: 'paused',
      problem: expect.stringContaining('TS-S04'),
    })
    expect((await go(row, 'rollback')).state).toBe('rolled-back')
    expect(stage.world.liveWeights()).toBeUndefined()
    expect(ruleNow().action).toMatchObject({ groups: [{ weight: 100 }] })
    expect((await go(row, 'abort', stage.confirmed())).state).toBe('aborted')
  })
})
