import { type Finding, finding } from './finding.ts'
import { describeValue, parseTargetGroupArn } from './names.ts'
import type { RoutePlan } from './plan.ts'

/** An ARN of another region, account or group blocks every Ingress of the load balancer. */
export function lintArn(plan: RoutePlan, arn: string): readonly Finding[] {
  const path = 'targetGroup.arn'
  const parts = parseTargetGroupArn(arn)
  if (parts === undefined) return [finding('TS-T03', path, `${describeValue(arn)} is not the ARN of a target group`)]
  const wanted = {
    region: plan.aws.region,
    accountId: plan.aws.accountId ?? parts.accountId,
    name: plan.targetGroup.name,
  }
  return (['region', 'accountId', 'name'] as const)
    .filter((part) => parts[part] !== wanted[part])
    .map((part) => finding('TS-T03', path, `the ARN has ${part} ${parts[part]}, the plan ${wanted[part]}`))
}
