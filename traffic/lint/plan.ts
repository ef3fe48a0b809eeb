import { ANNOTATION_PREFIX, actionKey, isFinalStep, lintSum } from '../model/action.ts'
import { type Finding, finding } from '../model/finding.ts'
import { hasLogin } from '../model/gitops.ts'
import { healthCheckOf } from '../model/health-check.ts'
import { hasTargetStickiness } from '../model/manifests.ts'
import { describeValue } from '../model/names.ts'
import { bindingNamespace, bindingService, type Plan, type RoutePlan } from '../model/plan.ts'
import { inRoute, routesOf } from '../model/routes.ts'
import { lintArn } from '../model/target-group-arn.ts'
import { simulate } from '../render/simulate.ts'
import { lintDns } from './dns.ts'
import { lintGitOps } from './gitops.ts'
import { lintMetricGates } from './metric-gates.ts'
import { lintRoutes } from './routes.ts'

const RESERVED_TAG = /^(?:elbv2\.k8s\.aws\/cluster|ingress\.k8s\.aws\/.*)$/

/** Finds everything at once that a plan of the right shape can still get wrong. */
export function lintPlan(plan: Plan): readonly Finding[] {
  return [
    ...lintSteps(plan),
    ...lintMetricGates(plan),
    ...lintDns(plan),
    ...lintGitOps(plan),
    ...lintPlanStickiness(plan),
    ...lintClusters(plan),
    ...lintCommit(plan),
    ...routesOf(plan).flatMap((own) => inRoute(own, lintRoute(own))),
    ...lintRoutes(plan),
  ]
}

const lintRoute = (plan: RoutePlan): readonly Finding[] => [
  ...lintTargetStickiness(plan),
  ...lintTargetGroup(plan),
  ...lintSides(plan),
  ...lintBinding(plan),
]

function lintSteps(plan: Plan): readonly Finding[] {
  const findings: Finding[] = []
  const shareOf = ({ weights }: Plan['steps'][number]) => weights.target / (weights.current + weights.target)
  for (const [index, step] of plan.steps.entries()) {
    const path = `steps[${index}].weights`
    findings.push(...lintSum([step.weights.current, step.weights.target], path))
    const before = plan.steps[index - 1]
    if (before !== undefined && shareOf(step) < shareOf(before)) {
      findings.push(
        finding('TS-W05', path, `the target's share falls from step ${index - 1} to step ${index}`, 'warning'),
      )
    }
  }
  const first = plan.steps[0]!.weights
  const last = plan.steps.at(-1)!.weights
  if (first.target !== 0)
    findings.push(
      finding(
        'TS-W05',
        'steps[0].weights.target',
        `got ${first.target}; the first step attaches the target group without traffic`,
      ),
    )
  if (last.current !== 0) {
    findings.push(
      finding(
        'TS-W05',
        `steps[${plan.steps.length - 1}].weights.current`,
        `got ${last.current}; the last step moves everything`,
      ),
    )
  }
  return findings
}

function lintTargetStickiness(plan: RoutePlan): readonly Finding[] {
  const { enabled, atFinalStep } = plan.stickiness
  if (enabled && atFinalStep !== 'disable') return []
  return (['current', 'target'] as const)
    .filter((side) => hasTargetStickiness(plan[side].ingress.annotations))
    .map((side) => {
      const path = `${side}.ingress.annotations["${ANNOTATION_PREFIX}target-group-attributes"]`
      return finding('TS-S04', path, 'stickiness inside a target group forbids a rule without group stickiness')
    })
}

function lintPlanStickiness(plan: Plan): readonly Finding[] {
  const { enabled, durationSeconds, atFinalStep } = plan.stickiness
  if (!enabled) return []
  if (durationSeconds === undefined)
    return [finding('TS-S01', 'stickiness.durationSeconds', 'required when stickiness is enabled, 1..604800')]
  const findings: Finding[] = []
  if (atFinalStep === 'keep') {
    const { timeTo99Seconds } = simulate(plan, { minutes: 240, clients: 300 })
    const tail =
      timeTo99Seconds === null
        ? 'more than 99 % never arrive within 4 hours'
        : `99 % arrive ${Math.round(timeTo99Seconds / 60)} minutes late`
    findings.push(
      finding('TS-S02', 'stickiness.atFinalStep', `stickiness stays on at 0/100; simulated: ${tail}`, 'warning'),
    )
  }
  for (const [index, step] of plan.steps.entries()) {
    if (index > 0 && !isFinalStep(plan, index) && step.dwellSeconds < durationSeconds) {
      const message = `dwell of ${step.dwellSeconds} s is shorter than the stickiness of ${durationSeconds} s; the step will not settle`
      findings.push(finding('TS-S03', `steps[${index}].dwellSeconds`, message, 'warning'))
    }
  }
  return findings
}

function lintTargetGroup(plan: RoutePlan): readonly Finding[] {
  const { targetGroup } = plan
  const findings: Finding[] = []
  if (targetGroup.arn !== undefined) findings.push(...lintArn(plan, targetGroup.arn))
  const healthCheck = healthCheckOf(plan)
  if (healthCheck.timeoutSeconds >= healthCheck.intervalSeconds) {
    findings.push(
      finding(
        'TS-T02',
        'targetGroup.healthCheck.timeoutSeconds',
        `got ${healthCheck.timeoutSeconds}; must be below the interval of ${healthCheck.intervalSeconds} s`,
      ),
    )
  }
  for (const tag of Object.keys(targetGroup.tags)) {
    if (RESERVED_TAG.test(tag))
      findings.push(finding('TS-T04', `targetGroup.tags["${tag}"]`, `the tag ${tag} belongs to the controller`))
  }
  for (const side of ['current', 'target'] as const) {
    const { vpcId } = plan[side]
    if (vpcId !== undefined && vpcId !== targetGroup.vpcId) {
      findings.push(
        finding('TS-V02', 'targetGroup.vpcId', `${targetGroup.vpcId} is not the VPC of the ${side} cluster, ${vpcId}`),
      )
    }
  }
  return findings
}

function lintClusters({ current, target }: Plan): readonly Finding[] {
  const findings: Finding[] = []
  if (current.cluster === target.cluster)
    findings.push(finding('TS-C01', 'target.cluster', `both sides name the cluster ${current.cluster}`))
  if (current.kubeContext !== undefined && current.kubeContext === target.kubeContext) {
    findings.push(finding('TS-C01', 'target.kubeContext', `both sides use the context ${current.kubeContext}`))
  }
  return findings
}

/** Checked here and not in the schema, because a switch that is under way must stay readable. */
const lintCommit = ({ commit }: Plan): readonly Finding[] =>
  commit !== undefined && hasLogin(commit.repoUrl)
    ? [finding('TS-Y02', 'commit.repoUrl', 'has a user name or password in it, and a plan is stored and shown')]
    : []

function lintSides({ current, target, actionName }: RoutePlan): readonly Finding[] {
  const findings: Finding[] = []
  for (const field of ['host', 'path'] as const) {
    if (current.ingress[field] !== target.ingress[field]) {
      findings.push(
        finding(
          'TS-C02',
          `target.ingress.${field}`,
          `${describeValue(target.ingress[field])} differs from the current ${describeValue(current.ingress[field])}`,
          'warning',
        ),
      )
    }
  }
  if (actionName === current.service.name) {
    findings.push(finding('TS-A03', 'actionName', `${actionName} is also the name of the Service`, 'warning'))
  }
  for (const side of ['current', 'target'] as const) {
    for (const key of OWN_ANNOTATIONS) {
      if (key in { current, target }[side].ingress.annotations) {
        findings.push(
          finding('TS-Y02', `${side}.ingress.annotations["${key}"]`, 'the plan writes this annotation itself'),
        )
      }
    }
    if (actionKey(actionName) in { current, target }[side].ingress.annotations) {
      findings.push(
        finding(
          'TS-Y02',
          `${side}.ingress.annotations["${actionKey(actionName)}"]`,
          'the plan writes this annotation itself',
        ),
      )
    }
  }
  return findings
}

const OWN_ANNOTATIONS = [`${ANNOTATION_PREFIX}group.name`, `${ANNOTATION_PREFIX}multi-cluster-target-group`]

function lintBinding(plan: RoutePlan): readonly Finding[] {
  const { binding, target, targetGroup } = plan
  const findings: Finding[] = []
  if (bindingNamespace(plan) !== target.namespace) {
    findings.push(
      finding(
        'TS-B04',
        'binding.namespace',
        `${bindingNamespace(plan)} is not ${target.namespace}, where the Service of the target lives`,
      ),
    )
  }
  const service = bindingService(plan)
  if (service.name !== target.service.name || service.port !== target.service.port) {
    const got = `${service.name}:${service.port}`
    findings.push(
      finding(
        'TS-P02',
        'binding.serviceRef',
        `${got} is not the target's service ${target.service.name}:${target.service.port}`,
      ),
    )
  }
  if (binding.port !== targetGroup.port) {
    findings.push(
      finding(
        'TS-B03',
        'binding.port',
        `port ${binding.port} is opened, but the target group expects ${targetGroup.port}`,
      ),
    )
  }
  return findings
}
