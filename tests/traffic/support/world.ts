import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { stringify } from 'yaml'
import { ingressOfSide } from '../../../src/traffic/model/ingress.ts'
import type { Plan } from '../../../src/traffic/model/plan.ts'
import { type FakeController, startFakeController } from './fake-controller.ts'
import { type FakeDns, startFakeDns } from './fake-dns.ts'
import { ELB_ZONE, type FakeElb, startFakeElb } from './fake-elbv2.ts'
import { type FakeCluster, startFakeCluster } from './fake-kubernetes.ts'
import { type FakeRoute53, startFakeRoute53 } from './fake-route53.ts'
import { shopPlan } from './shop.ts'

/** The zone of the host name. */
export const ZONE = 'Z0123456789SHOP'
export const ADDRESSES = { current: '10.1.0.1', target: '10.2.0.1' }

/** Two clusters with a controller each, one ELBv2 and one name server, all over real sockets. */
export interface World {
  readonly plan: Plan
  readonly current: FakeCluster
  readonly target: FakeCluster
  readonly currentController: FakeController
  readonly elb: FakeElb
  readonly dns: FakeDns
  readonly route53: FakeRoute53
  /** Names of the load balancers. */
  readonly balancers: Readonly<Record<'current' | 'target', { readonly arn: string; readonly dnsName: string }>>
  /** What a process needs to find them: KUBECONFIG and the AWS variables. */
  readonly environment: Readonly<Record<string, string>>
  pointDnsAt(side: 'current' | 'target'): void
  /** Weights of the live rule as the balancer has them: [others, target], or undefined without a rule. */
  liveWeights(): readonly [number, number] | undefined
  close(): Promise<void>
}

export async function startWorld(
  change: (plan: Plan) => void = () => {},
  startCluster: (side: 'current' | 'target') => Promise<FakeCluster> = startFakeCluster,
): Promise<World> {
  const [current, target, elb, dns, route53] = await Promise.all([
    startCluster('current'),
    startCluster('target'),
    startFakeElb(),
    startFakeDns(),
    startFakeRoute53(),
  ])
  const plan = shopPlan((copy) => {
    delete copy.targetGroup.arn
    for (const step of copy.steps) step.dwellSeconds = 0
    copy.dns.servers = [dns.address]
    copy.verifyTimeoutSeconds = 30
    change(copy)
  })
  const balancers = {
    current: elb.addLoadBalancer('blue', plan.binding.sourceSecurityGroup),
    target: elb.addLoadBalancer('green', 'sg-0fedcba9876543210'),
  }
  for (const side of ['current', 'target'] as const) dns.records.set(balancers[side].dnsName, ADDRESSES[side])
  const currentController = startFakeController(current, elb, balancers.current, ['10.1.1.1'])
  startFakeController(target, elb, balancers.target, ['10.2.1.1', '10.2.1.2'])

  for (const [side, cluster] of [
    ['current', current],
    ['target', target],
  ] as const) {
    const { namespace, service } = plan[side]
    cluster.seed({
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: service.name, namespace },
      spec: { ports: [{ name: 'http', port: 80, targetPort: 8080 }] },
    })
    const ingress: any = ingressOfSide(plan[side])
    delete ingress.metadata.annotations['alb.ingress.kubernetes.io/multi-cluster-target-group']
    ingress.metadata.finalizers = [`group.ingress.k8s.aws/${plan[side].ingress.groupName}`]
    // A neighbour that the switch must never touch.
    ingress.spec.rules.push({
      host: 'api.example.com',
      http: { paths: [{ path: '/', pathType: 'Prefix', backend: { service: { name: 'api', port: { number: 80 } } } }] },
    })
    ingress.status = { loadBalancer: { ingress: [{ hostname: balancers[side].dnsName }] } }
    cluster.seed(ingress)
  }

  await Promise.all([current.settled?.(), target.settled?.()])

  const folder = mkdtempSync(join(tmpdir(), 'weir-traffic-'))
  const kubeconfig = join(folder, 'config')
  writeFileSync(kubeconfig, stringify(kubeconfigOf({ blue: current.url, green: target.url })))
  const world: World = {
    plan,
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
    pointDnsAt: (side) => void dns.records.set(plan.dns.hostname, ADDRESSES[side]),
    liveWeights() {
      const arn = [...elb.groups.values()].find(({ name }) => name === plan.targetGroup.name)?.arn
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
  route53.seed(ZONE, aliasTo(world, 'current'))
  // What the zone says is what the name server says, once it is in sync; of weighted records the heaviest.
  route53.onInSync = (zone) => {
    const [first] = route53
      .of(zone, plan.dns.hostname)
      .toSorted((left, right) => (right.Weight ?? 0) - (left.Weight ?? 0))
    const name = first?.AliasTarget?.DNSName ?? first?.ResourceRecords?.[0]?.Value ?? ''
    dns.records.set(plan.dns.hostname, dns.records.get(name.replace(/\.$/, '')) ?? '192.0.2.1')
  }
  return world
}

export const aliasTo = ({ plan, balancers }: World, side: 'current' | 'target') => ({
  Name: plan.dns.hostname,
  Type: 'A' as const,
  AliasTarget: { HostedZoneId: ELB_ZONE, DNSName: balancers[side].dnsName, EvaluateTargetHealth: true },
})

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
