import { describe, expect, test } from 'vitest'
import { connect } from '../../traffic/engine/connect.ts'
import { preview } from '../../traffic/engine/preview.ts'
import { createSwitch } from '../../traffic/engine/store.ts'
import { startWatch, tick } from '../../traffic/engine/watch.ts'
import { judgeGates } from '../../traffic/gates/gate-verdicts.ts'
import { ElbError } from '../fake-aws/fake-elbv2.ts'
import { describeOneWithTables } from '../support/databases.ts'
import { setStage, times, withGates } from './support/stage.ts'

const PREFIX = 'alb.ingress.kubernetes.io/'

describeOneWithTables('at three in the morning', (database) => {
  const stage = setStage(database)
  const { start, go, shift, now, edit } = stage
  const guardsNow = () => [...stage.world.elb.rules.values()].find(({ arn }) => arn.endsWith('/web/0/0'))!.guards

  describe('the watch', () => {
    test('targets that die under load are rolled back, also of a paused switch', async () => {
      const row = await start(withGates)
      await shift(row, 2)
      await go(row, 'pause')
      stage.setHealth('unhealthy')
      expect((await tick(stage.engine, row.id)).state).toBe('rolled-back')
      expect(stage.world.liveWeights()).toEqual([100, 0])
    })

    test('targets that die while a step is verified are rolled back by the step itself', async () => {
      const row = await start((plan) => {
        withGates(plan)
        plan.verifyTimeoutSeconds = 1
      })
      await shift(row, 1)
      stage.world.elb.intercept = (action) => {
        if (action === 'DescribeTargetHealth' && stage.world.liveWeights()![1] === 50) stage.setHealth('unhealthy')
        return undefined
      }
      await expect(go(row, 'advance')).rejects.toThrow('Traffic was rolled back')
      expect(stage.world.liveWeights()).toEqual([100, 0])
    })

    test('an empty group under load fails, and is rolled back or told', async () => {
      const row = await start((plan) => {
        for (const step of plan.steps) step.onFail = 'pause'
      })
      await shift(row, 2)
      stage.group().targets.clear()
      const shifting = await tick(stage.engine, row.id)
      expect(shifting).toMatchObject({ state: 'paused', problem: expect.stringContaining('weight 50 and no targets') })
      const gates = [{ kind: 'targetsHealthy', minHealthy: 1, minRatio: 0, failureLimit: 1 }] as const
      const verdicts = await judgeGates(
        stage.engine,
        shifting,
        stage.world.plan,
        await connect(stage.world.plan),
        gates,
      )
      expect(verdicts).toMatchObject([{ verdict: 'fail' }])
    })

    test('draining targets are neither healthy nor unhealthy, and one bad look is none', async () => {
      const row = await start(withGates)
      await shift(row, 2)
      for (let index = 0; index < 9; index++) stage.group().targets.set(`10.2.9.${index}:8080`, 'draining')
      expect((await tick(stage.engine, row.id)).state).toBe('shifting')
      stage.setHealth('unhealthy')
      let looks = 0
      stage.world.elb.intercept = (action) => {
        if (action === 'DescribeTargetHealth' && ++looks === 2) stage.setHealth('healthy')
        return undefined
      }
      expect((await tick(stage.engine, row.id)).state).toBe('shifting')
    })

    test('a step whose process was killed is watched like any other', async () => {
      const row = await start(withGates)
      await shift(row, 2)
      await database.database.kysely
        .updateTable('_weir_traffic_switches')
        .set({ verified_at: null })
        .where('id', '=', row.id)
        .execute()
      stage.setHealth('unhealthy')
      expect((await tick(stage.engine, row.id)).state).toBe('rolled-back')
    })

    test('one slow switch does not delay another', async () => {
      const row = await start(withGates)
      await shift(row, 2)
      const slow = await createSwitch(database.database, { ...stage.world.plan, name: 'slow' }, 'ada')
      await database.database.kysely
        .updateTable('_weir_traffic_switches')
        .set({ state: 'paused' })
        .where('id', '=', slow.id)
        .execute()
      stage.setHealth('unhealthy')
      let release = () => {}
      const never = new Promise<never>((_, reject) => {
        release = () => reject(new Error('released'))
      })
      const watch = startWatch(
        { ...stage.engine, watchMs: 5, connect: (plan) => (plan.name === 'slow' ? never : connect(plan)) },
        () => {},
      )
      while ((await now(row)).state !== 'rolled-back') await new Promise(setImmediate)
      release()
      await watch.stop()
      expect(stage.world.liveWeights()).toEqual([100, 0])
    })
  })

  describe('what guards a route', () => {
    test('conditions and transforms follow their paths to the action, and go back with them', async () => {
      const row = await start()
      const condition = '[{"field":"source-ip","sourceIpConfig":{"values":["10.0.0.0/8"]}}]'
      edit((object) => {
        object.metadata.annotations[`${PREFIX}conditions.web`] = condition
        object.metadata.annotations[`${PREFIX}transforms.web`] = '[{"type":"url-rewrite"}]'
      })
      await shift(row, 1)
      const guarded = [`conditions ${condition}`, 'transforms [{"type":"url-rewrite"}]']
      expect(guardsNow()).toEqual(guarded)
      // Conditions that become stricter meanwhile hold for the action from the next step on. Until then they are drift.
      edit((object) => (object.metadata.annotations[`${PREFIX}conditions.web`] = '[]'))
      expect(await tick(stage.engine, row.id)).toMatchObject({
        problem: expect.stringContaining('conditions.web-switch'),
      })
      await go(row, 'rollback')
      expect(guardsNow()).toEqual(['conditions []', guarded[1]])
      await go(row, 'abort', stage.confirmed())
      expect(guardsNow()).toEqual(['conditions []', guarded[1]])
      expect(Object.keys(stage.ingress().metadata.annotations)).not.toContain(`${PREFIX}conditions.web-switch`)
    })

    test('authentication on the Service is refused before anything, and in the middle', async () => {
      const row = await start()
      const protect = (object: any) => (object.metadata.annotations = { [`${PREFIX}auth-type`]: 'oidc' })
      edit(protect, 'Service')
      await expect(go(row, 'prepare')).rejects.toThrow('TS-X05')
      await expect(preview(stage.engine, row, { action: 'prepare' })).rejects.toThrow('become public')
      expect([...stage.world.current.calls, ...stage.world.target.calls, ...stage.world.elb.calls]).toEqual([])
      edit((object) => delete object.metadata.annotations, 'Service')
      await shift(row, 1)
      edit(protect, 'Service')
      await expect(go(row, 'advance')).rejects.toThrow('TS-X05')
      expect(stage.world.liveWeights()).toEqual([90, 10])
    })

    test('stickiness of the target group is refused, also when its annotation is gone', async () => {
      const row = await start()
      const sticky = `${PREFIX}target-group-attributes`
      edit((object) => (object.metadata.annotations = { [sticky]: 'stickiness.enabled=true' }), 'Service')
      await expect(go(row, 'prepare')).rejects.toThrow('TS-S04')
      stage.world.currentController.reconcile()
      edit((object) => delete object.metadata.annotations, 'Service')
      stage.world.currentController.reconcile()
      await expect(go(row, 'prepare')).rejects.toThrow('has stickiness enabled')
    })

    test('a group for gRPC gets codes of gRPC', async () => {
      const row = await start((plan) => {
        plan.targetGroup.protocolVersion = 'GRPC'
        plan.targetGroup.healthCheck = { successCodes: '0-5' }
      })
      await go(row, 'prepare')
      expect(stage.group().settings).toMatchObject({ ProtocolVersion: 'GRPC', 'Matcher.GrpcCode': '0-5' })
    })

    test('health checks and attributes are those of the live group, where the plan says nothing', async () => {
      const row = await start()
      const live = `${PREFIX}target-group-attributes`
      edit((object) => {
        object.metadata.annotations = {
          [live]: 'deregistration_delay.timeout_seconds=17,slow_start.duration_seconds=40',
        }
      }, 'Service')
      stage.world.currentController.reconcile()
      await go(row, 'prepare')
      expect(stage.group().settings).toMatchObject({
        HealthCheckPath: '/healthz',
        HealthCheckPort: '8081',
        HealthCheckIntervalSeconds: '7',
        'Matcher.HttpCode': '200-299',
      })
      expect(Object.fromEntries(stage.group().attributes)).toMatchObject({
        'deregistration_delay.timeout_seconds': '17',
        'slow_start.duration_seconds': '40',
      })
    })
  })

  describe('all paths', () => {
    const path = (name: string, port: object) => ({
      path: `/${name}`,
      pathType: 'Prefix',
      backend: { service: { name: 'web', port } },
    })
    const backends = () => stage.ingress().spec.rules[0].http.paths.map((each: any) => each.backend.service)

    test('move, by number or name of their port, and come back in the form that they had', async () => {
      const row = await start()
      edit((object) => object.spec.rules[0].http.paths.push(path('checkout', { name: 'http' })))
      const before = backends()
      await shift(row, 4)
      expect((await now(row)).state).toBe('switched')
      expect(backends().map(({ name }: any) => name)).toEqual(['web-switch', 'web-switch'])
      await go(row, 'rollback')
      await go(row, 'abort', stage.confirmed())
      expect(backends()).toEqual(before)
    })

    test('one that is added in the middle is drift, and moves along when that is accepted', async () => {
      const row = await start()
      await shift(row, 3)
      edit((object) => object.spec.rules[0].http.paths.push(path('late', { number: 80 })))
      await expect(go(row, 'advance')).rejects.toThrow('1 of 2 paths move')
      expect((await now(row)).state).toBe('paused')
      expect((await go(row, 'advance', { acceptLive: true, reason: 'it belongs to the shop' })).state).toBe('switched')
      expect(backends().map(({ name }: any) => name)).toEqual(['web-switch', 'web-switch'])
    })

    test('a rule that AWS refuses is never called verified', async () => {
      const row = await start((plan) => (plan.verifyTimeoutSeconds = 1))
      edit((object) => object.spec.rules[0].http.paths.push(path('checkout', { number: 80 })))
      stage.world.currentController.reconcile()
      stage.world.elb.isRuleRefused = (key) => key.endsWith('/0/1')
      await expect(go(row, 'prepare')).rejects.toThrow(/1 of 2 rules follow; rule .*0\/1 forwards to the current/)
      expect((await now(row)).state).toBe('preparing')
    })

    test('a controller that changes three rules at a time is waited for, on every listener', async () => {
      const row = await start()
      stage.world.elb.listeners = 2
      edit((object) => {
        for (let index = 0; index < 20; index++) object.spec.rules[0].http.paths.push(path(`p${index}`, { number: 80 }))
      })
      stage.world.currentController.reconcile()
      Object.assign(stage.world.currentController, { rulesAtOnce: 3, isByHand: true })
      stage.world.elb.intercept = (action) => {
        if (action === 'DescribeTargetGroups') stage.world.currentController.reconcile()
        return undefined
      }
      const texts: string[] = []
      stage.engine = { ...stage.engine, progress: (text) => texts.push(text) }
      await go(row, 'prepare')
      const own = [...stage.world.elb.rules.values()].filter(
        ({ action }) => 'groups' in action && action.groups.some(({ arn }) => arn === stage.group().arn),
      )
      expect(own).toHaveLength(42)
      expect(texts).toContainEqual(expect.stringMatching(/^rule-verified: \d+ of 42 rules follow/))
    })

    test('an Ingress without a group is prepared', async () => {
      const row = await start((plan) => delete plan.current.ingress.groupName)
      edit((object) => {
        delete object.metadata.annotations[`${PREFIX}group.name`]
        object.metadata.finalizers = ['ingress.k8s.aws/resources']
      })
      expect((await go(row, 'prepare')).state).toBe('prepared')
    })
  })

  describe('faults and clean-up', () => {
    test('reads and writes that fail for a while are repeated; nothing is done on a guess', async () => {
      const row = await start()
      for (const cluster of [stage.world.current, stage.world.target]) cluster.intercept = times(6, 429)
      await go(row, 'prepare')
      stage.world.current.intercept = times(5, 503)
      stage.world.elb.intercept = times(8, new ElbError('Throttling', 'Rate exceeded'))
      await go(row, 'advance')
      expect(stage.world.liveWeights()).toEqual([90, 10])
    })

    test('what does not come is asked for ever less often', async () => {
      const row = await start((plan) => (plan.verifyTimeoutSeconds = 1))
      await shift(row, 1)
      stage.world.currentController.isPaused = true
      let looks = 0
      stage.engine = { ...stage.engine, pollMs: 20, progress: () => looks++ }
      await expect(go(row, 'advance')).rejects.toThrow('was not reached after 1 s')
      expect(looks).toBeGreaterThan(0)
      // A look every 20 ms would mean fifty looks.
      expect(looks).toBeLessThan(20)
    })

    test('an Ingress that drifted and cannot be read is not deleted', async () => {
      const row = await start((plan) => (plan.cleanup.currentIngress = 'delete-ingress'))
      edit((object) => object.spec.rules.pop())
      await shift(row, 4)
      stage.world.pointDnsAt('target')
      await go(row, 'dns')
      stage.setAction('{"type":"forward","targetGroupARN":"arn:other"}')
      stage.world.current.intercept = times(3, 429)
      await expect(go(row, 'cleanup', stage.confirmed())).rejects.toThrow('Drift')
      expect(stage.ingress()).toBeDefined()
      expect(stage.world.current.calls).not.toContain('DELETE Ingress web')
    })

    test('an Ingress that others stand on is not deleted; the dry run says what would go with it', async () => {
      const row = await start((plan) => (plan.cleanup.currentIngress = 'delete-ingress'))
      await shift(row, 4)
      stage.world.pointDnsAt('target')
      const switched = await go(row, 'dns')
      await expect(go(row, 'cleanup', stage.confirmed())).rejects.toThrow('it also has paths of Service api')
      await expect(preview(stage.engine, switched, { action: 'cleanup' })).rejects.toThrow('paths of Service api')
      edit((object) => object.spec.rules.pop())
      expect((await preview(stage.engine, switched, { action: 'cleanup' }))[0]).toMatch(
        /deletes its rules.*load balancer.*blue-1.*record of shop\.example\.com/,
      )
      const other = await createSwitch(database.database, { ...stage.world.plan, name: 'other' }, 'ada')
      const claim = { subject: 'x', switch_id: other.id, created_at: new Date(), updated_at: new Date() }
      await database.database.kysely.insertInto('_weir_traffic_claims').values(claim).execute()
      await expect(go(row, 'cleanup', stage.confirmed())).rejects.toThrow(`switch ${other.id} (draft) stands on it`)
      expect((await go(row, 'cleanup', { ...stage.confirmed(), keepIngress: true })).state).toBe('cleaned-up')
      expect(stage.ingress().spec.rules[0].http.paths[0].backend.service.name).toBe('web')
    })

    test('clean-up waits as long as the group itself drains', async () => {
      const row = await start((plan) => (plan.verifyTimeoutSeconds = 1))
      await shift(row, 4)
      stage.world.pointDnsAt('target')
      await go(row, 'dns')
      stage.group().targets.set('10.2.9.9:8080', 'draining')
      stage.group().attributes.set('deregistration_delay.timeout_seconds', '60')
      const arn = stage.group().arn
      let seen = 0
      const began = Date.now()
      stage.world.elb.intercept = (action) => {
        if (action === 'DescribeTargetHealth' && ++seen > 2 && Date.now() - began > 2500)
          stage.world.elb.deregister(arn, ['10.2.9.9:8080'])
        return undefined
      }
      expect((await go(row, 'cleanup', stage.confirmed())).state).toBe('cleaned-up')
    })

    test('an abort leaves no fields of ours, and no target Ingress that it made', async () => {
      const row = await start()
      stage.world.target.update(stage.world.target.get('Ingress', 'shop', 'web')!, ({ metadata }) =>
        Object.assign(metadata, { deletionTimestamp: new Date().toISOString(), finalizers: [] }),
      )
      const outside = await connect(stage.world.plan)
      await shift(row, 1)
      await go(row, 'rollback')
      await go(row, 'abort', stage.confirmed())
      expect(stage.world.target.get('Ingress', 'shop', 'web')).toBeUndefined()
      const live = (await outside.current.ingress('shop', 'web'))!
      const managers = (live.metadata.managedFields as { manager: string }[]).map(({ manager }) => manager)
      expect(managers).not.toContain('weir-traffic')
    })
  })
})
