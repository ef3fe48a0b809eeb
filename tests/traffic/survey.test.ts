import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer as createPlainServer, type RequestListener, type Server } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as aws from '@aws-sdk/client-elastic-load-balancing-v2'
import { afterAll, afterEach, describe, expect, test } from 'vitest'
import { stringify } from 'yaml'
import { createCertificate } from '../../src/plugin-kit/http/test-certificate.ts'
import { connect } from '../../traffic/engine/connect.ts'
import { draftOf } from '../../traffic/engine/submit-plan.ts'
import { lintText } from '../../traffic/lint/text.ts'
import { CredentialsRefused } from '../../traffic/model/finding.ts'
import type { RoutePlan } from '../../traffic/model/plan.ts'
import { judgeController, versionOf } from '../../traffic/survey/controller-version.ts'
import { regionOf } from '../../traffic/survey/import-network.ts'
import { importPlaces } from '../../traffic/survey/import-places.ts'
import { importPlan } from '../../traffic/survey/import-plan.ts'
import type { ImportRequest } from '../../traffic/survey/import-types.ts'
import { describeCheck, preflightReport } from '../../traffic/survey/preflight-report.ts'
import { openBalancer } from '../../traffic/vendors/balancer.ts'
import { openCluster } from '../../traffic/vendors/cluster.ts'
import { startTestApi } from '../api/support/test-api.ts'
import { ElbError } from '../fake-aws/fake-elbv2.ts'
import type { FakeCluster } from '../fake-kubernetes/fake-kubernetes.ts'
import { describeOneWithTables } from '../support/databases.ts'
import { putEnvironmentBack } from '../support/environment.ts'
import { programEnvironment, programFile } from '../support/programs.ts'
import type { RouteName } from './support/many-routes.ts'
import { startWorld, type World } from './support/world.ts'

const MAIN = programFile('src/main.ts')
const folder = mkdtempSync(join(tmpdir(), 'weir-survey-'))
const saved = { ...process.env }
const servers: Server[] = []
let world: World
let isOpen = false
afterEach(async () => {
  putEnvironmentBack(saved)
  for (const server of servers.splice(0)) await new Promise((resolve) => server.close(resolve))
  if (isOpen) await world.close()
  isOpen = false
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** Seeds everything that a cluster has besides Ingress and Service. */
function furnish(
  cluster: FakeCluster,
  zones: readonly string[],
  image = 'public.ecr.aws/eks/aws-load-balancer-controller:v2.13.4',
) {
  cluster.seed({
    kind: 'Namespace',
    apiVersion: 'v1',
    metadata: { name: 'shop', labels: { 'elbv2.k8s.aws/pod-readiness-gate-inject': 'enabled' } },
  })
  cluster.seed({
    kind: 'Deployment',
    apiVersion: 'apps/v1',
    metadata: {
      name: 'aws-load-balancer-controller',
      namespace: 'kube-system',
      labels: { 'app.kubernetes.io/name': 'aws-load-balancer-controller' },
    },
    spec: {
      selector: {},
      template: {
        metadata: {},
        spec: { containers: [{ name: 'controller', image, args: ['--feature-gates=NLBSecurityGroup=true'] }] },
      },
    },
    status: { readyReplicas: 2 },
  })
  cluster.seed({
    kind: 'EndpointSlice',
    apiVersion: 'discovery.k8s.io/v1',
    metadata: { name: 'web-1', namespace: 'shop', labels: { 'kubernetes.io/service-name': 'web' } },
    addressType: 'IPv4',
    endpoints: zones.map((zone, index) => ({ addresses: [`10.2.1.${index + 1}`], zone, conditions: { ready: true } })),
    ports: [{ name: 'http', port: 8080, protocol: 'TCP' }],
  })
}

async function start(
  change: (plan: RoutePlan) => void = () => {},
  zones: readonly string[] = ['eu-central-1a', 'eu-central-1b'],
  routes: readonly RouteName[] = [],
): Promise<World> {
  world = await startWorld((plan) => {
    plan.stickiness = { enabled: false, atFinalStep: 'disable' }
    change(plan)
  }, routes)
  isOpen = true
  Object.assign(process.env, world.environment)
  furnish(world.current, ['eu-central-1a'])
  furnish(world.target, zones)
  // Wait until both controllers have made their rules.
  while (world.elb.rules.size < 4) await new Promise(setImmediate)
  return world
}
/** Answers as the target's load balancer, on this machine. */
async function answer(listener: RequestListener, isSecure = false): Promise<void> {
  const { key, certificate: cert } = createCertificate()
  const server = isSecure ? createSecureServer({ cert, key }, listener) : createPlainServer(listener)
  servers.push(server as Server)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  world.dns.records.set('green-1.eu-central-1.elb.amazonaws.com', '127.0.0.1')
  world.elb.listenerKinds[0] = { port: (server.address() as AddressInfo).port, protocol: isSecure ? 'HTTPS' : 'HTTP' }
}
async function report(now = new Date()) {
  const { whole } = world
  return preflightReport(whole, await connect(whole), draftOf(whole), now)
}
const of = (checks: Awaited<ReturnType<typeof report>>, check: string) =>
  checks.filter((each) => each.check === check).map(({ status, message }) => `${status} ${message}`)

describe('preflight', () => {
  test('several routes: each is told with its name, and what they need together is counted together', async () => {
    await start(undefined, undefined, ['web', 'cart', 'admin'])
    const checks = await report()
    expect(of(checks, 'plan')).toEqual(['ok the plan fits what is live'])
    expect(checks.filter(({ check }) => check === 'zones').map(describeCheck)).toEqual([
      expect.stringMatching(/^ok {6}web: zones: the current load balancer is in/),
      'failed  cart: zones: Service cart has no ready pod in cluster green',
      'failed  admin: zones: Service admin has no ready pod in cluster green',
    ])
    const [, first, , , second] = of(checks, 'quotas')
    expect(of(checks, 'quotas')[0]).toMatch(/^ok target groups of the region: \d+ of 3000 used, 3 more needed$/)
    expect(first).toMatch(/^ok target groups of load balancer blue-\d\S+: \d+ of 100 used, 2 more needed$/)
    expect(second).toMatch(/^ok target groups of load balancer blue-admin\S+: \d+ of 100 used, 1 more needed$/)
    expect(checks.filter(({ check }) => check === 'controller').map(({ route }) => route)).toEqual([
      undefined,
      undefined,
    ])
    expect(new Set(checks.filter(({ check }) => check === 'hosts').map(({ route }) => route))).toEqual(
      new Set(['web', 'cart', 'admin']),
    )
    const service = structuredClone(world.current.get('Service', 'shop', 'admin')!)
    service.metadata.annotations = { 'alb.ingress.kubernetes.io/auth-type': 'oidc' }
    world.current.seed(service)
    expect(of(await report(), 'plan')).toEqual([expect.stringMatching(/^failed .*routes\[2\]\.current\.service/)])
  })

  test('all is well: every check says what it saw, and nothing is written', async () => {
    await start()
    const asked: string[] = []
    await answer((request, response) => {
      asked.push(`${request.headers.host}${request.url}`)
      response.end('hello')
    })
    const checks = await report()
    expect(checks.filter(({ status }) => status !== 'ok')).toEqual([])
    expect(of(checks, 'zones')).toEqual([
      'ok the current load balancer is in eu-central-1a, eu-central-1b; the pods of the target are in eu-central-1a, eu-central-1b',
    ])
    expect(of(checks, 'quotas')).toEqual([
      expect.stringMatching(/^ok target groups of the region: \d of 3000 used, 1 more needed$/),
      'ok target groups of the load balancer: 2 of 100 used, 1 more needed',
      'ok targets of the load balancer: 0 of 1000 used, 2 more needed',
      'ok rules of the load balancer: 2 of 100 used',
      'ok target groups of an action: 0 of 5 used, 2 more needed',
    ])
    expect(of(checks, 'controller')).toEqual(
      ['blue', 'green'].map(
        (name) =>
          `ok cluster ${name}: kube-system/aws-load-balancer-controller, public.ecr.aws/eks/aws-load-balancer-controller:v2.13.4, NLBSecurityGroup=true`,
      ),
    )
    expect(of(checks, 'hosts')).toEqual([
      'ok http://shop.example.com/ at green-1.eu-central-1.elb.amazonaws.com answers 200',
    ])
    expect(asked).toEqual(['shop.example.com/'])
    expect([world.current.calls, world.target.calls, world.elb.calls]).toEqual([[], [], []])
  })

  test('each trouble is seen, and one that hides does not hide the others', async () => {
    await start(() => {}, ['eu-central-1a', 'eu-central-1c', 'eu-central-1c'])
    await answer((_request, response) => response.writeHead(404, { server: 'awselb/2.0' }).end())
    world.elb.limits.set('target-groups-per-application-load-balancer', 2)
    world.elb.limits.set('rules-per-application-load-balancer', 2)
    world.elb.limits.delete('target-groups')
    world.target.seed({ kind: 'Namespace', apiVersion: 'v1', metadata: { name: 'shop' } })
    furnish(world.current, ['eu-central-1a'], 'controller:v2.11.0')
    const checks = await report()
    expect(of(checks, 'zones')).toEqual([expect.stringMatching(/^warning 2 pods of 3 would get no traffic/)])
    expect(of(checks, 'quotas')).toEqual([
      expect.stringMatching(/^unknown .*AWS names no quota target-groups$/),
      'failed target groups of the load balancer: 2 of 2 used, 1 more needed. Ask AWS for more, or remove what is not used',
      expect.stringMatching(/^ok targets/),
      'warning rules of the load balancer: 2 of 2 used',
      expect.stringMatching(/^ok/),
    ])
    expect(of(checks, 'controller')[0]).toContain(
      'failed cluster blue: kube-system/aws-load-balancer-controller, controller:v2.11.0',
    )
    expect(of(checks, 'controller')[0]).toContain('it is 2.11, and 2.12 or later is needed')
    expect(of(checks, 'readiness gates')).toEqual([expect.stringMatching(/^warning namespace shop has no label/)])
    expect(of(checks, 'hosts')).toEqual([expect.stringMatching(/^failed .*the load balancer itself answers 404/)])
    world.elb.intercept = (action) =>
      action === 'DescribeAccountLimits' ? new ElbError('AccessDenied', 'not authorized') : undefined
    world.elb.zones.set('blue', ['eu-central-1f'])
    const later = await report()
    expect(of(later, 'quotas')).toEqual([expect.stringMatching(/^unknown AWS refused to read the quotas/)])
    expect(of(later, 'zones')).toEqual([expect.stringMatching(/^failed no zone in common/)])
    expect(of(later, 'hosts')).toHaveLength(1)
  })

  test('certificates are those that the target shows for the host', async () => {
    await start()
    await answer((_request, response) => response.writeHead(302).end(), true)
    const checks = await report()
    expect(of(checks, 'hosts')).toEqual([
      expect.stringMatching(/^ok https:\/\/shop\.example\.com\/ at .* answers 302$/),
      expect.stringMatching(/^failed the certificate of the target is not for shop\.example\.com/),
    ])
  })

  test('versions of images, and gates that are switched off', () => {
    const facts = { place: 'kube-system/x', arguments: [] as string[], isReady: true }
    expect(versionOf('registry:5000/controller:v2.12.1')).toEqual([2, 12])
    expect(versionOf('registry:5000/controller@sha256:ab')).toBeUndefined()
    expect(judgeController({ ...facts, image: 'x:v3.0.0' })).toEqual({ problems: [], unsure: false })
    expect(judgeController({ ...facts, image: 'x@sha256:1', isReady: false })).toMatchObject({
      unsure: true,
      problems: ['none of its replicas is ready'],
    })
    const off = { ...facts, image: 'x:v2.13.0', arguments: ['--feature-gates=A=true,WeightedTargetGroups=false'] }
    expect(judgeController(off).problems).toEqual(['the feature gate WeightedTargetGroups is switched off'])
  })
})

const REQUEST: ImportRequest = {
  project: 'shop',
  currentContext: 'blue',
  targetContext: 'green',
  namespace: 'shop',
  ingress: 'web',
}
async function imported(more: Partial<ImportRequest> = {}) {
  const [current, target] = [await openCluster('blue', 'blue'), await openCluster('green', 'green')]
  return importPlan({ ...REQUEST, ...more }, { current, target, openBalancer })
}

describe('import', () => {
  test('what is not certain is asked; answered, the plan is complete, passes lint and fits what is live', async () => {
    await start()
    const first = await imported()
    expect(first).toEqual({
      plan: undefined,
      findings: [],
      questions: [
        {
          field: 'service',
          text: 'Ingress shop/web leads to these Services. Which one moves?',
          choices: ['web', 'api'],
          hints: ['shop.example.com/ to web:80', 'api.example.com/ to api:80'],
        },
      ],
    })
    const { plan, questions } = await imported({ service: 'web' })
    expect(questions).toEqual([])
    expect(plan).toMatchObject({
      name: 'shop-web',
      aws: { region: 'eu-central-1', accountId: '123456789012' },
      current: { service: { name: 'web', port: 80 }, ingress: { groupName: 'shop-current', host: 'shop.example.com' } },
      target: { kubeContext: 'green', service: { name: 'web', port: 80 }, ingress: { groupName: 'shop-target' } },
      targetGroup: { name: 'shop-web-target', protocol: 'HTTP', port: 8080, vpcId: 'vpc-0123456789abcdef0' },
      binding: { port: 8080, sourceSecurityGroup: world.plan.binding.sourceSecurityGroup },
      steps: [
        { weights: { target: 0 } },
        { weights: { target: 10 } },
        { weights: { target: 50 } },
        { weights: { target: 100 } },
      ],
    })
    expect(lintText(stringify(plan), '')).toEqual([])
    Object.assign(world.plan, plan, { dns: { ...plan!.dns, servers: world.plan.dns.servers } })
    expect(of(await report(), 'plan')).toEqual(['ok the plan fits what is live'])
    expect([world.current.calls, world.target.calls, world.elb.calls]).toEqual([[], [], []])
  })

  test('pasted manifests are as good as clusters; what AWS would tell is asked where it cannot be asked', async () => {
    await start()
    const pasted = (cluster: FakeCluster) =>
      ['Ingress', 'Service'].map((kind) => stringify(cluster.get(kind, 'shop', 'web'))).join('---\n')
    const places = await importPlaces(REQUEST, { current: pasted(world.current), target: pasted(world.target) })
    const { plan } = await importPlan({ ...REQUEST, service: 'web' }, places)
    expect(plan).toMatchObject({ targetGroup: { vpcId: 'vpc-0123456789abcdef0' } })
    const away = { ...places, openBalancer: () => Promise.reject(new CredentialsRefused('no key')) }
    const asked = await importPlan({ ...REQUEST, service: 'web' }, away)
    expect(asked.questions.map(({ field }) => field)).toEqual(['sourceSecurityGroup', 'vpcId'])
    const ids = { sourceSecurityGroup: 'sg-0123456789abcdef0', vpcId: 'vpc-0a1b2c3d4e5f60718' }
    const answered = await importPlan({ ...REQUEST, service: 'web', ...ids }, away)
    expect(answered.questions).toEqual([])
    expect(answered.plan).toMatchObject({ targetGroup: { vpcId: ids.vpcId }, binding: { port: 8080 } })
  })

  test('manifests that make no sense together, and a context that does not answer, are refused with a sentence', async () => {
    await start()
    const ingress = (host: string) =>
      stringify({ kind: 'Ingress', metadata: { name: 'web', namespace: 'shop' }, spec: { rules: [{ host }] } })
    await expect(importPlaces(REQUEST, { current: ingress('a.example.com') })).rejects.toThrow('of both clusters')
    await expect(importPlaces(REQUEST, { current: ':\n\t- [', target: '' })).rejects.toThrow('are no YAML')
    await expect(importPlaces(REQUEST, { current: 'kind: Service', target: '' })).rejects.toThrow('have no Ingress')
    const pasted = async (current: string) => importPlan(REQUEST, await importPlaces(REQUEST, { current, target: '' }))
    await expect(pasted('items: [null, 1]')).rejects.toThrow('There is no Ingress shop/web in cluster blue')
    for (const spec of ['', 'spec: { rules: 5 }', 'spec: { rules: [{ http: {} }] }'])
      await expect(pasted(`kind: Ingress\nmetadata: { name: web }\n${spec}`)).rejects.toThrow(
        'Ingress shop/web in the manifests of cluster blue is not as Kubernetes prints it: spec',
      )
    const paths = ['web', 'api'].map(
      (name) => `{ path: /${name}, pathType: Prefix, backend: { service: { name: ${name}, port: { number: 80 } } } }`,
    )
    const { questions } = await pasted(
      `kind: Ingress\nmetadata: { name: web }\nspec: { rules: [{ http: { paths: [${paths.join()}] } }] }`,
    )
    expect(questions.at(-1)!.text).toBe('Ingress shop/web leads to these Services. Which one moves?')
    world.target.intercept = () => 503
    await expect(imported({ service: 'web' })).rejects.toThrow('in cluster green')
    world.target.intercept = () => undefined
  })

  test('every ambiguity is a question with its choices', async () => {
    await start((plan) => (plan.binding.sourceSecurityGroup = 'sg-0123456789abcdef0,sg-0aaaaaaaaaaaaaaaa'))
    const edit = (cluster: FakeCluster, change: (object: any) => void, kind = 'Ingress') => {
      const object = structuredClone(cluster.get(kind, 'shop', 'web')!)
      change(object)
      cluster.seed(object)
    }
    const fields = async (more: Partial<ImportRequest> = {}) =>
      (await imported({ service: 'web', ...more })).questions.map(({ field, choices }) => [field, ...choices])
    expect(await fields()).toEqual([['sourceSecurityGroup', 'sg-0123456789abcdef0', 'sg-0aaaaaaaaaaaaaaaa']])
    expect((await imported({ service: 'web' })).questions[0]!.hints).toEqual(['', ''])
    // A binding as the controller writes it for the Service of the Ingress.
    world.current.seed({
      apiVersion: 'elbv2.k8s.aws/v1beta1',
      kind: 'TargetGroupBinding',
      metadata: { name: 'k8s-shop-web-0123456789', namespace: 'shop' },
      spec: {
        serviceRef: { name: 'web', port: 80 },
        networking: { ingress: [{ from: [{ securityGroup: { groupID: 'sg-0aaaaaaaaaaaaaaaa' } }], ports: [] }] },
      },
    })
    expect((await imported({ service: 'web' })).questions[0]!.hints).toEqual([
      expect.stringMatching(/^frontend: /),
      expect.stringMatching(/^backend: /),
    ])
    const group = { sourceSecurityGroup: 'sg-0123456789abcdef0' }
    expect(await fields(group)).toEqual([])
    expect(await fields({ sourceSecurityGroup: 'sg-1' })).toEqual([
      ['sourceSecurityGroup', 'sg-0123456789abcdef0', 'sg-0aaaaaaaaaaaaaaaa'],
    ])
    world.elb.createGroup({ Name: 'shop-web-target' })
    world.current.seed({
      kind: 'Service',
      apiVersion: 'v1',
      metadata: { name: 'web-switch', namespace: 'shop' },
      spec: {},
    })
    expect(await fields(group)).toEqual([['actionName'], ['targetGroupName']])
    const named = { ...group, actionName: 'web-move', targetGroupName: 'shop-web-two' }
    expect(await fields(named)).toEqual([])
    edit(world.target, (object) => (object.spec.ports[0].targetPort = 'web'), 'Service')
    expect(await fields(named)).toEqual([])
    furnish(world.target, ['eu-central-1a'])
    const slice = structuredClone(world.target.get('EndpointSlice', 'shop', 'web-1')!)
    world.target.seed({
      ...slice,
      metadata: { ...slice.metadata, name: 'web-2' },
      ports: [{ name: 'http', port: 9090 }],
    })
    expect(await fields(named)).toEqual([['containerPort', '8080', '9090']])
    expect((await imported({ service: 'web', ...named, containerPort: 9090 })).plan?.binding.port).toBe(9090)
    edit(world.current, ({ spec }) => spec.rules.push({ ...spec.rules[0], host: 'www.example.com' }))
    expect(await fields(named)).toEqual([['host', 'shop.example.com', 'www.example.com']])
    edit(world.target, ({ spec }) => (spec.rules[0].host = 'other.example.com'))
    expect(await fields({ ...named, host: 'shop.example.com' })).toEqual([['targetService'], ['targetPort']])
    world.target.objects.delete('Ingress/shop/web')
    expect(await fields({ ...named, host: 'shop.example.com', containerPort: 8080 })).toEqual([
      ['createTargetIngress', 'true'],
    ])
    const made = await imported({
      service: 'web',
      ...named,
      host: 'shop.example.com',
      containerPort: 8080,
      createTargetIngress: true,
    })
    expect(made.plan?.target.ingress).toMatchObject({ name: 'web', host: 'shop.example.com' })
    expect(made.plan?.target.ingress.groupName).toBeUndefined()
    await expect(imported({ ingress: 'nobody' })).rejects.toThrow('There is no Ingress shop/nobody in cluster blue')
  })

  test('of an Ingress without a host the name that clients use is asked, and taken', async () => {
    await start()
    for (const cluster of [world.current, world.target]) {
      const object = structuredClone(cluster.get('Ingress', 'shop', 'web')!)
      object.spec.rules = [{ http: object.spec.rules[0].http }]
      cluster.seed(object, 'kubectl-edit')
    }
    expect((await imported({ service: 'web' })).questions).toMatchObject([{ field: 'host', choices: [] }])
    const { plan, questions } = await imported({ service: 'web', host: 'shop.example.com' })
    expect(questions).toEqual([])
    expect(plan).toMatchObject({ dns: { hostname: 'shop.example.com' } })
    expect([plan!.current.ingress.host, plan!.target.ingress.host]).toEqual([undefined, undefined])
  })

  test('the region is in the name of the load balancer', () => {
    expect(regionOf('internal-k8s-1.eu-central-1.elb.amazonaws.com')).toBe('eu-central-1')
    expect(regionOf('shop.example.com')).toBeUndefined()
  })
})

describe('the fake of ELBv2', () => {
  test('answers with nothing but what the model of AWS knows', async () => {
    await start()
    const { paths, unknown } = await unknownTo({
      DescribeAccountLimits: {},
      DescribeLoadBalancers: {},
      DescribeTargetGroups: {},
      DescribeListeners: { LoadBalancerArn: [...world.elb.rules.values()][0]!.loadBalancer },
    })
    expect(unknown).toEqual([])
    expect(paths).toContain('DescribeAccountLimits.Limits.Max')
    expect(paths).toContain('DescribeLoadBalancers.LoadBalancers.AvailabilityZones.ZoneName')
    expect(paths).toContain('DescribeListeners.Listeners.Protocol')
  })
})

/** Finds elements in the fake's answers that the shapes of the vendor's own client do not have. */
async function unknownTo(requests: Record<string, Record<string, string>>) {
  const shapes = aws as unknown as Record<string, any>
  const [paths, unknown] = [new Set<string>(), [] as string[]]
  const resolve = (schema: any): any => (typeof schema === 'function' ? schema() : schema)
  /** Finds a child of a shape: a list names the shape of its members, a structure those of its fields. */
  const childOf = (schema: any, name: string): any => {
    const shape = resolve(schema)
    if (name === 'member') return Array.isArray(shape) && shape[0] === 1 ? shape[4] : shape
    const index = Array.isArray(shape) && Array.isArray(shape[4]) ? shape[4].indexOf(name) : -1
    return index === -1 ? undefined : shape[5][index]
  }
  const walk = (xml: string, top: any, path: string): void => {
    const open: { path: string; schema: any }[] = [{ path, schema: top }]
    for (const [, slash, name] of xml.matchAll(/<(\/?)([A-Za-z]+)>/g)) {
      if (slash) {
        open.pop()
        continue
      }
      const parent = open.at(-1)!
      const schema = childOf(parent.schema, name!)
      const place = name === 'member' ? parent.path : `${parent.path}.${name}`
      if (schema === undefined) unknown.push(place)
      paths.add(place)
      open.push({ path: place, schema })
    }
  }
  for (const [action, form] of Object.entries(requests)) {
    const response = await fetch(world.elb.url, {
      method: 'POST',
      headers: { authorization: 'x/elasticloadbalancing/aws4_request' },
      body: new URLSearchParams({ Action: action, ...form }),
    })
    const text = await response.text()
    const result = new RegExp(`<${action}Result>(.*)</${action}Result>`, 's').exec(text)
    walk(result![1]!, shapes[`${action}Output$`], action)
  }
  return { paths: [...paths], unknown }
}

describe('the command line', () => {
  test('the walk of the guide: import, lint, preflight', async () => {
    await start()
    await answer((_request, response) => void response.end('hello'))
    const guide = readFileSync(new URL('../../docs/traffic.md', import.meta.url), 'utf8')
    const [, block] = /<!-- run by tests\/traffic\/survey\.test\.ts -->\n```sh\n(.*?)```/s.exec(guide)!
    expect(block!.match(/npx weir traffic \w+/g)).toEqual(
      ['import', 'lint', 'preflight'].map((name) => `npx weir traffic ${name}`),
    )
    // The name servers are the only part that a reader does not replace.
    const servers = `sed -i 's/servers: \\[\\]/servers: ["${world.plan.dns.servers[0]}"]/' shop.yaml\n`
    const script = `npx() { shift; "${process.execPath}" "${MAIN}" "$@"; }\n${block!.replace('npx weir traffic lint', `${servers}npx weir traffic lint`)}`
    const { code, out, err } = await run('sh', ['-e', '-c', script])
    expect([code, err]).toEqual([0, ''])
    expect(out).toMatch(/0 errors, 0 warnings\nok {6}plan: the plan fits what is live/)
    expect(out).toContain('0 failed, 0 warnings, 0 unknown')
    world.elb.zones.set('blue', ['eu-central-1f'])
    const [bad, asking] = await Promise.all([
      run(process.execPath, [MAIN, 'traffic', 'preflight', 'shop.yaml', '--json']),
      run(process.execPath, [
        MAIN,
        'traffic',
        'import',
        ...'--project shop --current-context blue --target-context green --namespace shop --ingress web'.split(' '),
      ]),
    ])
    expect(bad.code).toBe(2)
    expect(JSON.parse(bad.out)).toContainEqual(expect.objectContaining({ check: 'zones', status: 'failed' }))
    expect(asking).toMatchObject({ code: 2, out: '' })
    expect(asking.err).toContain(
      '--service: Ingress shop/web leads to these Services. Which one moves? Choices: web, api.',
    )
  })

  const run = (program: string, parameters: readonly string[]) =>
    new Promise<{ code: number | null; out: string; err: string }>((resolve, reject) => {
      const child = spawn(program, parameters, {
        cwd: folder,
        env: { ...process.env, ...programEnvironment(), LOGGING_LEVEL: 'silent' },
      })
      let [out, err] = ['', '']
      child.stdout.on('data', (chunk) => (out += chunk))
      child.stderr.on('data', (chunk) => (err += chunk))
      child.on('error', reject).on('close', (code) => resolve({ code, out, err }))
    })
})

describeOneWithTables('over the API', (database) => {
  test('import makes the plan of a switch, and preflight reports on it', async () => {
    await start()
    await answer((_request, response) => void response.end('hello'))
    const api = await startTestApi(database.database)
    try {
      const asking = await api.ask('POST', '/v1/traffic-imports', REQUEST)
      expect(asking).toMatchObject({ status: 200, body: { plan: null, questions: [{ field: 'service' }] } })
      const made = await api.ask('POST', '/v1/traffic-imports', { ...REQUEST, service: 'web' })
      const plan = { ...made.body.plan, dns: { ...made.body.plan.dns, servers: world.plan.dns.servers } }
      const created = await api.ask('POST', '/v1/traffic-switches', plan)
      expect(created.status).toBe(201)
      const checks = await api.ask('POST', `/v1/traffic-switches/${created.body.id}/preflight`, {})
      expect(checks.status).toBe(200)
      expect(checks.body).toContainEqual({ check: 'plan', status: 'ok', message: 'the plan fits what is live' })
    } finally {
      await api.close()
    }
  })
})
