/** Weir's requests to AWS, sent to an independent implementation. */
import { CloudWatchClient, PutMetricDataCommand } from '@aws-sdk/client-cloudwatch'
import * as elb from '@aws-sdk/client-elastic-load-balancing-v2'
import { CreateHostedZoneCommand, Route53Client } from '@aws-sdk/client-route-53'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { measure } from '../../traffic/gates/metric-gates.ts'
import { gateSchema } from '../../traffic/model/gate-schema.ts'
import type { RoutePlan } from '../../traffic/model/plan.ts'
import { type Balancer, openBalancer } from '../../traffic/vendors/balancer.ts'
import { openMetrics } from '../../traffic/vendors/metrics.ts'
import { openZones, type Zones } from '../../traffic/vendors/zones.ts'
import { putEnvironmentBack } from '../support/environment.ts'
import { shopPlan } from '../traffic/support/shop.ts'
import { type Moto, startMoto } from './moto.ts'

const REGION = 'eu-central-1'
const saved = { ...process.env }
let moto: Moto

beforeAll(async () => {
  moto = await startMoto()
})
afterAll(() => moto?.close())
beforeEach(async () => {
  await moto.reset()
  Object.assign(process.env, moto.environment)
})
afterEach(() => {
  putEnvironmentBack(saved)
})

describe('the load balancer', () => {
  let balancer: Balancer
  let plan: RoutePlan
  beforeEach(async () => {
    balancer = await openBalancer(REGION)
    plan = shopPlan((copy) => {
      delete copy.targetGroup.arn
      copy.targetGroup.vpcId = moto.vpcId
    })
  })
  const forward = (...groups: readonly (readonly [string, number])[]): elb.Action => ({
    Type: 'forward',
    ForwardConfig: { TargetGroups: groups.map(([TargetGroupArn, Weight]) => ({ TargetGroupArn, Weight })) },
  })
  async function makeGroup(name: string, resource: string): Promise<string> {
    const { TargetGroups } = await moto.client.send(
      new elb.CreateTargetGroupCommand({
        Name: name,
        Protocol: 'HTTP',
        Port: 80,
        VpcId: moto.vpcId,
        TargetType: 'ip',
        HealthCheckPath: '/ready',
        Matcher: { HttpCode: '200-299' },
        Tags: [{ Key: 'ingress.k8s.aws/resource', Value: resource }],
      }),
    )
    return TargetGroups![0]!.TargetGroupArn!
  }
  const makeRule = async (listener: string, priority: number, ...actions: elb.Action[]): Promise<string> => {
    const Conditions = [{ Field: 'path-pattern', Values: [`/${priority}`] }]
    const input = { ListenerArn: listener, Priority: priority, Conditions, Actions: actions }
    return (await moto.client.send(new elb.CreateRuleCommand(input))).Rules![0]!.RuleArn!
  }

  test('is found by its name, with all that a record and a plan need', async () => {
    const made = await moto.addLoadBalancer('blue')
    const found = await balancer.loadBalancer(made.dnsName.toUpperCase())
    expect(found).toMatchObject({ arn: made.arn, dnsName: made.dnsName, zoneId: made.zoneId })
    expect(found?.zoneId).toMatch(/^Z/)
    expect(await balancer.loadBalancer('nobody.example.com')).toBeUndefined()
  })

  test('target groups: absent, made once, their attributes, their health, and gone', async () => {
    expect(await balancer.targetGroup(plan.targetGroup.name)).toBeUndefined()
    const arn = await balancer.createTargetGroup(plan, undefined)
    expect(await balancer.targetGroup(plan.targetGroup.name)).toMatchObject({
      arn,
      protocol: 'HTTP',
      port: 8080,
      vpcId: moto.vpcId,
      targetType: 'ip',
      loadBalancerArns: [],
    })
    await balancer.setAttributes(arn, { 'deregistration_delay.timeout_seconds': '7' })
    expect(await balancer.attributes(arn)).toMatchObject({ 'deregistration_delay.timeout_seconds': '7' })
    expect(await balancer.health(arn)).toMatchObject({ healthy: 0, total: 0, draining: 0 })

    const { listener } = await moto.addLoadBalancer('blue')
    const rule = await makeRule(listener, 1, forward([arn, 1]))
    const Targets = [{ Id: '10.2.1.1', Port: 8080 }]
    await moto.client.send(new elb.RegisterTargetsCommand({ TargetGroupArn: arn, Targets }))
    expect(await balancer.health(arn)).toMatchObject({ healthy: 1, total: 1 })
    expect(await balancer.deleteTargetGroup(arn)).toBe(false)
    await moto.client.send(new elb.DeleteRuleCommand({ RuleArn: rule }))
    expect(await balancer.deleteTargetGroup(arn)).toBe(true)
    expect(await balancer.targetGroup(plan.targetGroup.name)).toBeUndefined()
    expect(await balancer.health(arn)).toMatchObject({ total: 0 })
    expect(await balancer.attributes(arn)).toEqual({})
  })

  test('the group of a Service is known by its tag among more than one request can ask for', async () => {
    const { arn, listener } = await moto.addLoadBalancer('blue')
    for (let index = 0; index < 23; index++) {
      const group = await makeGroup(`k8s-${index}`, `shop/web-service${index}:80`)
      await makeRule(listener, index + 1, forward([group, 1]))
    }
    const found = await balancer.groupOfResource(arn, 'shop/web-service22:80')
    expect(found?.arn).toContain('targetgroup/k8s-22/')
    expect(found?.healthCheck).toMatchObject({ path: '/ready', successCodes: '200-299' })
    expect(await balancer.groupOfResource(arn, 'shop/web-nothing:80')).toBeUndefined()
  })

  test('rules are read with their weights, and changed without losing what stands before the forward', async () => {
    const { arn, listener } = await moto.addLoadBalancer('blue')
    const [one, two] = [await makeGroup('one', 'a'), await makeGroup('two', 'b')]
    const oidc: elb.Action = {
      Type: 'authenticate-oidc',
      Order: 1,
      AuthenticateOidcConfig: {
        Issuer: 'https://example.com',
        AuthorizationEndpoint: 'https://example.com/authorize',
        TokenEndpoint: 'https://example.com/token',
        UserInfoEndpoint: 'https://example.com/user',
        ClientId: 'shop',
        ClientSecret: 'secret',
      },
    }
    const rule = await makeRule(listener, 1, oidc, { ...forward([one, 50], [two, 50]), Order: 2 })
    const [found, ...others] = (await balancer.rules(arn)).filter((each) => each.rule === rule)
    expect(others).toEqual([])
    expect(found).toMatchObject({
      isSticky: false,
      groups: [
        { arn: one, weight: 50 },
        { arn: two, weight: 50 },
      ],
    })
    await balancer.forward(found!, { groups: [{ arn: one, weight: 100 }], isSticky: false, durationSeconds: undefined })
    const after = (await moto.client.send(new elb.DescribeRulesCommand({ RuleArns: [rule] }))).Rules![0]!.Actions!
    expect(after.map(({ Type }) => Type)).toEqual(['authenticate-oidc', 'forward'])
    expect((await balancer.rules(arn)).find((each) => each.rule === rule)!.groups).toEqual([{ arn: one, weight: 100 }])
  })
})

test('metric gates read whole periods of both sides', async () => {
  const client = new CloudWatchClient({ region: REGION })
  const [lb, group] = ['app/blue/0123456789abcdef', 'targetgroup/shop-target/0123456789abcdef']
  const to = Math.floor(Date.now() / 60_000) * 60
  const put = async (name: string, value: number, minutesAgo: number) => {
    await client.send(
      new PutMetricDataCommand({
        Namespace: 'AWS/ApplicationELB',
        MetricData: [
          {
            MetricName: name,
            Value: value,
            Timestamp: new Date((to - minutesAgo * 60) * 1000),
            Dimensions: [
              { Name: 'LoadBalancer', Value: lb },
              { Name: 'TargetGroup', Value: group },
            ],
          },
        ],
      }),
    )
  }
  for (const minutes of [3, 2, 1]) await put('RequestCount', 100 * minutes, minutes)
  await put('HTTPCode_Target_5XX_Count', 5, 1)
  const arn = (end: string) => `arn:aws:elasticloadbalancing:${REGION}:123456789012:${end}`
  const place = { loadBalancer: arn(`loadbalancer/${lb}`), group: arn(group) }
  const other = { ...place, group: arn('targetgroup/other/0123456789abcdef') }
  const gate = gateSchema.parse({ kind: 'cloudWatch', metric: 'errorRate', max: 0.01 })
  const samples = await measure(
    gate as Parameters<typeof measure>[0],
    openMetrics(REGION),
    async () => ({ target: place, current: other }),
    { from: to - 180, to, periodSeconds: 60 },
  )
  expect(samples.map(({ targetTraffic }) => targetTraffic)).toEqual([300, 200, 100])
  expect(samples.map(({ target }) => target)).toEqual([0, 0, 0.05])
  client.destroy()
})

describe('the zone', () => {
  let zones: Zones
  let id: string
  beforeEach(async () => {
    zones = await openZones(REGION)
    const client = new Route53Client({ region: REGION })
    const made = await client.send(new CreateHostedZoneCommand({ Name: 'example.com', CallerReference: 'test' }))
    id = made.HostedZone!.Id!.replace('/hostedzone/', '')
    client.destroy()
  })
  const alias = (name: string, more: object = {}) => ({
    Name: 'shop.example.com.',
    Type: 'A' as const,
    ...more,
    AliasTarget: { HostedZoneId: 'Z215JYRZR1TBD5', DNSName: `${name}.`, EvaluateTargetHealth: true },
  })
  const [blue, green] = ['blue-1.eu-central-1.elb.amazonaws.com', 'green-1.eu-central-1.elb.amazonaws.com']
  const make = (...records: Parameters<Zones['change']>[1][number]['ResourceRecordSet'][]) =>
    zones.change(
      id,
      records.map((record) => ({ Action: 'CREATE', ResourceRecordSet: record })),
      'test',
    )

  test('is known, or not', async () => {
    expect(await zones.zone(id)).toEqual({ name: 'example.com.' })
    expect(await zones.zone('Z0000000000NOT')).toBeUndefined()
    expect(await zones.records(id, 'shop.example.com')).toEqual([])
  })

  test('records of one name among others, weighted ones too', async () => {
    const text = (name: string) => ({ Name: name, Type: 'TXT' as const, TTL: 60, ResourceRecords: [{ Value: '"x"' }] })
    await make(text('a-shop.example.com'), text('shops.example.com'), text('shop.example.com'))
    const both = [
      alias(blue, { SetIdentifier: 'blue', Weight: 90 }),
      alias(green, { SetIdentifier: 'green', Weight: 10 }),
    ]
    await make(...both)
    const found = await zones.records(id, 'shop.example.com')
    expect(found.map(({ Type, SetIdentifier, Weight }) => [Type, SetIdentifier, Weight])).toEqual([
      ['A', 'blue', 90],
      ['A', 'green', 10],
      ['TXT', undefined, undefined],
    ])
    expect(found.slice(0, 2)).toEqual(both)
  })

  test('deleted as read and made anew in one batch, which comes into sync', async () => {
    await make(alias(blue))
    const [live] = await zones.records(id, 'shop.example.com')
    const change = await zones.change(
      id,
      [
        { Action: 'DELETE', ResourceRecordSet: live! },
        { Action: 'CREATE', ResourceRecordSet: alias(green) },
      ],
      'test',
    )
    expect(await zones.isInSync(change)).toBe(true)
    expect(await zones.records(id, 'shop.example.com')).toEqual([alias(green)])
  })

  test('what is there already is not made again', async () => {
    await make(alias(blue))
    await expect(make(alias(blue))).rejects.toThrow(/changed meanwhile.*already exists/)
    expect(await zones.records(id, 'shop.example.com')).toEqual([alias(blue)])
  })
})
