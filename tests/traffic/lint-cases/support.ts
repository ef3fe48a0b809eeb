import { parse, stringify } from 'yaml'
import { lintRecord } from '../../../traffic/lint/dns.ts'
import { lintBranch } from '../../../traffic/lint/gitops.ts'
import { lintLive } from '../../../traffic/lint/live.ts'
import { lintManifests } from '../../../traffic/lint/manifests.ts'
import { lintPlan } from '../../../traffic/lint/plan.ts'
import type { Finding } from '../../../traffic/model/finding.ts'
import { readPlan } from '../../../traffic/model/plan.ts'
import { renderPhase } from '../../../traffic/render/render.ts'
import { withRoutes } from '../support/many-routes.ts'
import { SHOP_YAML, shopPlan } from '../support/shop.ts'

/** The linted objects. Each function below changes one thing. */
export const ARN = shopPlan().targetGroup.arn!
export const ACTION = 'alb.ingress.kubernetes.io/actions.web-switch'

/** Lints the sample plan after a change of its raw YAML value. */
export function plan(change: (raw: any) => void): readonly Finding[] {
  const raw = parse(SHOP_YAML)
  change(raw)
  const { plan, findings } = readPlan(raw)
  return plan === undefined ? findings : lintPlan(plan)
}

export const CURRENT = renderPhase(shopPlan(), 'step-1')[4]!.content
export const BINDING = renderPhase(shopPlan(), 'step-1')[3]!.content
export const SERVICE = stringify({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name: 'web', namespace: 'shop' },
  spec: { ports: [{ name: 'http', port: 80, targetPort: 8080 }] },
})

export function ingress(change: (object: any) => void, live = ''): readonly Finding[] {
  const object = parse(CURRENT)
  change(object)
  return lintManifests(`${stringify(object)}---\n${SERVICE}`, live)
}
/** Changes the forward action inside the annotation. */
export const action = (change: (forwardConfig: any, whole: any) => void) =>
  ingress((object) => {
    const value = JSON.parse(object.metadata.annotations[ACTION])
    change(value.forwardConfig, value)
    object.metadata.annotations[ACTION] = JSON.stringify(value)
  })
export function binding(change: (object: any) => void): readonly Finding[] {
  const object = parse(BINDING)
  change(object)
  return lintManifests(`${stringify(object)}---\n${SERVICE}`)
}
export const live = (change: (facts: any) => void) => {
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
/** Lints the answer of Route 53, for a plan that names its zone. */
export const record = (change: (facts: any) => void) => {
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
export const route53 = (fields: object) =>
  plan((raw) => {
    raw.dns.route53 = { hostedZoneId: 'Z0123456789SHOP', ...fields }
  })
export const ok = () => {}

export interface Case {
  readonly path: string
  readonly says: RegExp
  readonly bad: () => readonly Finding[]
  readonly good: () => readonly Finding[]
}
export const annotate = (name: string, value: unknown) => (object: any) => {
  object.metadata.annotations[`alb.ingress.kubernetes.io/${name}`] = value
}

export const metricGate = (step: number, gate: object) =>
  plan((raw) => Object.assign(raw.steps[step], { dwellSeconds: 900, gates: [gate] }))

export const throughGit = (change: (raw: any) => void) => (raw: any) => {
  raw.mode = 'gitops'
  raw.gitops = {
    repository: 'https://git.example.com/platform/clusters.git',
    current: { path: 'blue' },
    target: { path: 'green' },
  }
  change(raw)
}
/** Lints the live Ingress after a change, compared with the branch. */
export const inBranch = (change: (object: any) => void) => {
  const before = parse(renderPhase(shopPlan(), 'cleanup')[1]!.content)
  const after = structuredClone(before)
  change(after)
  return lintBranch('gitops.current.path', before, after, 'branch main')
}
/** Lints a plan of several routes with one thing changed. */
export const routes = (change: (raw: any) => void): readonly Finding[] => {
  const raw: any = withRoutes(
    shopPlan((copy) => delete copy.targetGroup.arn),
    ['web', 'cart', 'media', 'admin'],
  )
  change(raw)
  const { plan: found, findings } = readPlan(raw)
  return found === undefined ? findings : lintPlan(found)
}
