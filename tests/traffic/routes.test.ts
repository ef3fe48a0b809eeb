/** Several routes in one switch move together and roll back together. */
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { afterEach, describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { describeStatus } from '../../src/cli/traffic/status-text.ts'
import { connect } from '../../traffic/engine/connect.ts'
import { act } from '../../traffic/engine/engine.ts'
import type { Engine } from '../../traffic/engine/engine-types.ts'
import { preview } from '../../traffic/engine/preview.ts'
import { reversePlan } from '../../traffic/engine/reverse.ts'
import { switchStatus } from '../../traffic/engine/status.ts'
import { createSwitch, describeSwitch, type SwitchRow } from '../../traffic/engine/store.ts'
import { planColumns, planOf } from '../../traffic/engine/stored-plan.ts'
import { tick } from '../../traffic/engine/watch.ts'
import { lintPlan } from '../../traffic/lint/plan.ts'
import { actionKey } from '../../traffic/model/action.ts'
import { gateSchema } from '../../traffic/model/gate-schema.ts'
import { type Plan, parsePlan, type RoutePlan, readPlan } from '../../traffic/model/plan.ts'
import { routesOf } from '../../traffic/model/routes.ts'
import { joinFiles, phasesOf, renderPhase } from '../../traffic/render/render.ts'
import { blocksOf } from '../documents/blocks.ts'
import { type FakeCloudWatch, startFakeCloudWatch } from '../fake-aws/fake-cloudwatch.ts'
import { ElbError } from '../fake-aws/fake-elbv2.ts'
import { describeOneWithTables } from '../support/databases.ts'
import { ROUTE_NAMES, type RouteName, withRoutes } from './support/many-routes.ts'
import { shopPlan } from './support/shop.ts'
import { setStage, withGates } from './support/stage.ts'

const MULTI_CLUSTER = 'alb.ingress.kubernetes.io/multi-cluster-target-group'
const all = (weights: readonly [number, number], names: readonly string[] = ROUTE_NAMES) =>
  Object.fromEntries(names.map((name) => [name, weights]))

describeOneWithTables('several routes', (database) => {
  const stage = setStage(database)
  const { go, shift, now, journal } = stage
  const start = (change: (plan: RoutePlan) => void = () => {}, names: readonly RouteName[] = ROUTE_NAMES) =>
    stage.start(change, names)
  const routeOf = (name: string) => stage.world.routes.find(({ route }) => route?.name === name)!
  const freeLease = ({ id }: SwitchRow) =>
    database.database.kysely
      .updateTable('_weir_traffic_switches')
      .set({ lease_holder: null, lease_until: null })
      .where('id', '=', id)
      .execute()
  const patches = () => stage.world.current.calls.filter((call) => call.startsWith('PATCH Ingress'))

  describe('in lockstep', () => {
    test('from prepare to clean-up: every effect on all routes before the next, and all is as it was', async () => {
      const row = await start()
      const originals = ['web', 'media', 'admin'].map((name) => structuredClone(stage.ingress(name)))
      await go(row, 'prepare')
      expect(stage.weights()).toEqual(all([100, 0]))
      for (const weights of [
        [90, 10],
        [50, 50],
        [0, 100],
      ] as const) {
        await go(row, 'advance')
        expect(stage.weights()).toEqual(all(weights))
      }
      expect((await go(row, 'advance')).state).toBe('switched')
      const entries = await journal(row)
      const placesOf = (action: string, effect: string) =>
        entries.flatMap((entry) =>
          entry.action === action && entry.kind === 'result' && entry.effect.startsWith(`${effect} (`)
            ? [entry.sequence]
            : [],
        )
      // With four routes, the fourth entry of one kind comes before the first entry of the next.
      for (const [action, first, then] of [
        ['prepare', 'preflight', 'target-group'],
        ['prepare', 'attach', 'rule-verified'],
        ['advance', 'health-before', 'weights'],
        ['advance', 'weights', 'rule-verified'],
      ] as const)
        expect(placesOf(action, first)[3]).toBeLessThan(placesOf(action, then)[0]!)

      stage.world.pointDnsAt('target')
      expect((await go(row, 'dns')).state).toBe('dns-switched')
      expect((await go(row, 'cleanup', stage.confirmed())).state).toBe('cleaned-up')
      for (const original of originals) {
        const { spec, metadata } = stage.ingress(original.metadata.name)
        expect(spec).toEqual(original.spec)
        expect(metadata.annotations).toEqual({ ...original.metadata.annotations, [MULTI_CLUSTER]: 'true' })
      }
      for (const route of stage.world.routes) {
        expect(stage.group(route)).toBeUndefined()
        expect(stage.world.target.get('TargetGroupBinding', 'shop', route.binding.name)).toBeUndefined()
      }
      expect(await database.database.kysely.selectFrom('_weir_traffic_claims').selectAll().execute()).toEqual([])
      expect(stage.world.elb.inUseRefusals).toBe(0)
    })

    test('a route without healthy targets holds all of them, and is named', async () => {
      const row = await start()
      await shift(row, 1)
      stage.setHealth('unhealthy', routeOf('admin'))
      await expect(go(row, 'advance')).rejects.toThrow(
        /of route admin has weight 10 and 0 of 2.*Traffic was rolled back/s,
      )
      expect(stage.weights()).toEqual(all([100, 0]))
      stage.setHealth('healthy', routeOf('admin'))
      await go(row, 'prepare')
      stage.setHealth('unhealthy', routeOf('admin'))
      const before = patches().length
      await expect(go(row, 'advance')).rejects.toThrow(/Route admin: .*TS-H01/s)
      expect(stage.weights()).toEqual(all([100, 0]))
      expect(patches()).toHaveLength(before)
    })

    test('what does not fit one route changes nothing on any', async () => {
      const row = await start()
      stage.edit(
        (object) => (object.metadata.annotations = { 'alb.ingress.kubernetes.io/auth-type': 'oidc' }),
        'Service',
        'media',
      )
      await expect(go(row, 'prepare')).rejects.toMatchObject({
        message: expect.stringContaining('Route media'),
        findings: expect.arrayContaining([
          expect.objectContaining({ code: 'TS-X05', path: 'routes[2].current.service' }),
        ]),
      })
      expect([...stage.world.current.calls, ...stage.world.target.calls, ...stage.world.elb.calls]).toEqual([])
      expect((await now(row)).state).toBe('draft')
    })

    test('a target Ingress that is missing is made with the paths of all its routes', async () => {
      const row = await start(undefined, ['web', 'cart'])
      stage.world.target.update(stage.world.target.get('Ingress', 'shop', 'web')!, ({ metadata }) =>
        Object.assign(metadata, { deletionTimestamp: new Date().toISOString(), finalizers: [] }),
      )
      await go(row, 'prepare')
      const { spec } = stage.world.target.get('Ingress', 'shop', 'web')!
      expect(spec.rules).toMatchObject([
        {
          host: 'shop.example.com',
          http: {
            paths: [
              { path: '/', backend: { service: { name: 'web' } } },
              { path: '/cart', backend: { service: { name: 'cart' } } },
            ],
          },
        },
      ])
    })

    test('drift on one route pauses the switch and says which', async () => {
      const row = await start(undefined, ['web', 'cart'])
      await shift(row, 1)
      stage.edit((object) => (object.metadata.annotations[actionKey('cart-switch')] = '{"type":"forward"}'))
      const paused = await tick(stage.engine, row.id)
      expect(paused).toMatchObject({ state: 'paused', problem: expect.stringContaining('Route cart: Drift') })
      await expect(go(row, 'advance')).rejects.toThrow(/Route cart: Drift.*Routes now: web 90\/10, cart /s)
    })
  })

  describe('killed', () => {
    /** An engine that stops forever at its `write`th write of an Ingress, as if it were killed. */
    const dyingAt = (write: number): { engine: Engine; died: Promise<void> } => {
      let left = write
      let die = (): void => {}
      const died = new Promise<void>((resolve) => (die = resolve))
      const engine: Engine = {
        ...stage.engine,
        connect: async (plan) => {
          const outside = await connect(plan)
          const patchIngress: typeof outside.current.patchIngress = (...call) => {
            if (--left > 0) return outside.current.patchIngress(...call)
            die()
            return new Promise(() => {})
          }
          return { ...outside, current: { ...outside.current, patchIngress } }
        },
      }
      return { engine, died }
    }

    test('between two routes, a step is taken up where it stood', async () => {
      const row = await start()
      await shift(row, 1)
      const { engine, died } = dyingAt(3)
      await Promise.race([act(engine, row.id, { action: 'advance', actor: 'ada' }), died])
      await freeLease(row)
      await expect.poll(() => stage.weights()).toEqual({ ...all([90, 10]), web: [50, 50], cart: [50, 50] })
      expect(await now(row)).toMatchObject({ state: 'shifting', step: 2, verified_at: null })
      const before = patches().length
      await go(row, 'advance')
      expect(stage.weights()).toEqual(all([50, 50]))
      expect(patches().slice(before)).toEqual(['PATCH Ingress media', 'PATCH Ingress admin'])
    })

    test('between two routes, a rollback leads back from both', async () => {
      const row = await start()
      await shift(row, 1)
      const { engine, died } = dyingAt(2)
      await Promise.race([act(engine, row.id, { action: 'advance', actor: 'ada' }), died])
      await freeLease(row)
      await go(row, 'rollback')
      expect(stage.weights()).toEqual(all([100, 0]))
    })

    test('in the middle of a rollback, the watch brings the others back', async () => {
      const row = await start()
      await shift(row, 2)
      const { engine, died } = dyingAt(3)
      await Promise.race([act(engine, row.id, { action: 'rollback', actor: 'ada' }), died])
      await freeLease(row)
      expect((await now(row)).state).toBe('rolling-back')
      expect((await tick(stage.engine, row.id)).state).toBe('rolled-back')
      expect(stage.weights()).toEqual(all([100, 0]))
    })
  })

  describe('going back', () => {
    test('a route that fails for a while does not keep the others, and follows', async () => {
      const row = await start()
      await shift(row, 2)
      const others = ['web', 'cart', 'media']
      // Refuse the write until the other routes are back. If they waited for this one, they never would be.
      stage.world.current.intercept = (method, kind, name) =>
        method === 'PATCH' &&
        kind === 'Ingress' &&
        name === 'admin' &&
        others.some((each) => stage.weights()[each]![1] > 0)
          ? 503
          : undefined
      expect((await go(row, 'rollback')).state).toBe('rolled-back')
      expect(stage.weights()).toEqual(all([100, 0]))
    })

    test('a route that cannot be taken back is told by its name; the watch repeats until all hold', async () => {
      const row = await start((plan) => (plan.verifyTimeoutSeconds = 4))
      await shift(row, 2)
      stage.world.current.intercept = (method, _kind, name) =>
        method === 'PATCH' && name === 'media' ? 403 : undefined
      await expect(go(row, 'rollback')).rejects.toThrow(
        /Route media: .*HTTP 403.*Routes now: web 100\/0, cart 100\/0, media 100\/0, admin 100\/0\.$/s,
      )
      expect(await now(row)).toMatchObject({ state: 'rolling-back', problem: expect.stringContaining('Route media') })
      expect(stage.weights()).toEqual(all([100, 0]))
      expect(await tick(stage.engine, row.id)).toMatchObject({ state: 'rolling-back' })
      stage.world.current.intercept = () => undefined
      expect((await tick(stage.engine, row.id)).state).toBe('rolled-back')
      expect(stage.weights()).toEqual(all([100, 0]))
    })

    test('two routes that fail are both told', async () => {
      const row = await start((plan) => (plan.verifyTimeoutSeconds = 4))
      await shift(row, 2)
      stage.world.current.intercept = (method, _kind, name) =>
        method === 'PATCH' && (name === 'media' || name === 'admin') ? (name === 'media' ? 403 : 503) : undefined
      const message = String(await go(row, 'rollback').catch((error: Error) => error))
      expect(message).toContain('Route media: ')
      expect(message).toContain('rollback-weights (admin) was not reached')
      expect(stage.weights()).toMatchObject(all([100, 0], ['web', 'cart']))
    })

    test('a cluster that is away: the rules of all load balancers are changed directly', async () => {
      const row = await start((plan) => (plan.verifyTimeoutSeconds = 4))
      await shift(row, 2)
      stage.world.current.intercept = () => 503
      await expect(go(row, 'rollback')).rejects.toThrow('The load balancer already sends everything to cluster blue')
      expect(stage.weights()).toEqual(all([100, 0]))
      stage.world.current.intercept = () => undefined
      expect((await tick(stage.engine, row.id)).state).toBe('rolled-back')
      expect(stage.weights()).toEqual(all([100, 0]))
    })

    test('throttled, all routes still come back', async () => {
      const row = await start()
      await shift(row, 2)
      let left = 12
      stage.world.elb.intercept = () => (left-- > 0 ? new ElbError('Throttling', 'Rate exceeded') : undefined)
      await go(row, 'rollback')
      expect(stage.weights()).toEqual(all([100, 0]))
    })
  })

  describe('gates', () => {
    test('one route whose targets fail rolls all of them back', async () => {
      const row = await start(withGates)
      await shift(row, 2)
      stage.setHealth('unhealthy', routeOf('cart'))
      expect((await tick(stage.engine, row.id)).state).toBe('rolled-back')
      expect(stage.weights()).toEqual(all([100, 0]))
      expect(await journal(row)).toContainEqual(
        expect.objectContaining({ effect: 'reason', detail: expect.stringContaining('target group of route cart') }),
      )
    })

    test('a gate is asked of each route and fails on any, one about the project once', async () => {
      const row = await start((plan) => {
        plan.steps[1] = {
          ...plan.steps[1]!,
          onFail: 'rollback',
          gates: [{ kind: 'targetsHealthy', minHealthy: 2, minRatio: 0, failureLimit: 1 }, { kind: 'approval' }],
        }
      })
      await shift(row, 1)
      expect((await switchStatus(stage.engine, await now(row))).gates.map(({ gate }) => gate)).toEqual([
        ...ROUTE_NAMES.map((name) => `targetsHealthy (${name})`),
        'approval',
      ])
      // One of two targets: enough to keep the alarm silent, too few for the gate.
      const { targets } = stage.group(routeOf('admin'))
      targets.set([...targets.keys()][0]!, 'unhealthy')
      await expect(go(row, 'advance')).rejects.toThrow(
        'targetsHealthy (admin) fail: 1 of 2 targets are healthy, 2 needed. Traffic was rolled back.',
      )
      expect(stage.weights()).toEqual(all([100, 0]))
    })

    describe('on numbers', () => {
      let cloudWatch: FakeCloudWatch
      afterEach(() => cloudWatch.close())

      test('errors of one route roll all back, and its number is told', async () => {
        cloudWatch = await startFakeCloudWatch()
        const gate = gateSchema.parse({ kind: 'cloudWatch', metric: 'errorRate', max: 0.01, failureLimit: 2 })
        const row = await start((plan) => {
          plan.steps[1] = { ...plan.steps[1]!, dwellSeconds: 300, onFail: 'rollback', gates: [gate] }
        })
        process.env.AWS_ENDPOINT_URL_CLOUDWATCH = cloudWatch.url
        await shift(row, 1)
        const from = Math.ceil(stage.clock.getTime() / 60_000) * 60
        for (const route of stage.world.routes)
          for (const minute of [0, 1]) {
            const { arn } = stage.group(route)
            cloudWatch.put('RequestCount', arn, from + minute * 60, 100)
            if (route.route?.name === 'media') cloudWatch.put('HTTPCode_Target_5XX_Count', arn, from + minute * 60, 7)
          }
        stage.clock = new Date(stage.clock.getTime() + 4 * 60_000)
        expect((await tick(stage.engine, row.id)).state).toBe('rolled-back')
        expect(stage.weights()).toEqual(all([100, 0]))
        const { detail } = (await journal(row)).find(({ effect }) => effect === 'reason')!
        expect(detail).toMatch(/cloudWatch errorRate \(media\): errorRate of the target was 0\.07/)
        expect(detail).not.toContain('(web)')
      })
    })
  })

  describe('names', () => {
    test('each host is asked for once; one that has not moved yet is named', async () => {
      const row = await start()
      await shift(row, 4)
      stage.world.pointDnsAt('target', 'shop.example.com')
      await expect(go(row, 'dns')).rejects.toThrow(/admin\.example\.com resolves to 10\.1\.0\.2/)
      stage.world.pointDnsAt('target', 'admin.example.com')
      stage.world.dns.asked.length = 0
      expect((await go(row, 'dns')).state).toBe('dns-switched')
      const hosts = stage.world.dns.asked.filter((name) => name.endsWith('.example.com'))
      expect(hosts.toSorted()).toEqual(['admin.example.com', 'shop.example.com'])
    })

    test('after a rollback each record is waited for, once the weights are back', async () => {
      const row = await start()
      await shift(row, 4)
      stage.world.pointDnsAt('target')
      await go(row, 'dns')
      stage.world.pointDnsAt('current', 'shop.example.com')
      await expect(go(row, 'rollback')).rejects.toThrow(/dns-current \(admin\): admin\.example\.com resolves/)
      expect(stage.weights()).toEqual(all([100, 0]))
      stage.world.pointDnsAt('current')
      expect((await tick(stage.engine, row.id)).state).toBe('rolled-back')
    })
  })

  describe('beside others', () => {
    test('no second switch on an action or a Service of any of its Ingresses', async () => {
      const row = await start()
      await go(row, 'prepare')
      const cart = routeOf('cart')
      const single = { ...shopPlan(), ...cart, name: 'twin', targetGroup: { ...cart.targetGroup, name: 'twin' } }
      const { route: _route, ...plan } = single
      const twin = await createSwitch(database.database, plan, 'bob')
      await expect(go(twin, 'prepare')).rejects.toThrow(`Switch ${row.id} already works on`)
      const other = await createSwitch(database.database, { ...plan, actionName: 'other' }, 'bob')
      await expect(go(other, 'prepare')).rejects.toThrow(
        `Switch ${row.id} already works on Service cart of Ingress web`,
      )
      await go(row, 'abort', stage.confirmed())
      expect((await go(twin, 'prepare')).state).toBe('prepared')
    })

    test('Ingresses are deleted once, and only when nothing else stands on them', async () => {
      const row = await start((plan) => (plan.cleanup.currentIngress = 'delete-ingress'))
      await shift(row, 4)
      stage.world.pointDnsAt('target')
      await go(row, 'dns')
      const deletes = () => stage.world.current.calls.filter((call) => call.startsWith('DELETE'))
      await expect(go(row, 'cleanup', stage.confirmed())).rejects.toThrow('it also has paths of Service api')
      stage.edit((object) => object.spec.rules.pop())
      const action = stage.ingress().metadata.annotations[actionKey('cart-switch')]
      stage.edit((object) => (object.metadata.annotations[actionKey('cart-switch')] = '{"type":"forward"}'))
      await expect(go(row, 'cleanup', stage.confirmed())).rejects.toThrow('Route cart: Drift')
      expect(deletes()).toEqual([])
      stage.edit((object) => (object.metadata.annotations[actionKey('cart-switch')] = action))
      const lines = await preview(stage.engine, await now(row), { action: 'cleanup' })
      expect(lines.filter((line) => line.startsWith('Deleting Ingress'))).toHaveLength(3)
      expect((await go(row, 'cleanup', stage.confirmed())).state).toBe('cleaned-up')
      expect(deletes()).toEqual(['DELETE Ingress web', 'DELETE Ingress media', 'DELETE Ingress admin'])
    })

    test('a rollback out of a half-done clean-up brings every deleted Ingress back', async () => {
      const row = await start((plan) => (plan.cleanup.currentIngress = 'delete-ingress'), ['web', 'cart', 'admin'])
      await shift(row, 4)
      stage.world.pointDnsAt('target')
      await go(row, 'dns')
      stage.edit((object) => object.spec.rules.pop())
      stage.world.target.intercept = (method) => (method === 'DELETE' ? 403 : undefined)
      await expect(go(row, 'cleanup', stage.confirmed())).rejects.toThrow('Route web')
      expect(stage.ingress()).toBeUndefined()
      await go(row, 'rollback', { uncheckedDns: true, reason: 'test' })
      expect(stage.ingress().spec.rules[0].http.paths.map(({ backend }: any) => backend.service.name)).toEqual([
        'web-switch',
        'cart-switch',
      ])
      expect(stage.weights()).toEqual({ web: [100, 0], cart: [100, 0], admin: [100, 0] })
      expect(stage.ingress('admin')).toBeDefined()
    })

    test('status, dry run and the record of a switch tell each route', async () => {
      const row = await start(undefined, ['web', 'admin'])
      expect(await preview(stage.engine, row, { action: 'prepare' })).toEqual(
        expect.arrayContaining(['preflight (web): nothing to do', 'attach (admin): once the target group exists']),
      )
      await shift(row, 2)
      const live = await switchStatus(stage.engine, await now(row))
      expect(live).toMatchObject({
        weights: { '50/50': 2 },
        health: { healthy: 4, total: 4 },
        routes: [
          { route: 'web', weights: { '50/50': 1 }, health: { healthy: 2 } },
          { route: 'admin', weights: { '50/50': 1 }, health: { healthy: 2 } },
        ],
      })
      expect(describeStatus(describeSwitch(await now(row)), live)).toContain(
        'live admin: 50/50 on 1 rule; planned 50/50; 2 of 2 targets healthy',
      )
      expect(Object.keys(describeSwitch(await now(row)).targetGroupArns)).toEqual(['web', 'admin'])
      expect(await preview(stage.engine, await now(row), { action: 'advance' })).toContain(
        'weights (admin): would change, because the annotation still says 50/50',
      )
    })
  })
})

describeOneWithTables('the worked example of the documentation', (database) => {
  const stage = setStage(database)

  test('has no findings, and runs from prepare to clean-up', async () => {
    const block = blocksOf('docs/traffic.md').find(({ runBy }) => runBy === 'tests/traffic/routes.test.ts')!
    const { plan, findings } = parsePlan(block.text)
    expect(findings).toEqual([])
    expect(lintPlan(plan!)).toEqual([])
    // Only the name servers are the test's. Everything else is as printed.
    const row = await stage.start(
      undefined,
      ({ dns }) => ({ ...plan!, dns: { ...plan!.dns, servers: dns.servers } }) as Plan,
    )
    await stage.go(row, 'prepare')
    for (const weights of [
      [90, 10],
      [0, 100],
    ] as const) {
      await stage.go(row, 'advance')
      expect(stage.weights()).toEqual(all(weights, ['web', 'cart', 'admin']))
      stage.clock = new Date(stage.clock.getTime() + 600_000)
    }
    expect((await stage.go(row, 'advance')).state).toBe('switched')
    stage.world.pointDnsAt('target')
    await stage.go(row, 'dns')
    stage.clock = new Date(stage.clock.getTime() + 60 * 60_000)
    expect((await stage.go(row, 'cleanup', { confirm: 'shop' })).state).toBe('cleaned-up')
  })
})

describe('a plan of several routes on paper', () => {
  const whole = withRoutes(shopPlan(), ROUTE_NAMES)

  test('each phase names every target group and binding once, and writes a shared Ingress once', () => {
    expect(renderPhase(whole, 'step-1').map(({ path }) => path)).toEqual([
      'README.md',
      ...ROUTE_NAMES.map((name) => `01-create-target-group.${name}.sh`),
      ...['web', 'media', 'admin'].map((name) => `02-target-ingress.shop-${name}.yaml`),
      ...ROUTE_NAMES.map((name) => `03-target-targetgroupbinding.${name}.yaml`),
      ...['web', 'media', 'admin'].map((name) => `04-current-ingress.shop-${name}.yaml`),
    ])
    const shared = renderPhase(whole, 'step-1').find(({ path }) => path === '04-current-ingress.shop-web.yaml')!
    expect(shared.content).toContain(actionKey('web-switch'))
    expect(shared.content).toContain(actionKey('cart-switch'))
    expect(joinFiles(renderPhase(whole, 'cleanup'))).toContain('shop.example.com and admin.example.com have pointed')
    for (const phase of phasesOf(whole)) expect(renderPhase(whole, phase)).toEqual(renderPhase(whole, phase))
    expect(() => renderPhase(whole, 'step-0', { targetGroupArn: 'arn:x' })).toThrow('several routes')
  })

  test('saved Ingresses are found by their names, and one that no route is on is refused', () => {
    const saved = renderPhase(whole, 'cleanup')
      .filter(({ path }) => path.endsWith('.yaml'))
      .map(({ content }) => parse(content))
    saved[0].spec.rules[0].http.paths.push({
      path: '/old',
      pathType: 'Prefix',
      backend: { service: { name: 'cart', port: { number: 80 } } },
    })
    const [shared] = renderPhase(whole, 'step-1', { currentIngress: saved.toReversed() }).filter(
      ({ path }) => path === '04-current-ingress.shop-web.yaml',
    )
    const { paths } = parse(shared!.content).spec.rules[0].http
    expect(paths.map(({ backend }: any) => backend.service.name)).toEqual(['web-switch', 'cart-switch', 'cart-switch'])
    const stranger = { ...saved[0], metadata: { ...saved[0].metadata, name: 'blog' } }
    expect(() => renderPhase(whole, 'step-1', { currentIngress: [stranger] })).toThrow('current Ingress shop/blog')
    saved[0].spec.rules[0].http.paths.splice(1)
    expect(() => renderPhase(whole, 'step-1', { currentIngress: saved })).toThrow(
      /routes\[1\]\.current\.service.*uses Service cart/s,
    )
  })

  test('its reverse is a plan without findings', () => {
    const back = reversePlan(whole, () => 'sg-0fedcba9876543210')
    expect(readPlan(back).findings).toEqual([])
    expect(lintPlan(back)).toEqual([])
    expect(routesOf(back).map(({ current }) => current.cluster)).toEqual(ROUTE_NAMES.map(() => 'green'))
  })
})

describe('a plan of one route', () => {
  // The plan as the version before routes stored it, apart from white space.
  const stored = JSON.stringify(JSON.parse(readFileSync(new URL('fixtures/stored-plan.json', import.meta.url), 'utf8')))

  /** That version also stored defaults that the plan did not mention. */
  const ofThen = shopPlan((plan) => {
    for (const step of plan.steps) step.onFail = 'pause'
  })

  test('is stored as before there were several', () => {
    expect(planColumns(ofThen).plan).toBe(stored)
  })

  test('that an earlier version stored means the same', () => {
    const plan_hash = createHash('sha256').update(stored).digest('hex')
    const plan = planOf({ id: 'old', plan: stored, plan_hash, checked_plan: null })
    expect(plan).toEqual(ofThen)
    for (const phase of phasesOf(plan))
      expect(joinFiles(renderPhase(plan, phase))).toBe(
        readFileSync(new URL(`golden/${phase}.txt`, import.meta.url), 'utf8'),
      )
  })
})
