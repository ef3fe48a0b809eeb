/** A complete switch with an independent AWS: load balancer, rules, health and the record of the host name. */
import * as dns from '@aws-sdk/client-route-53'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { migrate } from '../../src/database/migrate.ts'
import { allTables } from '../../src/tables.ts'
import { connect } from '../../traffic/engine/connect.ts'
import { act } from '../../traffic/engine/engine.ts'
import type { Engine, Request } from '../../traffic/engine/engine-types.ts'
import { createSwitch, type SwitchRow } from '../../traffic/engine/store.ts'
import { type Plan, readPlan } from '../../traffic/model/plan.ts'
import { openBalancer } from '../../traffic/vendors/balancer.ts'
import { describeEachDatabase } from '../support/databases.ts'
import { putEnvironmentBack } from '../support/environment.ts'
import { startWorld, type World } from '../traffic/support/world.ts'
import { type MotoController, startMotoController } from './controller.ts'
import { type Moto, startMoto } from './moto.ts'

let moto: Moto
beforeAll(async () => {
  moto = await startMoto()
})
afterAll(() => moto?.close())

describeEachDatabase('AWS that is not ours', (database) => {
  const saved = { ...process.env }
  let world: World
  let controllers: MotoController[] = []
  /** The time that has passed. moto knows only the real time, so everybody's clock is real time plus this. */
  let passed = 0
  let engine: Engine
  let route53: dns.Route53Client

  beforeAll(() => migrate(database.database, allTables))
  afterEach(async () => {
    for (const controller of controllers) await controller.stop()
    controllers = []
    route53.destroy()
    await database.database.kysely.deleteFrom('_weir_traffic_claims').execute()
    await world.close()
    putEnvironmentBack(saved)
  })

  const go = (row: SwitchRow, action: Request['action'], more: Partial<Request> = {}) =>
    act(engine, row.id, { action, actor: 'ada', ...more })
  const later = (seconds: number) => {
    passed += seconds * 1000
  }

  async function start(change: (plan: Plan) => void): Promise<{ row: SwitchRow; zoneId: string; names: string[] }> {
    await moto.reset()
    const names: string[] = []
    route53 = new dns.Route53Client({
      region: 'eu-central-1',
      endpoint: moto.url,
      credentials: { accessKeyId: 'AKIAFAKE', secretAccessKey: 'fake' },
    })
    const zone = await route53.send(new dns.CreateHostedZoneCommand({ Name: 'example.com', CallerReference: 'x' }))
    const zoneId = zone.HostedZone!.Id!.replace('/hostedzone/', '')
    const balancers = { current: await moto.addLoadBalancer('blue'), target: await moto.addLoadBalancer('green') }
    Object.assign(process.env, moto.environment)
    const live = await (await openBalancer('eu-central-1')).loadBalancer(balancers.current.dnsName)
    world = await startWorld((plan) => {
      for (const place of [plan.targetGroup, plan.current, plan.target]) place.vpcId = moto.vpcId
      plan.dns.route53 = { hostedZoneId: zoneId, txtPrefix: '', txtSuffix: '' }
      plan.steps = [plan.steps[0]!, plan.steps[1]!, plan.steps[3]!]
      plan.binding.sourceSecurityGroup = live!.securityGroups[0]!
      change(plan)
    })
    expect(readPlan(world.plan).findings).toEqual([])
    for (const [side, cluster, pods] of [
      ['current', world.current, ['10.1.1.1']],
      ['target', world.target, ['10.2.1.1', '10.2.1.2']],
    ] as const) {
      const { dnsName, listener } = balancers[side]
      names.push(dnsName)
      const ingress = structuredClone(cluster.get('Ingress', 'shop', 'web')!)
      ingress.status = { loadBalancer: { ingress: [{ hostname: dnsName }] } }
      cluster.seed(ingress)
      world.dns.records.set(dnsName.toLowerCase(), side === 'current' ? '10.1.0.1' : '10.2.0.1')
      const controller = startMotoController(moto, cluster, listener, pods)
      controllers.push(controller)
      await controller.settled()
    }
    const alias = {
      HostedZoneId: balancers.current.zoneId,
      DNSName: `${balancers.current.dnsName}.`,
      EvaluateTargetHealth: true,
    }
    const record = { Name: 'shop.example.com.', Type: 'A' as const, AliasTarget: alias }
    const Changes = [{ Action: 'UPSERT' as const, ResourceRecordSet: record }]
    await route53.send(new dns.ChangeResourceRecordSetsCommand({ HostedZoneId: zoneId, ChangeBatch: { Changes } }))
    const { KUBECONFIG } = world.environment
    Object.assign(process.env, moto.environment, { KUBECONFIG })
    for (const name of ['AWS_ENDPOINT_URL_ELASTIC_LOAD_BALANCING_V2', 'AWS_ENDPOINT_URL_ROUTE_53'])
      delete process.env[name]
    passed = 0
    const connectLater: Engine['connect'] = async (...call) => {
      const outside = await connect(...call)
      const { clock } = outside
      const at = (time: number | undefined) => (time === undefined ? undefined : time + passed)
      return {
        ...outside,
        clock: {
          get heard() {
            return clock.heard
          },
          get last() {
            return at(clock.last)
          },
          get rules() {
            return at(clock.rules)
          },
        },
      }
    }
    engine = { database: database.database, connect: connectLater, now: () => new Date(Date.now() + passed), pollMs: 3 }
    return { row: await createSwitch(database.database, world.plan, 'ada'), zoneId, names }
  }
  const recordOf = async (zoneId: string) =>
    (await route53.send(new dns.ListResourceRecordSetsCommand({ HostedZoneId: zoneId }))).ResourceRecordSets!.filter(
      ({ Name }) => Name === 'shop.example.com.',
    )
  const weights = async (): Promise<readonly (readonly number[])[]> => {
    const outside = await connect(world.plan)
    const group = (await outside.balancer.targetGroup(world.plan.targetGroup.name))!
    const found = await Promise.all(group.loadBalancerArns.map((arn) => outside.balancer.rules(arn)))
    return found
      .flat()
      .filter(({ groups }) => groups.some(({ arn }) => arn === group.arn))
      .map(({ groups }) => groups.map(({ weight }) => weight))
  }

  test('prepared, moved, the record moved, and cleaned up', async () => {
    const { row, zoneId, names } = await start(() => {})
    await go(row, 'prepare')
    expect(await weights()).toEqual([[100, 0]])
    await go(row, 'advance')
    expect(await weights()).toEqual([[90, 10]])
    await go(row, 'advance')
    expect((await go(row, 'advance')).state).toBe('switched')
    expect(await weights()).toEqual([[0, 100]])
    await expect(go(row, 'dns')).rejects.toThrow('Wait 60 s more')
    expect((await recordOf(zoneId)).map(({ AliasTarget }) => AliasTarget?.DNSName)).toEqual([`${names[1]}.`])
    later(60)
    world.dns.records.set('shop.example.com', '10.2.0.1')
    expect((await go(row, 'dns')).state).toBe('dns-switched')
    const end = await go(row, 'cleanup', { confirm: world.plan.name, skipQuiet: true, reason: 'test' })
    expect(end.state).toBe('cleaned-up')
    expect(await (await connect(world.plan)).balancer.targetGroup(world.plan.targetGroup.name)).toBeUndefined()
  })

  test('rolled back out of the middle of weighted records, which are taken away again', async () => {
    const { row, zoneId, names } = await start((plan) => {
      plan.dns.route53!.shares = [25, 100]
    })
    const before = await recordOf(zoneId)
    await go(row, 'prepare')
    for (let step = 0; step < 3; step++) await go(row, 'advance')
    await expect(go(row, 'dns')).rejects.toThrow('Wait 60 s more')
    expect((await recordOf(zoneId)).map(({ Weight, AliasTarget }) => [Weight, AliasTarget?.DNSName])).toEqual([
      [75, `${names[0]}.`],
      [25, `${names[1]}.`],
    ])
    await expect(go(row, 'rollback')).rejects.toThrow('weights and record are back')
    expect(await weights()).toEqual([[100, 0]])
    expect(await recordOf(zoneId)).toEqual(before)
    later(60)
    expect((await go(row, 'rollback')).state).toBe('rolled-back')
    expect((await go(row, 'abort', { confirm: world.plan.name })).state).toBe('aborted')
  })
})
