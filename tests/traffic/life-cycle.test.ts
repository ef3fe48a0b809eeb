import { afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { prepareDatabase } from '../../src/start/prepare-database.ts'
import { connect } from '../../traffic/engine/connect.ts'
import { act, approve } from '../../traffic/engine/engine.ts'
import type { Engine, Request } from '../../traffic/engine/engine-types.ts'
import { preview } from '../../traffic/engine/preview.ts'
import { reverseSwitch } from '../../traffic/engine/reverse.ts'
import { createSwitch, describeSwitch, getSwitch, journalOf, type SwitchRow } from '../../traffic/engine/store.ts'
import { tick } from '../../traffic/engine/watch.ts'
import { actionKey } from '../../traffic/model/action.ts'
import type { RoutePlan } from '../../traffic/model/plan.ts'
import { ElbError } from '../fake-aws/fake-elbv2.ts'
import { describeEachWithTables } from '../support/databases.ts'
import { putEnvironmentBack } from '../support/environment.ts'
import { startWorld, type World } from './support/world.ts'

describeEachWithTables('traffic switch', (database) => {
  let world: World
  let clock: Date
  let engine: Engine
  const saved = { ...process.env }

  beforeAll(() => prepareDatabase(database.database))
  beforeEach(() => {
    clock = new Date('2026-11-15T12:00:00Z')
    engine = { database: database.database, connect, now: () => clock, pollMs: 3 }
  })
  afterEach(async () => {
    await database.database.kysely.deleteFrom('_weir_traffic_claims').execute()
    putEnvironmentBack(saved)
    await world.close()
  })

  async function start(change: (plan: RoutePlan) => void = () => {}): Promise<SwitchRow> {
    world = await startWorld(change)
    world.elb.now = world.route53.now = () => clock
    Object.assign(process.env, world.environment)
    return createSwitch(database.database, world.plan, 'ada')
  }
  const go = (row: SwitchRow, action: Request['action'], more: Partial<Request> = {}) =>
    act(engine, row.id, { action, actor: 'ada', ...more })
  const confirmed = () => ({ confirm: world.plan.name })
  const actionNow = () => world.current.get('Ingress', 'shop', 'web')?.metadata.annotations[actionKey('web-switch')]
  const setAction = (text: string) =>
    world.current.update(
      world.current.get('Ingress', 'shop', 'web')!,
      (object) => (object.metadata.annotations[actionKey('web-switch')] = text),
    )
  const deployments = () =>
    database.database.kysely
      .selectFrom('cicd_deployments')
      .selectAll()
      .where('cicd_scope_id', '=', 'weir:TrafficSwitch:shop')
      .execute()

  /** Takes a switch to a state by the shortest legal path. */
  async function reach(row: SwitchRow, state: string): Promise<void> {
    if (state === 'draft') return
    await go(row, 'prepare')
    if (state === 'prepared') return
    await go(row, 'advance')
    if (state === 'shifting') return
    if (state === 'paused') return void (await go(row, 'pause'))
    for (let step = 0; step < 3; step++) await go(row, 'advance')
    if (state === 'switched') return
    world.pointDnsAt('target')
    await go(row, 'dns')
    if (state === 'dns-switched') return
    await go(row, 'cleanup', { ...confirmed(), skipQuiet: true, reason: 'test' })
  }

  test('the whole life, in the right order and with nothing else touched', async () => {
    const row = await start()
    const neighbours = structuredClone([
      world.current.get('Ingress', 'shop', 'web')!.spec.rules[1],
      world.target.get('Ingress', 'shop', 'web')!.spec,
    ])
    await go(row, 'prepare')
    expect(world.liveWeights()).toEqual([100, 0])
    expect([...world.target.calls]).toEqual(['PATCH Ingress web', 'PATCH TargetGroupBinding web-switch'])
    expect(world.current.calls).toEqual(['PATCH Ingress web'])

    const seen: unknown[] = []
    for (let step = 0; step < 3; step++) {
      await go(row, 'advance')
      seen.push(world.liveWeights())
    }
    expect(seen).toEqual([
      [90, 10],
      [50, 50],
      [0, 100],
    ])
    expect(JSON.parse(actionNow()).forwardConfig.targetGroupStickinessConfig).toEqual({ enabled: false })
    expect((await go(row, 'advance')).state).toBe('switched')

    await expect(go(row, 'cleanup', confirmed())).rejects.toThrow('Clean-up comes after the DNS switch is confirmed')
    await expect(go(row, 'dns')).rejects.toThrow('shop.example.com resolves to 10.1.0.1')
    expect((await getSwitch(database.database, row.id)).state).toBe('switched')
    world.pointDnsAt('target')
    await go(row, 'dns')
    await expect(go(row, 'cleanup', confirmed())).rejects.toThrow('Wait 60 more minutes')
    clock = new Date(clock.getTime() + 61 * 60_000)
    await expect(go(row, 'cleanup')).rejects.toThrow('Confirm with the name of the plan')
    await go(row, 'cleanup', confirmed())

    const effects = (await journalOf(database.database, row.id))
      .filter(({ action, kind }) => action === 'cleanup' && kind === 'intent')
      .map(({ effect }) => effect)
    expect(effects).toEqual([
      'detach',
      'fields-released',
      'rule-released',
      'binding-deleted',
      'targets-deregistered',
      'target-group-deleted',
    ])
    expect(world.elb.calls).toEqual(['CreateTargetGroup', 'DeleteTargetGroup'])
    expect(world.liveWeights()).toBeUndefined()
    expect(actionNow()).toBeUndefined()
    expect(world.target.get('TargetGroupBinding', 'shop', 'web-switch')).toBeUndefined()
    expect([
      world.current.get('Ingress', 'shop', 'web')!.spec.rules[1],
      world.target.get('Ingress', 'shop', 'web')!.spec,
    ]).toEqual(neighbours)
    expect(describeSwitch(await getSwitch(database.database, row.id))).toMatchObject({
      state: 'cleaned-up',
      problem: null,
      actions: [],
    })
    expect(await deployments()).toMatchObject([{ result: 'SUCCESS', environment: 'PRODUCTION', status: 'DONE' }])
    const commits = await database.database.kysely
      .selectFrom('cicd_deployment_commits')
      .innerJoin('project_mapping', 'row_id', 'cicd_scope_id')
      .select(['project_name', 'result'])
      .execute()
    expect(commits).toEqual([{ project_name: 'shop', result: 'SUCCESS' }])
  })

  describe('rollback', () => {
    test.each(['draft', 'prepared', 'shifting', 'paused', 'switched', 'dns-switched'])('from %s', async (state) => {
      const row = await start()
      await reach(row, state)
      if (state === 'dns-switched') {
        await expect(go(row, 'rollback')).rejects.toThrow('Move the record')
        expect(world.liveWeights()).toEqual([100, 0])
        world.pointDnsAt('current')
      }
      const after = await go(row, 'rollback')
      expect(after.state).toBe('rolled-back')
      expect(world.liveWeights()).toEqual(state === 'draft' ? undefined : [100, 0])
      if (state === 'draft') return
      expect(JSON.parse(actionNow()).forwardConfig.targetGroupStickinessConfig).toEqual({ enabled: false })
      if (state === 'shifting') {
        expect((await deployments()).find(({ id }) => id.includes(row.id))).toMatchObject({
          result: 'FAILURE',
          original_result: 'rolled-back',
        })
        await go(row, 'prepare')
        expect((await go(row, 'advance')).state).toBe('shifting')
        await go(row, 'rollback')
      }
      expect((await go(row, 'abort', confirmed())).state).toBe('aborted')
      expect(world.elb.calls.at(-1)).toBe('DeleteTargetGroup')
      expect(world.current.get('Ingress', 'shop', 'web')!.spec.rules[0].http.paths[0].backend.service).toEqual({
        name: 'web',
        port: { number: 80 },
      })
    })

    test('from preparing, when the controller is down', async () => {
      const row = await start((plan) => (plan.verifyTimeoutSeconds = 1))
      world.currentController.isPaused = true
      await expect(go(row, 'prepare')).rejects.toThrow('no rule of the load balancer names the target group yet')
      expect((await getSwitch(database.database, row.id)).state).toBe('preparing')
      world.currentController.isPaused = false
      world.currentController.reconcile()
      expect((await go(row, 'rollback')).state).toBe('rolled-back')
      expect(world.liveWeights()).toEqual([100, 0])
    })

    test.each(['keep-service', 'delete-ingress'] as const)(
      'from cleaning (%s) brings the current side back',
      async (currentIngress) => {
        const row = await start((plan) => {
          plan.cleanup.currentIngress = currentIngress
          plan.verifyTimeoutSeconds = 1
        })
        if (currentIngress === 'delete-ingress')
          world.current.update(world.current.get('Ingress', 'shop', 'web')!, (object) => object.spec.rules.pop())
        await reach(row, 'dns-switched')
        // A target that was registered by hand keeps the clean-up waiting.
        const [arn] = [...world.elb.groups.values()]
          .filter(({ name }) => name === world.plan.targetGroup.name)
          .map((group) => group.arn)
        world.elb.register(arn!, ['10.9.9.9:8080'])
        await expect(go(row, 'cleanup', { ...confirmed(), skipQuiet: true, reason: 'test' })).rejects.toThrow(
          '1 target still registered',
        )
        expect((await getSwitch(database.database, row.id)).state).toBe('cleaning')
        world.pointDnsAt('current')
        const rolledBack = go(
          row,
          'rollback',
          currentIngress === 'delete-ingress'
            ? { uncheckedDns: true, reason: 'the load balancer is being made again' }
            : {},
        )
        expect((await rolledBack).state).toBe('rolled-back')
        const ingress = world.current.get('Ingress', 'shop', 'web')!
        // The deleted Ingress is created again as it was at that moment: with the action.
        expect(ingress.spec.rules[0].http.paths[0].backend.service).toEqual(
          currentIngress === 'delete-ingress'
            ? { name: 'web-switch', port: { name: 'use-annotation' } }
            : { name: 'web', port: { number: 80 } },
        )
        expect(ingress.spec.rules).toHaveLength(currentIngress === 'delete-ingress' ? 1 : 2)
      },
    )

    test('from rolling-back it continues, from rolled-back it changes nothing', async () => {
      const row = await start((plan) => (plan.verifyTimeoutSeconds = 1))
      await reach(row, 'shifting')
      world.currentController.isPaused = true
      world.elb.intercept = (action) =>
        action === 'ModifyRule' ? new ElbError('AccessDenied', 'not authorized') : undefined
      await expect(go(row, 'rollback')).rejects.toThrow('wanted 100/0')
      expect((await getSwitch(database.database, row.id)).state).toBe('rolling-back')
      world.elb.intercept = () => undefined
      world.currentController.isPaused = false
      world.currentController.reconcile()
      expect((await go(row, 'rollback')).state).toBe('rolled-back')
      const calls = world.current.calls.length
      expect((await go(row, 'rollback')).state).toBe('rolled-back')
      expect(world.current.calls).toHaveLength(calls)
    })

    test('from cleaned-up it becomes a new switch in the other direction', async () => {
      const row = await start()
      await reach(row, 'cleaned-up')
      const back = describeSwitch(await reverseSwitch(engine, row, 'ada'))
      expect(back.state).toBe('draft')
      expect(back.plan).toMatchObject({
        current: { cluster: 'green' },
        target: { cluster: 'blue' },
        binding: { sourceSecurityGroup: 'sg-0fedcba9876543210' },
      })
      expect((await act(engine, back.id, { action: 'prepare', actor: 'ada' })).state).toBe('prepared')
    })
  })

  describe('drift', () => {
    const foreign = '{"type":"forward","targetGroupARN":"arn:other"}'

    test('is reported and never overwritten', async () => {
      const row = await start()
      await reach(row, 'shifting')
      setAction(foreign)
      await expect(go(row, 'advance')).rejects.toMatchObject({
        trouble: 'conflict',
        message: expect.stringContaining('Drift: annotation'),
      })
      expect(actionNow()).toBe(foreign)
      expect(await getSwitch(database.database, row.id)).toMatchObject({
        state: 'paused',
        problem: expect.stringContaining(foreign),
      })
      await expect(go(row, 'advance', { acceptLive: true })).rejects.toThrow('say why with --reason')
      expect((await go(row, 'advance', { acceptLive: true, reason: 'a test of mine' })).state).toBe('shifting')
      expect(world.liveWeights()).toEqual([50, 50])
    })

    test('a change between look and write is refused by the API server', async () => {
      const row = await start()
      await reach(row, 'prepared')
      const outside = await connect(world.plan)
      const racing: Engine = {
        ...engine,
        connect: async () => ({
          ...outside,
          current: {
            ...outside.current,
            patchIngress: async (...call) => {
              setAction(foreign)
              return outside.current.patchIngress(...call)
            },
          },
        }),
      }
      await expect(act(racing, row.id, { action: 'advance', actor: 'ada' })).rejects.toMatchObject({
        trouble: 'conflict',
        message: expect.stringContaining('Drift: annotation'),
      })
      expect(actionNow()).toBe(foreign)
    })

    test('another owner of a field is named, not overruled', async () => {
      const row = await start()
      const ingress = structuredClone(world.target.get('Ingress', 'shop', 'web')!)
      ingress.metadata.annotations['alb.ingress.kubernetes.io/multi-cluster-target-group'] = 'false'
      world.target.seed(ingress, 'helm')
      await expect(go(row, 'prepare')).rejects.toThrow('conflict with "helm"')
    })
  })

  test('a plan edited by hand in the middle of a shift is refused', async () => {
    const row = await start()
    await reach(row, 'shifting')
    const edited = structuredClone(world.plan)
    edited.steps[2]!.weights = { current: 20, target: 80 }
    await database.database.kysely
      .updateTable('_weir_traffic_switches')
      .set({ plan: JSON.stringify(edited) })
      .where('id', '=', row.id)
      .execute()
    const before = world.current.calls.length
    await expect(go(row, 'advance')).rejects.toThrow('was changed by hand; nothing was applied')
    expect(world.current.calls).toHaveLength(before)
  })

  test('preflight refuses what does not fit, and nothing is applied', async () => {
    const row = await start((plan) => {
      plan.current.ingress.groupName = 'another-group'
      plan.binding.sourceSecurityGroup = 'sg-11111111'
    })
    world.elb.addLoadBalancer('x', 'sg-11111111')
    const live = structuredClone(world.current.get('Ingress', 'shop', 'web')!)
    live.metadata.finalizers = ['group.ingress.k8s.aws/shop-current']
    world.current.seed(live)
    await expect(go(row, 'prepare')).rejects.toMatchObject({
      trouble: 'invalid',
      findings: expect.arrayContaining([expect.objectContaining({ code: 'TS-G03' })]),
    })
    expect([...world.current.calls, ...world.target.calls, ...world.elb.calls]).toEqual([])
    expect((await getSwitch(database.database, row.id)).state).toBe('draft')
  })

  test('weight for a target group without healthy targets is refused', async () => {
    const row = await start()
    await reach(row, 'prepared')
    for (const group of world.elb.groups.values()) group.targets.clear()
    await expect(go(row, 'advance')).rejects.toThrow('TS-H01')
    expect(world.liveWeights()).toEqual([100, 0])
  })

  test('a dry run asks the API servers and changes nothing', async () => {
    const row = await start()
    const lines = await preview(engine, row, { action: 'prepare' })
    expect(lines).toEqual(
      expect.arrayContaining([
        expect.stringContaining('preflight: nothing to do'),
        expect.stringContaining('target-ingress: would change'),
      ]),
    )
    expect(world.target.calls).toEqual(['PATCH Ingress web (dry run)'])
    expect(world.elb.calls).toEqual([])
    await reach(row, 'prepared')
    const next = await preview(engine, await getSwitch(database.database, row.id), { action: 'advance' })
    expect(next).toContainEqual(
      expect.stringContaining('weights: would change, because the annotation still says 100/0'),
    )
    expect(world.liveWeights()).toEqual([100, 0])
  })

  test('in mode observe nothing is written; it waits for what render printed', async () => {
    const row = await start((plan) => {
      plan.mode = 'observe'
      plan.verifyTimeoutSeconds = 1
    })
    await expect(go(row, 'prepare')).rejects.toThrow('mode observe: apply what render printed')
    expect([...world.current.calls, ...world.target.calls, ...world.elb.calls]).toEqual([])
  })

  test('illegal moves are refused and say what is possible', async () => {
    const row = await start()
    await expect(go(row, 'advance')).rejects.toThrow(
      'Cannot advance while the switch is draft. Possible now: prepare, rollback, abort.',
    )
    await reach(row, 'prepared')
    await expect(go(row, 'cleanup', confirmed())).rejects.toThrow('npx weir traffic abort')
    await expect(go(row, 'dns')).rejects.toThrow('Cannot dns while the switch is prepared')
    await go(row, 'advance')
    await expect(go(row, 'cleanup', confirmed())).rejects.toThrow('Clean-up comes after')
    process.env.KUBECONFIG = '/nowhere'
    await expect(go(row, 'advance')).rejects.toThrow('KUBECONFIG')
    process.env.KUBECONFIG = world.environment.KUBECONFIG
    expect(await getSwitch(database.database, row.id)).toMatchObject({ state: 'shifting', problem: null })
    const twin = await createSwitch(database.database, world.plan, 'bob')
    await expect(go(twin, 'prepare')).rejects.toThrow(`Switch ${row.id} already works on action web-switch`)
    await expect(go(row, 'advance', { expectedVersion: 1 })).rejects.toMatchObject({ status: 412 })
  })

  test('two processes at once: one works, the other is refused', async () => {
    const row = await start()
    const results = await Promise.allSettled([go(row, 'prepare'), go(row, 'prepare')])
    expect(results.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
    expect(world.elb.calls).toEqual(['CreateTargetGroup'])
  })

  test('the watch moves an automatic switch on, and pauses one that drifted', async () => {
    const row = await start((plan) => {
      plan.advance = 'auto'
      plan.steps[1]!.dwellSeconds = 60
    })
    await reach(row, 'shifting')
    expect((await tick(engine, row.id)).step).toBe(1)
    clock = new Date(clock.getTime() + 60_000)
    expect((await tick(engine, row.id)).step).toBe(2)
    setAction('{"type":"forward","targetGroupARN":"arn:other"}')
    expect(await tick(engine, row.id)).toMatchObject({ state: 'paused', problem: expect.stringContaining('Drift') })
  })

  describe('gates', () => {
    const insert = (table: string, values: Record<string, unknown>) =>
      database.database.kysely.insertInto(table).values(values).execute()
    afterEach(async () => {
      for (const table of ['incidents', 'cicd_deployments', 'project_mapping', '_weir_rollouts'])
        await database.database.kysely.deleteFrom(table).execute()
    })

    test('incidents: none known is inconclusive, none opened passes, one pauses', async () => {
      const row = await start((plan) => (plan.steps[1]!.gates = [{ kind: 'incidents', max: 0 }]))
      await reach(row, 'shifting')
      await expect(go(row, 'advance')).rejects.toThrow('incidents inconclusive: the project has no source of incidents')
      await insert('project_mapping', { project_name: 'shop', table: 'boards', row_id: 'jira:JiraBoard:1:7' })
      await expect(go(row, 'advance')).rejects.toThrow('the data ends at')
      const incident = {
        table: 'boards',
        scope_id: 'jira:JiraBoard:1:7',
        updated_at: new Date(clock.getTime() + 60_000),
      }
      await insert('incidents', { ...incident, id: 'old', created_date: new Date(clock.getTime() - 60_000) })
      await insert('incidents', { ...incident, id: 'new', created_date: clock })
      await expect(go(row, 'advance')).rejects.toMatchObject({
        trouble: 'gate',
        message: expect.stringContaining('1 incident opened, at most 0 allowed'),
      })
      expect((await getSwitch(database.database, row.id)).state).toBe('paused')
      expect(world.liveWeights()).toEqual([90, 10])
      await database.database.kysely.deleteFrom('incidents').where('id', '=', 'new').execute()
      expect((await go(row, 'advance')).step).toBe(2)
    })

    test('failure rate: too few is inconclusive, clear failure rolls back', async () => {
      const row = await start((plan) => {
        plan.steps[1]!.gates = [{ kind: 'failureRate', max: 0.1, minSamples: 5 }]
        plan.steps[1]!.onFail = 'rollback'
      })
      await reach(row, 'shifting')
      await expect(go(row, 'advance')).rejects.toThrow('failureRate inconclusive: no deployment finished')
      await insert('project_mapping', { project_name: 'shop', table: 'cicd_scopes', row_id: 'github:GithubRepo:1:9' })
      const deploy = (id: string, result: string) =>
        insert('cicd_deployments', {
          id,
          cicd_scope_id: 'github:GithubRepo:1:9',
          result,
          environment: 'PRODUCTION',
          created_date: clock,
          finished_date: clock,
          updated_at: new Date(clock.getTime() + 1000),
        })
      await deploy('one', 'SUCCESS')
      await expect(go(row, 'advance')).rejects.toThrow('too few to be sure')
      for (const id of ['two', 'three', 'four']) await deploy(id, 'FAILURE')
      // Runs made these deployments too. Each was reported twice and counts once.
      for (const id of ['one', 'two']) {
        await deploy(`run ${id}`, 'SUCCESS')
        const rollout = { deployment_id: `run ${id}`, rollout_id: id, reason: 'run', is_counted: false }
        await insert('_weir_rollouts', { project_name: 'shop', ...rollout })
      }
      await expect(go(row, 'advance')).rejects.toThrow(
        '3 of 4 deployments failed, at most 10 % allowed. Traffic was rolled back',
      )
      expect((await getSwitch(database.database, row.id)).state).toBe('rolled-back')
      expect(world.liveWeights()).toEqual([100, 0])
    })

    test('approval, health, dwell and an override with its reason', async () => {
      const row = await start((plan) => {
        plan.steps[1]!.dwellSeconds = 600
        plan.steps[1]!.gates = [
          { kind: 'approval' },
          { kind: 'targetsHealthy', minHealthy: 1, minRatio: 1, failureLimit: 3 },
        ]
      })
      await reach(row, 'shifting')
      await expect(go(row, 'advance')).rejects.toThrow('must stay for 600 more seconds')
      clock = new Date(clock.getTime() + 600_000)
      await expect(go(row, 'advance')).rejects.toThrow('approval pending')
      await approve(engine, row.id, 'grace')
      const group = [...world.elb.groups.values()].find(({ name }) => name === world.plan.targetGroup.name)!
      group.targets.set('10.2.1.2:8080', 'unhealthy')
      await expect(go(row, 'advance')).rejects.toThrow('1 of 2 targets are healthy')
      await expect(go(row, 'advance', { overrideGates: true })).rejects.toThrow('say why with --reason')
      expect((await go(row, 'advance', { overrideGates: true, reason: 'one pod is being replaced' })).step).toBe(2)
      expect(
        (await journalOf(database.database, row.id)).some(({ detail }) => detail.includes('one pod is being replaced')),
      ).toBe(true)
    })
  })
})
