import { describe, expect, test } from 'vitest'
import { parse, stringify } from 'yaml'
import { lintRecord } from '../../src/traffic/lint/dns.ts'
import { lintBranch } from '../../src/traffic/lint/gitops.ts'
import { lintHealth, lintLive } from '../../src/traffic/lint/live.ts'
import { lintManifests } from '../../src/traffic/lint/manifests.ts'
import { lintPlan } from '../../src/traffic/lint/plan.ts'
import { type Code, type Finding, RULES } from '../../src/traffic/model/finding.ts'
import { parsePlan, readPlan } from '../../src/traffic/model/plan.ts'
import { renderPhase } from '../../src/traffic/render/render.ts'
import { withRoutes } from './support/many-routes.ts'
import { SHOP_YAML, shopPlan } from './support/shop.ts'

const ARN = shopPlan().targetGroup.arn!
const ACTION = 'alb.ingress.kubernetes.io/actions.web-switch'

/** Lints the sample plan after a change of its raw YAML value. */
function plan(change: (raw: any) => void): readonly Finding[] {
  const raw = parse(SHOP_YAML)
  change(raw)
  const { plan, findings } = readPlan(raw)
  return plan === undefined ? findings : lintPlan(plan)
}

const CURRENT = renderPhase(shopPlan(), 'step-1')[4]!.content
const BINDING = renderPhase(shopPlan(), 'step-1')[3]!.content
const SERVICE = stringify({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name: 'web', namespace: 'shop' },
  spec: { ports: [{ name: 'http', port: 80, targetPort: 8080 }] },
})

function ingress(change: (object: any) => void, live = ''): readonly Finding[] {
  const object = parse(CURRENT)
  change(object)
  return lintManifests(`${stringify(object)}---\n${SERVICE}`, live)
}
/** Changes the forward action inside the annotation. */
const action = (change: (forwardConfig: any, whole: any) => void) =>
  ingress((object) => {
    const value = JSON.parse(object.metadata.annotations[ACTION])
    change(value.forwardConfig, value)
    object.metadata.annotations[ACTION] = JSON.stringify(value)
  })
function binding(change: (object: any) => void): readonly Finding[] {
  const object = parse(BINDING)
  change(object)
  return lintManifests(`${stringify(object)}---\n${SERVICE}`)
}
const live = (change: (facts: any) => void) => {
  const facts: any = {
    currentIngress: parse(renderPhase(shopPlan(), 'cleanup')[1]!.content),
    targetIngress: parse(renderPhase(shopPlan(), 'step-0')[2]!.content),
    currentService: parse(SERVICE),
    targetService: parse(SERVICE),
    loadBalancer: {
      arn: 'arn:lb',
      vpcId: 'vpc-0123456789abcdef0',
      securityGroups: ['sg-0123456789abcdef0'],
      dnsName: 'blue.elb.amazonaws.com',
      zoneId: 'ZELB',
    },
    targetGroup: {
      arn: ARN,
      protocol: 'HTTP',
      port: 8080,
      vpcId: 'vpc-0123456789abcdef0',
      targetType: 'ip',
      loadBalancerArns: ['arn:lb'],
    },
  }
  change(facts)
  return lintLive(shopPlan(), facts)
}
/** What Route 53 says, for a plan that names its zone. */
const record = (change: (facts: any) => void) => {
  const alias = { Name: 'shop.example.com.', Type: 'A', AliasTarget: { DNSName: 'dualstack.BLUE.elb.amazonaws.com.' } }
  const facts: any = {
    zone: { name: 'example.com.' },
    records: [alias],
    owners: [],
    current: { dnsName: 'blue.elb.amazonaws.com', zoneId: 'ZELB' },
    target: { dnsName: 'green.elb.amazonaws.com', zoneId: 'ZELB' },
  }
  change(facts)
  return lintRecord(
    shopPlan((copy) => {
      copy.dns.route53 = { hostedZoneId: 'Z0123456789SHOP', txtPrefix: '', txtSuffix: '' }
    }),
    facts,
  )
}
const route53 = (fields: object) =>
  plan((raw) => {
    raw.dns.route53 = { hostedZoneId: 'Z0123456789SHOP', ...fields }
  })
const ok = () => {}

interface Case {
  readonly path: string
  readonly says: RegExp
  readonly bad: () => readonly Finding[]
  readonly good: () => readonly Finding[]
}
const annotate = (name: string, value: unknown) => (object: any) => {
  object.metadata.annotations[`alb.ingress.kubernetes.io/${name}`] = value
}

const metricGate = (step: number, gate: object) =>
  plan((raw) => Object.assign(raw.steps[step], { dwellSeconds: 900, gates: [gate] }))

const throughGit = (change: (raw: any) => void) => (raw: any) => {
  raw.mode = 'gitops'
  raw.gitops = {
    repository: 'https://git.example.com/platform/clusters.git',
    current: { path: 'blue' },
    target: { path: 'green' },
  }
  change(raw)
}
/** The live Ingress after a change, held against the branch. */
const inBranch = (change: (object: any) => void) => {
  const before = parse(renderPhase(shopPlan(), 'cleanup')[1]!.content)
  const after = structuredClone(before)
  change(after)
  return lintBranch('gitops.current.path', before, after, 'branch main')
}
/** A plan of several routes with one thing changed. */
const routes = (change: (raw: any) => void): readonly Finding[] => {
  const raw: any = withRoutes(
    shopPlan((copy) => delete copy.targetGroup.arn),
    ['web', 'cart', 'media', 'admin'],
  )
  change(raw)
  const { plan: found, findings } = readPlan(raw)
  return found === undefined ? findings : lintPlan(found)
}

const CASES: Record<Code, readonly Case[]> = {
  'TS-Y01': [
    { path: '(file)', says: /./, bad: () => parsePlan('name: [').findings, good: () => parsePlan(SHOP_YAML).findings },
  ],
  'TS-Y02': [
    {
      path: 'commit.repoUrl',
      says: /has a user name or password/,
      bad: () => plan((raw) => (raw.commit = { sha: 'abcdef0', repoUrl: 'https://ada:secret@git.example.com/x' })),
      good: () => plan((raw) => (raw.commit = { sha: 'abcdef0', repoUrl: 'https://git.example.com/x' })),
    },
    {
      path: 'targetGroup.helthCheck',
      says: /did you mean healthCheck/,
      bad: () => plan((raw) => (raw.targetGroup.helthCheck = {})),
      good: () => plan(ok),
    },
    {
      path: 'actionName',
      says: /unknown field actionName, which belongs to another place/,
      bad: () => routes((raw) => (raw.actionName = 'web-switch')),
      good: () => routes(ok),
    },
    {
      path: 'spec.rulez',
      says: /did you mean rules/,
      bad: () => ingress((object) => (object.spec.rulez = [])),
      good: () => ingress(ok),
    },
  ],
  'TS-W01': [
    {
      path: 'steps[1].weights.target',
      says: /"10"/,
      bad: () => plan((raw) => (raw.steps[1].weights.target = '10')),
      good: () => plan(ok),
    },
    {
      path: 'steps[1].weights.target',
      says: /10\.5/,
      bad: () => plan((raw) => (raw.steps[1].weights.target = 10.5)),
      good: () => plan(ok),
    },
    {
      path: 'targetGroups[0].weight',
      says: /"90"/,
      bad: () => action((config) => (config.targetGroups[0].weight = '90')),
      good: () => action(ok),
    },
    {
      path: 'targetGroups[1].weight',
      says: /required/,
      bad: () => action((config) => delete config.targetGroups[1].weight),
      good: () => action(ok),
    },
  ],
  'TS-W02': [
    {
      path: 'steps[1].weights.target',
      says: /-1/,
      bad: () => plan((raw) => (raw.steps[1].weights.target = -1)),
      good: () => plan(ok),
    },
    {
      path: 'steps[1].weights.target',
      says: /1000/,
      bad: () => plan((raw) => (raw.steps[1].weights.target = 1000)),
      good: () => plan((raw) => (raw.steps[1].weights.target = 10)),
    },
    {
      path: 'targetGroups[0].weight',
      says: /-5/,
      bad: () => action((config) => (config.targetGroups[0].weight = -5)),
      good: () => action(ok),
    },
  ],
  'TS-W03': [
    {
      path: 'steps[1].weights',
      says: /110, not 100/,
      bad: () => plan((raw) => (raw.steps[1].weights.target = 20)),
      good: () => plan(ok),
    },
    {
      path: 'targetGroups',
      says: /8\/2 add up to 10/,
      bad: () =>
        action((config) => {
          config.targetGroups[0].weight = 8
          config.targetGroups[1].weight = 2
        }),
      good: () => action(ok),
    },
  ],
  'TS-W04': [
    {
      path: 'steps[1].weights',
      says: /0\/0/,
      bad: () => plan((raw) => (raw.steps[1].weights = { current: 0, target: 0 })),
      good: () => plan(ok),
    },
    {
      path: 'targetGroups',
      says: /all weights are 0/,
      bad: () =>
        action((config) => {
          for (const group of config.targetGroups) group.weight = 0
        }),
      good: () => action(ok),
    },
  ],
  'TS-W05': [
    {
      path: 'steps[0].weights.target',
      says: /first step/,
      bad: () => plan((raw) => (raw.steps[0].weights = { current: 90, target: 10 })),
      good: () => plan(ok),
    },
    {
      path: 'steps[3].weights.current',
      says: /last step/,
      bad: () => plan((raw) => (raw.steps[3].weights = { current: 10, target: 90 })),
      good: () => plan(ok),
    },
    {
      path: 'steps[2].weights',
      says: /falls/,
      bad: () => plan((raw) => (raw.steps[2].weights = { current: 95, target: 5 })),
      good: () => plan(ok),
    },
  ],
  'TS-W06': [
    {
      path: 'targetGroups',
      says: /6 target groups/,
      bad: () =>
        action((config) => {
          for (let n = 0; n < 4; n++) config.targetGroups.push({ targetGroupName: `extra-${n}`, weight: 0 })
        }),
      good: () =>
        action((config) => {
          for (let n = 0; n < 3; n++) config.targetGroups.push({ targetGroupName: `extra-${n}`, weight: 0 })
        }),
    },
  ],
  'TS-W07': [
    {
      path: 'targetGroups',
      says: /stands twice/,
      bad: () => action((config) => config.targetGroups.push({ targetGroupARN: ARN, weight: 0 })),
      good: () => action(ok),
    },
  ],
  'TS-S01': [
    {
      path: 'stickiness.durationSeconds',
      says: /required/,
      bad: () => plan((raw) => delete raw.stickiness.durationSeconds),
      good: () => plan(ok),
    },
    {
      path: 'stickiness.durationSeconds',
      says: /604801/,
      bad: () => plan((raw) => (raw.stickiness.durationSeconds = 604801)),
      good: () => plan((raw) => (raw.stickiness.durationSeconds = 604800)),
    },
    {
      path: 'durationSeconds',
      says: /got 0/,
      bad: () => action((config) => (config.targetGroupStickinessConfig.durationSeconds = 0)),
      good: () => action(ok),
    },
    {
      path: 'enabled',
      says: /"True"/,
      bad: () => action((config) => (config.targetGroupStickinessConfig.enabled = 'True')),
      good: () => action(ok),
    },
  ],
  'TS-S02': [
    {
      path: 'stickiness.atFinalStep',
      says: /simulated/,
      bad: () => plan((raw) => (raw.stickiness.atFinalStep = 'keep')),
      good: () => plan(ok),
    },
    {
      path: 'targetGroupStickinessConfig.enabled',
      says: /weight 0/,
      bad: () =>
        action((config) => {
          config.targetGroups[0].weight = 0
          config.targetGroups[1].weight = 100
        }),
      good: () => action(ok),
    },
  ],
  'TS-S03': [
    {
      path: 'steps[1].dwellSeconds',
      says: /60 s is shorter/,
      bad: () => plan((raw) => (raw.steps[1].dwellSeconds = 60)),
      good: () => plan(ok),
    },
  ],
  'TS-S04': [
    {
      path: 'current.ingress.annotations',
      says: /forbids/,
      bad: () =>
        plan(
          (raw) =>
            (raw.current.ingress.annotations['alb.ingress.kubernetes.io/target-group-attributes'] =
              'stickiness.enabled=true'),
        ),
      good: () =>
        plan(
          (raw) =>
            (raw.current.ingress.annotations['alb.ingress.kubernetes.io/target-group-attributes'] =
              'stickiness.enabled=false'),
        ),
    },
    {
      path: 'targetGroupStickinessConfig',
      says: /enables stickiness/,
      bad: () =>
        ingress((object) => {
          annotate('target-group-attributes', 'stickiness.enabled=true')(object)
          object.metadata.annotations[ACTION] = object.metadata.annotations[ACTION].replace(
            '"enabled":true',
            '"enabled":false',
          )
        }),
      good: () => ingress(annotate('target-group-attributes', 'stickiness.enabled=true')),
    },
  ],
  'TS-S05': [
    {
      path: 'targetGroupStickinessConfig',
      says: /left out/,
      bad: () => action((config) => delete config.targetGroupStickinessConfig),
      good: () => action(ok),
    },
  ],
  'TS-A01': [
    {
      path: 'actionName',
      says: /"Web"/,
      bad: () => plan((raw) => (raw.actionName = 'Web')),
      good: () => plan((raw) => (raw.actionName = 'a'.repeat(55))),
    },
    {
      path: 'annotations',
      says: /"9web"/,
      bad: () => ingress(annotate('actions.9web', '{"type":"forward","targetGroupName":"a"}')),
      good: () => ingress(ok),
    },
  ],
  'TS-A02': [
    {
      path: 'service.port',
      says: /use-anotation/,
      bad: () => ingress((object) => (object.spec.rules[0].http.paths[0].backend.service.port.name = 'use-anotation')),
      good: () => ingress(ok),
    },
    {
      path: 'service.port',
      says: /exclude/,
      bad: () => ingress((object) => (object.spec.rules[0].http.paths[0].backend.service.port.number = 80)),
      good: () => ingress(ok),
    },
  ],
  'TS-A03': [
    {
      path: 'actionName',
      says: /also the name/,
      bad: () => plan((raw) => (raw.actionName = 'web')),
      good: () => plan(ok),
    },
  ],
  'TS-A04': [
    {
      path: 'targetGroups[0]',
      says: /serviceName and targetGroupARN/,
      bad: () => action((config) => (config.targetGroups[0].targetGroupARN = ARN.replace('shop-web-target', 'other'))),
      good: () => action(ok),
    },
    {
      path: 'targetGroups[0]',
      says: /none of them/,
      bad: () => action((config) => delete config.targetGroups[0].serviceName),
      good: () => action(ok),
    },
    {
      path: 'targetGroups[0]',
      says: /needs servicePort/,
      bad: () => action((config) => delete config.targetGroups[0].servicePort),
      good: () => action(ok),
    },
  ],
  'TS-A05': [
    {
      path: 'service.name',
      says: /503/,
      bad: () => ingress((object) => (object.spec.rules[0].http.paths[0].backend.service.name = 'web-swich')),
      good: () => ingress(ok),
    },
  ],
  'TS-A06': [
    {
      path: 'annotations',
      says: /no backend/,
      bad: () => ingress(annotate('actions.other', '{"type":"forward","targetGroupName":"a"}')),
      good: () => ingress(ok),
    },
  ],
  'TS-A07': [
    {
      path: ACTION,
      says: /not JSON/,
      bad: () => ingress((object) => (object.metadata.annotations[ACTION] = '{"type":"forward",}')),
      good: () => ingress(ok),
    },
  ],
  'TS-A08': [
    {
      path: '.type',
      says: /did you mean forward/,
      bad: () => action((_config, whole) => (whole.type = 'foward')),
      good: () => action(ok),
    },
    {
      path: ACTION,
      says: /not both/,
      bad: () => action((_config, whole) => (whole.targetGroupARN = ARN)),
      good: () => action(ok),
    },
    {
      path: ACTION,
      says: /needs forwardConfig/,
      bad: () => action((_config, whole) => delete whole.forwardConfig),
      good: () => action(ok),
    },
  ],
  'TS-A09': [
    {
      path: 'targetGroups[1].wieght',
      says: /did you mean weight/,
      bad: () =>
        action((config) => {
          config.targetGroups[1].wieght = 10
        }),
      good: () => action(ok),
    },
    {
      path: 'targetGroupStickynessConfig',
      says: /did you mean targetGroupStickinessConfig/,
      bad: () => action((config) => (config.targetGroupStickynessConfig = {})),
      good: () =>
        action((config, whole) => {
          whole.ForwardConfig = config
          delete whole.forwardConfig
        }),
    },
  ],
  'TS-P01': [
    {
      path: 'current.service.port',
      says: /70000/,
      bad: () => plan((raw) => (raw.current.service.port = 70000)),
      good: () => plan((raw) => (raw.current.service.port = 'http')),
    },
    {
      path: 'servicePort',
      says: /"HTTP!"/,
      bad: () => action((config) => (config.targetGroups[0].servicePort = 'HTTP!')),
      good: () => action((config) => (config.targetGroups[0].servicePort = '80')),
    },
  ],
  'TS-P02': [
    {
      path: 'servicePort',
      says: /no port 81/,
      bad: () => action((config) => (config.targetGroups[0].servicePort = 81)),
      good: () => action((config) => (config.targetGroups[0].servicePort = 'http')),
    },
    {
      path: 'spec.serviceRef.port',
      says: /no port 8080/,
      bad: () => binding((object) => (object.spec.serviceRef.port = 8080)),
      good: () => binding(ok),
    },
    {
      path: 'binding.serviceRef',
      says: /web:81/,
      bad: () => plan((raw) => (raw.binding.serviceRef.port = 81)),
      good: () => plan(ok),
    },
    {
      path: 'current.service',
      says: /no path/,
      bad: () =>
        live((facts) => (facts.currentIngress.spec.rules[0].http.paths[0].backend.service.port = { name: 'http' })),
      good: () => live(ok),
    },
  ],
  'TS-T01': [
    {
      path: 'targetGroup.name',
      says: /-x/,
      bad: () => plan((raw) => (raw.targetGroup.name = '-x')),
      good: () =>
        plan((raw) => {
          raw.targetGroup.name = 'a'.repeat(32)
          delete raw.targetGroup.arn
        }),
    },
  ],
  'TS-T02': [
    {
      path: 'targetGroup.protocol',
      says: /"TCP"/,
      bad: () => plan((raw) => (raw.targetGroup.protocol = 'TCP')),
      good: () => plan(ok),
    },
    {
      path: 'targetGroup.healthCheck.timeoutSeconds',
      says: /below the interval/,
      bad: () => plan((raw) => (raw.targetGroup.healthCheck.timeoutSeconds = 15)),
      good: () => plan(ok),
    },
  ],
  'TS-T03': [
    {
      path: 'targetGroup.arn',
      says: /region us-east-1, the plan eu-central-1/,
      bad: () => plan((raw) => (raw.targetGroup.arn = ARN.replace('eu-central-1', 'us-east-1'))),
      good: () => plan(ok),
    },
    {
      path: 'targetGroup.arn',
      says: /accountId/,
      bad: () => plan((raw) => (raw.targetGroup.arn = ARN.replace('123456789012', '999999999999'))),
      good: () => plan(ok),
    },
    {
      path: 'targetGroup.arn',
      says: /not the ARN/,
      bad: () => plan((raw) => (raw.targetGroup.arn = 'shop-web-target')),
      good: () => plan(ok),
    },
    {
      path: 'targetGroups[1].targetGroupARN',
      says: /not the ARN/,
      bad: () => action((config) => (config.targetGroups[1].targetGroupARN = ARN.slice(0, -1))),
      good: () => action(ok),
    },
  ],
  'TS-T04': [
    {
      path: 'targetGroup.tags["elbv2.k8s.aws/cluster"]',
      says: /belongs to the controller/,
      bad: () => plan((raw) => (raw.targetGroup.tags = { 'elbv2.k8s.aws/cluster': 'green' })),
      good: () => plan((raw) => (raw.targetGroup.tags = { team: 'shop' })),
    },
  ],
  'TS-V01': [
    {
      path: 'targetGroup.vpcId',
      says: /vpc-1/,
      bad: () => plan((raw) => (raw.targetGroup.vpcId = 'vpc-1')),
      good: () => plan(ok),
    },
    {
      path: 'groupID',
      says: /sg-1/,
      bad: () => binding((object) => (object.spec.networking.ingress[0].from[0].securityGroup.groupID = 'sg-1')),
      good: () => binding(ok),
    },
  ],
  'TS-V02': [
    {
      path: 'targetGroup.vpcId',
      says: /not the VPC of the target cluster/,
      bad: () => plan((raw) => (raw.target.vpcId = 'vpc-11111111')),
      good: () => plan(ok),
    },
    {
      path: 'targetGroup.vpcId',
      says: /current load balancer/,
      bad: () => live((facts) => (facts.loadBalancer.vpcId = 'vpc-11111111')),
      good: () => live(ok),
    },
  ],
  'TS-B01': [
    {
      path: 'binding.name',
      says: /MyTargetGroupBinding/,
      bad: () => plan((raw) => (raw.binding.name = 'MyTargetGroupBinding')),
      good: () => plan((raw) => (raw.binding.name = 'b'.repeat(63))),
    },
    {
      path: 'metadata.name',
      says: /"My"/,
      bad: () => binding((object) => (object.metadata.name = 'My')),
      good: () => binding(ok),
    },
  ],
  'TS-B02': [
    {
      path: 'spec.networking.ingress[0]',
      says: /opens nothing/,
      bad: () => binding((object) => (object.spec.networking.ingress[0].ports = [])),
      good: () => binding(ok),
    },
    {
      path: 'from[0]',
      says: /exactly one/,
      bad: () => binding((object) => (object.spec.networking.ingress[0].from[0].ipBlock = { cidr: '10.0.0.0/8' })),
      good: () => binding(ok),
    },
    {
      path: 'ports[0].protocol',
      says: /./,
      bad: () => binding((object) => (object.spec.networking.ingress[0].ports[0].protocol = 'tcp')),
      good: () => binding(ok),
    },
  ],
  'TS-B03': [
    {
      path: 'binding.port',
      says: /port 80 is opened/,
      bad: () => plan((raw) => (raw.binding.port = 80)),
      good: () => plan(ok),
    },
    {
      path: 'ports',
      says: /listen on 8080/,
      bad: () => binding((object) => (object.spec.networking.ingress[0].ports[0].port = 80)),
      good: () => binding(ok),
    },
  ],
  'TS-B04': [
    {
      path: 'binding.namespace',
      says: /other is not shop/,
      bad: () => plan((raw) => (raw.binding.namespace = 'other')),
      good: () => plan((raw) => delete raw.binding.namespace),
    },
  ],
  'TS-G01': [
    {
      path: 'current.ingress.groupName',
      says: /Shop_/,
      bad: () => plan((raw) => (raw.current.ingress.groupName = 'Shop_1')),
      good: () => plan(ok),
    },
    { path: 'group.name', says: /"A"/, bad: () => ingress(annotate('group.name', 'A')), good: () => ingress(ok) },
  ],
  'TS-G02': [
    {
      path: 'group.order',
      says: /1001/,
      bad: () => ingress(annotate('group.order', '1001')),
      good: () => ingress(annotate('group.order', '-1000')),
    },
  ],
  'TS-G03': [
    {
      path: 'group.name',
      says: /"shop-current", the new one in "shop-new"/,
      bad: () => ingress(annotate('group.name', 'shop-new'), CURRENT),
      good: () => ingress(ok, CURRENT),
    },
    {
      path: 'current.ingress.groupName',
      says: /"other"/,
      bad: () => live((facts) => (facts.currentIngress.metadata.finalizers = ['group.ingress.k8s.aws/other'])),
      good: () => live(ok),
    },
  ],
  'TS-Q01': [
    {
      path: 'steps[1].gates[0]',
      says: /neither max, min nor maxRatio/,
      bad: () => metricGate(1, { kind: 'cloudWatch', metric: 'errorRate' }),
      good: () => metricGate(1, { kind: 'cloudWatch', metric: 'errorRate', max: 0.01 }),
    },
    {
      path: 'steps[1].gates[0].maxRatio',
      says: /no query for the current side/,
      bad: () => metricGate(1, { kind: 'prometheus', target: 'up', maxRatio: 2 }),
      good: () => metricGate(1, { kind: 'prometheus', target: 'up', current: 'up', maxRatio: 2 }),
    },
    {
      path: 'steps[3].gates[0].maxRatio',
      says: /no traffic in this step/,
      bad: () => metricGate(3, { kind: 'cloudWatch', metric: 'latency', maxRatio: 2 }),
      good: () => metricGate(3, { kind: 'cloudWatch', metric: 'latency', maxRatio: 2, max: 1 }),
    },
  ],
  'TS-Q02': [
    {
      path: 'steps[1].gates[0]',
      says: /3 periods of 600 s do not fit/,
      bad: () => metricGate(1, { kind: 'cloudWatch', metric: 'errorRate', max: 0.01, periodSeconds: 600 }),
      good: () => metricGate(1, { kind: 'cloudWatch', metric: 'errorRate', max: 0.01 }),
    },
  ],
  'TS-O01': [
    {
      path: 'gitops',
      says: /needs the section/,
      bad: () => plan((raw) => (raw.mode = 'gitops')),
      good: () => plan(throughGit(ok)),
    },
    {
      path: 'gitops',
      says: /no meaning in mode apply/,
      bad: () => plan(throughGit((raw) => (raw.mode = 'apply'))),
      good: () => plan(throughGit(ok)),
    },
  ],
  'TS-O02': [
    ...['https://ada:secret@git.example.com/x.git', 'ftp://git.example.com/x', '--upload-pack=x', 'git@host:a b'].map(
      (repository): Case => ({
        path: 'gitops.repository',
        says: /without a password/,
        bad: () => plan(throughGit((raw) => (raw.gitops.repository = repository))),
        good: () => plan(throughGit((raw) => (raw.gitops.repository = 'git@git.example.com:platform/clusters.git'))),
      }),
    ),
    ...['../secrets', '/etc', 'a//b', '.git/config', ''].map(
      (path): Case => ({
        path: 'gitops.current.path',
        says: /within the repository/,
        bad: () => plan(throughGit((raw) => (raw.gitops.current.path = path))),
        good: () => plan(throughGit(ok)),
      }),
    ),
    ...['-f', 'a..b', 'x.lock', 'refs//x'].map(
      (branch): Case => ({
        path: 'gitops.branch',
        says: /name of a branch/,
        bad: () => plan(throughGit((raw) => (raw.gitops.branch = branch))),
        good: () => plan(throughGit((raw) => (raw.gitops.branch = 'release/1.2'))),
      }),
    ),
    {
      path: 'gitops.target.path',
      says: /same files/,
      bad: () => plan(throughGit((raw) => (raw.gitops.target.path = raw.gitops.current.path))),
      good: () => plan(throughGit((raw) => Object.assign(raw.gitops.target, { path: 'blue', branch: 'green' }))),
    },
    {
      path: 'gitops.proposalBranch',
      says: /follow/,
      bad: () => plan(throughGit((raw) => (raw.gitops.proposalBranch = 'main'))),
      good: () => plan(throughGit((raw) => (raw.gitops.proposalBranch = 'weir/shop'))),
    },
  ],
  'TS-O03': [
    {
      path: 'cleanup.currentIngress',
      says: /form helm/,
      bad: () =>
        plan(
          throughGit((raw) => {
            raw.gitops.current.form = 'helm'
            raw.cleanup = { currentIngress: 'delete-ingress' }
          }),
        ),
      good: () => plan(throughGit((raw) => (raw.cleanup = { currentIngress: 'delete-ingress' }))),
    },
  ],
  'TS-O04': [
    {
      path: 'gitops.current.path',
      says: /the cluster has .*"api".*main .*"web"/,
      bad: () => inBranch((object) => (object.spec.rules[0].http.paths[0].backend.service.name = 'api')),
      good: () => inBranch(ok),
    },
  ],
  'TS-O05': [
    {
      path: 'gitops.current.key',
      says: /trafficSwitch has room for one route, but routes web and cart would both use it/,
      bad: () => routes(throughGit((raw) => (raw.gitops.current.form = 'helm'))),
      good: () => routes(throughGit((raw) => (raw.gitops.current.form = 'kustomize'))),
    },
    {
      path: 'gitops.target.key',
      says: /shop.move has room for one route/,
      bad: () => routes(throughGit((raw) => Object.assign(raw.gitops.target, { form: 'helm', key: 'shop.move' }))),
      good: () => plan(throughGit((raw) => Object.assign(raw.gitops.target, { form: 'helm', key: 'shop.move' }))),
    },
  ],
  'TS-C01': [
    {
      path: 'target.cluster',
      says: /blue/,
      bad: () => plan((raw) => (raw.target.cluster = 'blue')),
      good: () => plan(ok),
    },
  ],
  'TS-C02': [
    {
      path: 'target.ingress.host',
      says: /differs/,
      bad: () => plan((raw) => (raw.target.ingress.host = 'new.example.com')),
      good: () => plan(ok),
    },
  ],
  'TS-D01': [
    {
      path: 'dns.hostname',
      says: /localhost/,
      bad: () => plan((raw) => (raw.dns.hostname = 'localhost')),
      good: () => plan(ok),
    },
    {
      path: 'routes[0].hostname',
      says: /whose record moves/,
      bad: () => routes((raw) => delete raw.routes[0].current.ingress.host),
      good: () =>
        routes((raw) => {
          delete raw.routes[0].current.ingress.host
          raw.dns.hostname = 'shop.example.com'
        }),
    },
  ],
  'TS-D02': [
    {
      path: 'dns.route53.hostedZoneId',
      says: /got "example.com"/,
      bad: () => route53({ hostedZoneId: 'example.com' }),
      good: () => route53({}),
    },
    {
      path: 'dns.route53.hostedZoneId',
      says: /no hosted zone/,
      bad: () => record((facts) => (facts.zone = undefined)),
      good: () => record(ok),
    },
    {
      path: 'dns.route53.hostedZoneId',
      says: /not a name of the zone shop.org/,
      bad: () => record((facts) => (facts.zone.name = 'shop.org.')),
      good: () => record((facts) => (facts.zone.name = 'shop.example.com.')),
    },
  ],
  'TS-D03': [
    {
      path: 'dns.hostname',
      says: /no A, AAAA or CNAME record/,
      bad: () => record((facts) => (facts.records = [])),
      good: () => record((facts) => (facts.records[0].AliasTarget.DNSName = 'green.elb.amazonaws.com.')),
    },
    {
      path: 'dns.hostname',
      says: /policy Failover/,
      bad: () => record((facts) => (facts.records[0].Failover = 'PRIMARY')),
      good: () => record((facts) => Object.assign(facts.records[0], { SetIdentifier: 'blue', Weight: 1 })),
    },
    {
      path: 'dns.hostname',
      says: /leads elsewhere.*cloudfront/,
      bad: () => record((facts) => (facts.records[0].AliasTarget.DNSName = 'd1.cloudfront.net.')),
      good: () => record((facts) => (facts.records = [{ Type: 'A', ResourceRecords: [{ Value: '10.1.0.1' }] }])),
    },
    {
      path: 'dns.hostname',
      says: /exactly one weighted record/,
      bad: () =>
        record((facts) => {
          facts.records = ['one', 'two'].map((SetIdentifier) => ({ ...facts.records[0], SetIdentifier, Weight: 1 }))
        }),
      good: () => record(ok),
    },
  ],
  'TS-D04': [
    {
      path: 'dns.route53',
      says: /owner id blue-dns made the record of shop.example.com for ingress\/shop\/web/,
      bad: () =>
        record((facts) => facts.owners.push({ id: 'blue-dns', resource: 'ingress/shop/web', record: 'a-shop' })),
      good: () => record(ok),
    },
  ],
  'TS-D05': [
    {
      path: 'dns.route53.shares',
      says: /last share is 50/,
      bad: () => route53({ shares: [10, 50] }),
      good: () => route53({ shares: [10, 50, 100] }),
    },
    {
      path: 'dns.route53.shares',
      says: /does not grow/,
      bad: () => route53({ shares: [50, 10, 100] }),
      good: () => route53({ shares: [100] }),
    },
    {
      path: 'dns.route53.shares[0]',
      says: /got 0/,
      bad: () => route53({ shares: [0, 100] }),
      good: () => route53({ shares: [1, 100] }),
    },
    {
      path: 'dns.route53',
      says: /observe/,
      bad: () =>
        plan((raw) => {
          raw.mode = 'observe'
          raw.dns.route53 = { hostedZoneId: 'Z0123456789SHOP' }
        }),
      good: () => plan((raw) => (raw.mode = 'observe')),
    },
  ],
  'TS-M01': [
    {
      path: 'multi-cluster-target-group',
      says: /true/,
      bad: () => ingress(annotate('multi-cluster-target-group', true)),
      good: () => ingress(ok),
    },
  ],
  'TS-M02': [
    {
      path: 'multicluster-target-group',
      says: /did you mean multi-cluster-target-group/,
      bad: () => ingress(annotate('multicluster-target-group', 'true')),
      good: () => ingress(ok),
    },
    {
      path: 'action.web',
      says: /did you mean actions\./,
      bad: () => ingress(annotate('action.web', '{}')),
      good: () => ingress(ok),
    },
  ],
  'TS-M03': [
    {
      path: 'multi-cluster-target-group',
      says: /"yes"/,
      bad: () => ingress(annotate('multi-cluster-target-group', 'yes')),
      good: () => ingress(annotate('multi-cluster-target-group', 'T')),
    },
  ],
  'TS-N01': [
    {
      path: 'current.namespace',
      says: /"Shop"/,
      bad: () => plan((raw) => (raw.current.namespace = 'Shop')),
      good: () => plan(ok),
    },
  ],
  'TS-H01': [
    {
      path: 'steps[1].weights.target',
      says: /0 healthy/,
      bad: () => lintHealth({ target: 10 }, 0, 1, 'steps[1].weights.target'),
      good: () => [...lintHealth({ target: 10 }, 1, 1, ''), ...lintHealth({ target: 0 }, 0, 1, '')],
    },
  ],
  'TS-X01': [
    {
      path: 'actionName',
      says: /Argo/,
      bad: () =>
        live(
          (facts) =>
            (facts.currentIngress.metadata.annotations['rollouts.argoproj.io/managed-alb-actions'] =
              '{"web":["web-switch"]}'),
        ),
      good: () => live(ok),
    },
    {
      path: 'actionName',
      says: /Argo/,
      bad: () =>
        live(
          (facts) =>
            (facts.currentIngress.metadata.annotations['rollouts.argoproj.io/managed-alb-annotations'] =
              '{"web":["alb.ingress.kubernetes.io/actions.web-switch"]}'),
        ),
      good: () => live(ok),
    },
  ],
  'TS-X02': [
    {
      path: 'current.ingress.name',
      says: /no Ingress/,
      bad: () => live((facts) => delete facts.currentIngress),
      good: () => live(ok),
    },
    {
      path: 'target.service.name',
      says: /no Service/,
      bad: () => live((facts) => delete facts.targetService),
      good: () => live((facts) => delete facts.targetIngress),
    },
    {
      path: 'current.ingress',
      says: /no load balancer/,
      bad: () => live((facts) => delete facts.loadBalancer),
      good: () => live(ok),
    },
  ],
  'TS-X03': [
    {
      path: 'targetGroup.port',
      says: /9090/,
      bad: () => live((facts) => (facts.targetGroup.port = 9090)),
      good: () => live((facts) => delete facts.targetGroup),
    },
    {
      path: 'targetGroup.name',
      says: /used by arn:other/,
      bad: () => live((facts) => facts.targetGroup.loadBalancerArns.push('arn:other')),
      good: () => live(ok),
    },
  ],
  'TS-X04': [
    {
      path: 'binding.sourceSecurityGroup',
      says: /not attached/,
      bad: () => live((facts) => (facts.loadBalancer.securityGroups = ['sg-11111111'])),
      good: () => live(ok),
    },
  ],
  'TS-R01': [
    ...[
      ['routes[1].name', /the name web belongs/, (raw: any) => (raw.routes[1].name = 'web')],
      ['routes[1].actionName', /action web-switch/, (raw: any) => (raw.routes[1].actionName = 'web-switch')],
      ['routes[1].current.service', /Service web/, (raw: any) => (raw.routes[1].current.service.name = 'web')],
      [
        'routes[1].current.ingress.path',
        /shop.example.com\/ of/,
        (raw: any) => delete raw.routes[1].current.ingress.path,
      ],
      ['routes[1].target.ingress.path', /green/, (raw: any) => (raw.routes[1].target.ingress.path = '/')],
      [
        'routes[3].targetGroup.name',
        /of route|route web/,
        (raw: any) => (raw.routes[3].targetGroup.name = 'shop-web-target'),
      ],
      [
        'routes[2].binding.name',
        /binding shop\/cart-switch/,
        (raw: any) => (raw.routes[2].binding.name = 'cart-switch'),
      ],
    ].map(([path, says, change]) => ({
      ...{ path: path as string, says: says as RegExp, bad: () => routes(change as (raw: any) => void) },
      // The same action name on another Ingress is another action.
      good: () => routes((raw) => (raw.routes[3].actionName = 'web-switch')),
    })),
  ],
  'TS-R02': [
    {
      path: 'routes[3].hostname',
      says: /also the host of route web, but in cluster blue they have two load balancers/,
      bad: () => routes((raw) => (raw.routes[3].hostname = 'shop.example.com')),
      good: () => routes(ok),
    },
    {
      path: 'routes[2].hostname',
      says: /cluster green/,
      bad: () => routes((raw) => delete raw.routes[2].target.ingress.groupName),
      good: () => routes(ok),
    },
  ],
  'TS-R03': [
    {
      path: 'routes[1].current.ingress.annotations',
      says: /route web says otherwise about the same Ingress shop\/web/,
      bad: () => routes((raw) => (raw.routes[1].current.ingress.annotations = {})),
      good: () => routes(ok),
    },
  ],
  'TS-X05': [
    {
      path: 'current.service',
      says: /auth-type, auth-idp-oidc.*become public/,
      bad: () =>
        live((facts) => {
          facts.currentService.metadata.annotations = {
            'alb.ingress.kubernetes.io/auth-type': 'oidc',
            'alb.ingress.kubernetes.io/auth-idp-oidc': '{}',
          }
        }),
      good: () =>
        live((facts) => {
          facts.currentService.metadata.annotations = { 'alb.ingress.kubernetes.io/auth-type': 'none' }
        }),
    },
  ],
  'TS-X06': [
    {
      path: 'current.service',
      says: /actions\.beta forwards to Service web too/,
      bad: () =>
        live((facts) => {
          annotate(
            'actions.beta',
            '{"type":"forward","forwardConfig":{"targetGroups":[{"serviceName":"web"}]}}',
          )(facts.currentIngress)
          facts.currentIngress.spec.rules[0].http.paths.push({
            path: '/beta',
            pathType: 'Prefix',
            backend: { service: { name: 'beta', port: { name: 'use-annotation' } } },
          })
        }),
      good: () => live(ok),
    },
  ],
}

test.each([
  ['{"type":"redirect","redirectConfig":{"statusCode":301}}', /got 301; expected "HTTP_301"/],
  ['{"type":"redirect","redirectConfig":{"host":"a.example.com"}}', /got nothing/],
  ['{"type":"fixed-response","fixedResponseConfig":{"statusCode":503}}', /got 503; expected text/],
])('a status code that the controller cannot read: %s', (text, says) => {
  const found = ingress(annotate('actions.web-switch', text)).find(({ code }) => code === 'TS-A08')
  expect(found?.message).toMatch(says)
})

test.each(['90.0', '9e1'])('the weight %s in an action is refused, as the controller refuses it', (weight) => {
  const found = ingress((object) => {
    object.metadata.annotations[ACTION] = object.metadata.annotations[ACTION].replace(
      '"weight":90',
      `"weight":${weight}`,
    )
  })
  expect(found).toMatchObject([{ code: 'TS-W01', message: expect.stringContaining(weight) }])
})

test('conditions of nobody are told, target-control-port with its service is known', () => {
  expect(ingress(annotate('conditions.gone', '[]'))).toMatchObject([{ code: 'TS-A06', severity: 'warning' }])
  expect(ingress(annotate('conditions.web-switch', '[]'))).toEqual([])
  expect(ingress(annotate('target-control-port.web.80', '3000'))).toEqual([])
})

describe.each(Object.keys(RULES) as Code[])('%s', (code) => {
  test.each(CASES[code].map((item, index) => ({ ...item, index })))(
    'case $index: refused at $path, and not where all is well',
    ({ path, says, bad, good }) => {
      const found = bad().find((item) => item.code === code && item.path.includes(path))
      expect(found, JSON.stringify(bad(), null, 1)).toBeDefined()
      expect(found!.message).toMatch(says)
      expect(found!.remedy).toBe(RULES[code].remedy)
      expect(good().filter((item) => item.code === code)).toEqual([])
    },
  )
})

test.each([
  'https://ada:s3cret@git.example.com/x.git',
  'https://s3cret@git.example.com/x.git',
  'https://ada:a/b@s3cret@git.example.com/x.git',
  'ada:s3cret@git.example.com:x.git',
])('a repository with a login is refused, and the login is not repeated: %s', (repository) => {
  const found = plan(throughGit((raw) => (raw.gitops.repository = repository)))
  expect(found).toMatchObject([{ code: 'TS-O02', message: expect.stringContaining('@git.example.com') }])
  expect(JSON.stringify(found)).not.toContain('s3cret')
})

test('what is right has no findings at all', () => {
  expect(plan(ok)).toEqual([])
  expect(routes(ok)).toEqual([])
  expect(ingress(ok, CURRENT)).toEqual([])
  expect(binding(ok)).toEqual([])
  expect(live(ok)).toEqual([])
})

test('a finding names the line', () => {
  const text = SHOP_YAML.replace('target: 10 }', 'target: "10" }')
  const line = text.split('\n').findIndex((item) => item.includes('"10"')) + 1
  expect(parsePlan(text).findings).toMatchObject([{ code: 'TS-W01', path: 'steps[1].weights.target', line }])
})

test('everything wrong is said at once', () => {
  const codes = plan((raw) => {
    raw.steps[1].weights = { current: -1, target: '10' }
    raw.targetGroup.name = 'x-'
    raw.actionName = 'Web'
  }).map((item) => item.code)
  expect(codes).toEqual(expect.arrayContaining(['TS-W01', 'TS-W02', 'TS-T01', 'TS-A01']))
})
