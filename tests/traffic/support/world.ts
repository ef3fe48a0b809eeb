import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { stringify } from 'yaml'
import { ingressOfSides } from '../../../src/traffic/model/ingress.ts'
import type { Plan, RoutePlan } from '../../../src/traffic/model/plan.ts'
import { routesOf } from '../../../src/traffic/model/routes.ts'
import { ELB_ZONE, type FakeElb, startFakeElb } from '../../fake-aws/fake-elbv2.ts'
import { type FakeRoute53, startFakeRoute53 } from '../../fake-aws/fake-route53.ts'
import { type FakeDns, startFakeDns } from '../../fake-dns/fake-dns.ts'
import { type FakeController, startFakeController } from '../../fake-kubernetes/fake-controller.ts'
import { type FakeCluster, startFakeCluster } from '../../fake-kubernetes/fake-kubernetes.ts'
import { type RouteName, withRoutes } from './many-routes.ts'
import { shopPlan } from './shop.ts'

/** The hosted zone of the host name. */
export const ZONE = 'Z0123456789SHOP'
export const ADDRESSES = { current: '10.1.0.1', target: '10.2.0.1' }
const SIDES = ['current', 'target'] as const
type SideName = (typeof SIDES)[number]

/** Names of routes that replace the shop's own, or a function that makes a whole plan from the shop's. */
export type Routes = readonly RouteName[] | ((shop: RoutePlan) => Plan)

const planWith = (shop: RoutePlan, routes: Routes): Plan => {
  if (typeof routes === 'function') return routes(shop)
  return routes.length === 0 ? shop : withRoutes(shop, routes)
}

/** Two clusters with a controller each, one ELBv2 and one name server, all over real sockets. */
export interface World {
  /** The first route. With a single route it is the whole plan. */
  readonly plan: RoutePlan
  readonly whole: Plan
  readonly routes: readonly RoutePlan[]
  readonly current: FakeCluster
  readonly target: FakeCluster
  readonly currentController: FakeController
  readonly elb: FakeElb
  readonly dns: FakeDns
  readonly route53: FakeRoute53
  /** The load balancers, with their ARNs and DNS names. */
  readonly balancers: Readonly<Record<'current' | 'target', { readonly arn: string; readonly dnsName: string }>>
  /** The environment that a process needs to find the clusters and AWS: KUBECONFIG and the AWS variables. */
  readonly environment: Readonly<Record<string, string>>
  /** Points the records of all hosts, or of the given one, at a cluster. */
  pointDnsAt(side: SideName, hostname?: string): void
  /** Weights of a route's live rule as the balancer has them: [others, target], or undefined without a rule. */
  liveWeights(route?: RoutePlan): readonly [number, number] | undefined
  close(): Promise<void>
}

export async function startWorld(
  change: (plan: RoutePlan) => void = () => {},
  routesIn: Routes = [],
  startCluster: (side: 'current' | 'target') => Promise<FakeCluster> = startFakeCluster,
): Promise<World> {
  const [current, target, elb, dns, route53] = await Promise.all([
    startCluster('current'),
    startCluster('target'),
    startFakeElb(),
    startFakeDns(),
    startFakeRoute53(),
  ])
  const shop = shopPlan((copy) => {
    delete copy.targetGroup.arn
    for (const step of copy.steps) step.dwellSeconds = 0
    copy.dns.servers = [dns.address]
    copy.verifyTimeoutSeconds = 30
    change(copy)
  })
  const whole = planWith(shop, routesIn)
  const routes = routesOf(whole)
  const plan = routes[0]!
  const balancers = {
    current: elb.addLoadBalancer('blue', plan.binding.sourceSecurityGroup),
    target: elb.addLoadBalancer('green', 'sg-0fedcba9876543210'),
  }
  const second = {
    current: elb.addLoadBalancer('blue-admin', plan.binding.sourceSecurityGroup),
    target: elb.addLoadBalancer('green-admin', 'sg-0fedcba9876543210'),
  }
  /** Each group of Ingresses has its load balancer. If the routes have several groups, the last uses the second balancer. */
  const isSecond = (side: SideName, groupName: string | undefined) => groupName === `admin-${side}`
  const balancerOf = (side: SideName, groupName: string | undefined) =>
    (isSecond(side, groupName) ? second : balancers)[side]
  const addressOf = (side: SideName, groupName: string | undefined) =>
    isSecond(side, groupName) ? ADDRESSES[side].replace(/1$/, '2') : ADDRESSES[side]
  for (const side of SIDES) {
    dns.records.set(balancers[side].dnsName, addressOf(side, undefined))
    dns.records.set(second[side].dnsName, addressOf(side, `admin-${side}`))
  }
  const groupIn = (ingress: any) => ingress.metadata.annotations?.['alb.ingress.kubernetes.io/group.name']
  const currentController = startFakeController(current, elb, (each) => balancerOf('current', groupIn(each)), [
    '10.1.1.1',
  ])
  startFakeController(target, elb, (each) => balancerOf('target', groupIn(each)), ['10.2.1.1', '10.2.1.2'])

  for (const [side, cluster] of [
    ['current', current],
    ['target', target],
  ] as const) {
    for (const { [side]: own } of routes)
      cluster.seed({
        apiVersion: 'v1',
        kind: 'Service',
        metadata: { name: own.service.name, namespace: own.namespace },
        spec: { ports: [{ name: 'http', port: 80, targetPort: 8080 }] },
      })
    for (const [index, sides] of [...Map.groupBy(routes, (own) => own[side].ingress.name).values()].entries()) {
      const { groupName } = sides[0]![side].ingress
      const ingress: any = ingressOfSides(sides.map((own) => own[side]))
      delete ingress.metadata.annotations['alb.ingress.kubernetes.io/multi-cluster-target-group']
      ingress.metadata.finalizers = [`group.ingress.k8s.aws/${groupName}`]
      // Another path in the Ingress, which the switch must never touch.
      if (index === 0)
        ingress.spec.rules.push({
          host: 'api.example.com',
          http: {
            paths: [{ path: '/', pathType: 'Prefix', backend: { service: { name: 'api', port: { number: 80 } } } }],
          },
        })
      ingress.status = { loadBalancer: { ingress: [{ hostname: balancerOf(side, groupName).dnsName }] } }
      cluster.seed(ingress)
    }
  }

  await Promise.all([current.settled?.(), target.settled?.()])

  const folder = mkdtempSync(join(tmpdir(), 'weir-traffic-'))
  const kubeconfig = join(folder, 'config')
  writeFileSync(kubeconfig, stringify(kubeconfigOf({ blue: current.url, green: target.url })))
  const world: World = {
    plan,
    whole,
    routes,
    current,
    target,
    currentController,
    elb,
    dns,
    route53,
    balancers,
    environment: {
      KUBECONFIG: kubeconfig,
      AWS_ENDPOINT_URL_ELASTIC_LOAD_BALANCING_V2: elb.url,
      AWS_ENDPOINT_URL_ROUTE_53: route53.url,
      AWS_ACCESS_KEY_ID: 'AKIAFAKE',
      AWS_SECRET_ACCESS_KEY: 'fake',
      AWS_EC2_METADATA_DISABLED: 'true',
    },
    pointDnsAt(side, hostname) {
      for (const own of routes)
        if (hostname === undefined || own.dns.hostname === hostname)
          dns.records.set(own.dns.hostname, addressOf(side, own[side].ingress.groupName))
    },
    liveWeights(route = plan) {
      const arn = [...elb.groups.values()].find(({ name }) => name === route.targetGroup.name)?.arn
      for (const { action } of elb.rules.values()) {
        if (!('groups' in action)) continue
        const own = action.groups.find((group) => group.arn === arn)
        if (own !== undefined)
          return [
            action.groups.filter((group) => group !== own).reduce((sum, { weight }) => sum + weight, 0),
            own.weight,
          ]
      }
      return undefined
    },
    async close() {
      rmSync(folder, { recursive: true, force: true })
      dns.close()
      await Promise.all([current.close(), target.close(), elb.close(), route53.close()])
    },
  }
  world.pointDnsAt('current')
  route53.zones.set(ZONE, { name: 'example.com', records: [] })
  const firsts = routes.filter(
    ({ dns: { hostname } }, index) => routes.findIndex((own) => own.dns.hostname === hostname) === index,
  )
  route53.seed(
    ZONE,
    ...firsts.map((own) => aliasOf(own.dns.hostname, balancerOf('current', own.current.ingress.groupName).dnsName)),
  )
  // Once a zone is in sync, the name server answers like the zone. Of weighted records it answers with the heaviest.
  route53.onInSync = (zone) => {
    for (const { hostname } of firsts.map((own) => own.dns)) {
      const [first] = route53.of(zone, hostname).toSorted((left, right) => (right.Weight ?? 0) - (left.Weight ?? 0))
      const name = first?.AliasTarget?.DNSName ?? first?.ResourceRecords?.[0]?.Value ?? ''
      dns.records.set(hostname, dns.records.get(name.replace(/\.$/, '')) ?? '192.0.2.1')
    }
  }
  return world
}

const aliasOf = (hostname: string, balancer: string) => ({
  Name: hostname,
  Type: 'A' as const,
  AliasTarget: { HostedZoneId: ELB_ZONE, DNSName: balancer, EvaluateTargetHealth: true },
})
export const aliasTo = ({ plan, balancers }: World, side: 'current' | 'target') =>
  aliasOf(plan.dns.hostname, balancers[side].dnsName)

const kubeconfigOf = (urls: Record<string, string>) => ({
  apiVersion: 'v1',
  kind: 'Config',
  clusters: Object.entries(urls).map(([name, server]) => ({
    name,
    cluster: { server, 'insecure-skip-tls-verify': true },
  })),
  users: [{ name: 'weir', user: { token: 'fake-token' } }],
  contexts: Object.keys(urls).map((name) => ({ name, context: { cluster: name, user: 'weir' } })),
  'current-context': 'blue',
})
