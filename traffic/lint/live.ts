import { actionKey, rollbackAction } from '../model/action.ts'
import { type Finding, finding } from '../model/finding.ts'
import type { Mirrored } from '../model/health-check.ts'
import { attachEdit, ingressOfSide } from '../model/ingress.ts'
import { backendsOf, findPort, hasTargetStickiness, type Ingress, type Service } from '../model/manifests.ts'
import { describeValue, textOf } from '../model/names.ts'
import { bindingService, type RoutePlan } from '../model/plan.ts'
import { lintGuards } from './guards.ts'
import { lintGroupChange } from './manifests.ts'

export interface LoadBalancer {
  readonly arn: string
  readonly vpcId: string
  readonly securityGroups: readonly string[]
  readonly dnsName: string
  /** The hosted zone of AWS that its name is in; an alias record needs it besides the name. */
  readonly zoneId: string
  /** Availability zones in which it has addresses. */
  readonly zones?: readonly string[]
}

export interface TargetGroup {
  readonly arn: string
  readonly protocol: string
  readonly port: number
  readonly vpcId: string
  readonly targetType: string
  readonly loadBalancerArns: readonly string[]
}

/** The state of the clusters and AWS before anything is changed. */
export interface LiveFacts {
  readonly currentIngress?: Ingress | undefined
  readonly targetIngress?: Ingress | undefined
  readonly currentService?: Service | undefined
  readonly targetService?: Service | undefined
  /** A Service with the same name as the action. */
  readonly actionService?: Service | undefined
  readonly loadBalancer?: LoadBalancer | undefined
  readonly targetGroup?: TargetGroup | undefined
  /** The target group that the current Service has now. */
  readonly currentGroup?: Mirrored | undefined
}

/** Newer releases of Argo Rollouts list annotations, older ones actions. */
const ARGO = ['rollouts.argoproj.io/managed-alb-annotations', 'rollouts.argoproj.io/managed-alb-actions']

export function lintLive(plan: RoutePlan, facts: LiveFacts): readonly Finding[] {
  return [
    ...lintIngresses(plan, facts),
    ...lintServices(plan, facts),
    ...lintLoadBalancer(plan, facts.loadBalancer),
    ...lintExistingTargetGroup(plan, facts),
    ...lintGuards(plan, facts.currentIngress, facts.currentService),
    ...lintCurrentGroup(facts.currentGroup),
  ]
}

function lintIngresses(
  plan: RoutePlan,
  { currentIngress, targetIngress, actionService }: LiveFacts,
): readonly Finding[] {
  const { current, target, actionName } = plan
  if (currentIngress === undefined) {
    return [
      finding(
        'TS-X02',
        'current.ingress.name',
        `there is no Ingress ${current.namespace}/${current.ingress.name} in cluster ${current.cluster}`,
      ),
    ]
  }
  const findings: Finding[] = lintGroupChange(currentIngress, current.ingress.groupName).map((item) => ({
    ...item,
    path: 'current.ingress.groupName',
  }))
  if (targetIngress !== undefined) {
    findings.push(
      ...lintGroupChange(targetIngress, target.ingress.groupName).map((item) => ({
        ...item,
        path: 'target.ingress.groupName',
      })),
    )
  }
  const annotations = currentIngress.metadata.annotations ?? {}
  if (ARGO.some((key) => textOf(annotations[key] ?? '').includes(actionName) || annotations[key] === 'true')) {
    findings.push(
      finding('TS-X01', 'actionName', `Argo Rollouts manages the actions of Ingress ${current.ingress.name}`),
    )
  }
  if (hasTargetStickiness(annotations)) {
    findings.push(
      finding(
        'TS-S04',
        'current.ingress',
        'the live target-group-attributes enable stickiness, which forbids switching group stickiness off',
      ),
    )
  }
  if (actionService !== undefined)
    findings.push(finding('TS-A03', 'actionName', `there is a Service named ${actionName}`, 'warning'))
  const uses = attachEdit(currentIngress, plan, rollbackAction(plan, '')).backends.length > 0
  if (!uses && !(actionKey(actionName) in annotations)) {
    const wanted = describeValue(backendsOf(ingressOfSide(current))[0]!.backend.service)
    const found = backendsOf(currentIngress)
      .map(({ backend }) => describeValue(backend.service))
      .join(', ')
    findings.push(
      finding(
        'TS-P02',
        'current.service',
        `no path of the live Ingress uses the backend ${wanted}; found ${found || 'none'}`,
      ),
    )
  }
  return findings
}

/** The annotation may be gone, but attributes of a target group stay as they are until somebody sets them. */
const lintCurrentGroup = (group: Mirrored | undefined): readonly Finding[] =>
  group?.attributes['stickiness.enabled'] === 'true'
    ? [finding('TS-S04', 'current.service', `the live target group ${group.arn} has stickiness enabled`)]
    : []

function lintServices(plan: RoutePlan, { currentService, targetService }: LiveFacts): readonly Finding[] {
  const findings: Finding[] = []
  const sides = [
    { side: 'current', service: currentService, wanted: plan.current.service },
    { side: 'target', service: targetService, wanted: bindingService(plan) },
  ] as const
  for (const { side, service, wanted } of sides) {
    if (service === undefined) {
      findings.push(
        finding(
          'TS-X02',
          `${side}.service.name`,
          `there is no Service ${plan[side].namespace}/${wanted.name} in cluster ${plan[side].cluster}`,
        ),
      )
      continue
    }
    const port = findPort(service, wanted.port)
    if (port === undefined)
      findings.push(
        finding('TS-P02', `${side}.service.port`, `Service ${wanted.name} has no port ${describeValue(wanted.port)}`),
      )
    else if (side === 'target' && typeof port.targetPort === 'number' && port.targetPort !== plan.binding.port) {
      findings.push(
        finding(
          'TS-B03',
          'binding.port',
          `port ${plan.binding.port} is opened, but the containers listen on ${port.targetPort}`,
        ),
      )
    }
  }
  return findings
}

function lintLoadBalancer(plan: RoutePlan, loadBalancer: LoadBalancer | undefined): readonly Finding[] {
  if (loadBalancer === undefined) {
    return [
      finding(
        'TS-X02',
        'current.ingress',
        'the live Ingress has no load balancer yet, or it is not in this region and account',
      ),
    ]
  }
  const findings: Finding[] = []
  if (loadBalancer.vpcId !== plan.targetGroup.vpcId) {
    findings.push(
      finding(
        'TS-V02',
        'targetGroup.vpcId',
        `${plan.targetGroup.vpcId} is not the VPC of the current load balancer, ${loadBalancer.vpcId}`,
      ),
    )
  }
  if (!loadBalancer.securityGroups.includes(plan.binding.sourceSecurityGroup)) {
    findings.push(
      finding(
        'TS-X04',
        'binding.sourceSecurityGroup',
        `${plan.binding.sourceSecurityGroup} is not attached to the current load balancer, which has ${loadBalancer.securityGroups.join(', ') || 'none'}`,
      ),
    )
  }
  return findings
}

function lintExistingTargetGroup(plan: RoutePlan, { targetGroup, loadBalancer }: LiveFacts): readonly Finding[] {
  if (targetGroup === undefined) return []
  const wanted = plan.targetGroup
  const findings = (['protocol', 'port', 'vpcId', 'targetType'] as const)
    .filter((field) => targetGroup[field] !== wanted[field])
    .map((field) =>
      finding(
        'TS-X03',
        `targetGroup.${field}`,
        `the existing target group ${wanted.name} has ${describeValue(targetGroup[field])}, the plan ${describeValue(wanted[field])}`,
      ),
    )
  if (plan.targetGroup.arn !== undefined && plan.targetGroup.arn !== targetGroup.arn) {
    findings.push(
      finding('TS-T03', 'targetGroup.arn', `the target group ${wanted.name} has the ARN ${targetGroup.arn}`),
    )
  }
  const others = targetGroup.loadBalancerArns.filter((arn) => arn !== loadBalancer?.arn)
  if (others.length > 0)
    findings.push(
      finding('TS-X03', 'targetGroup.name', `the existing target group ${wanted.name} is used by ${others.join(', ')}`),
    )
  return findings
}

/** A share sent to a group without healthy targets is answered with 503; the load balancer never falls back to the other group. */
export const lintHealth = (
  weights: { readonly target: number },
  healthy: number,
  minimum: number,
  path: string,
): readonly Finding[] =>
  weights.target > 0 && healthy < minimum
    ? [
        finding(
          'TS-H01',
          path,
          `weight ${weights.target} for a target group with ${healthy} healthy targets; ${minimum} needed`,
        ),
      ]
    : []
