import { TrafficError } from './finding.ts'
import type { Plan } from './plan.ts'

/** The way back after clean-up: the same switch with the sides exchanged, as a new plan. */
export function reversePlan(plan: Plan, sourceSecurityGroup: string | undefined): Plan {
  if (sourceSecurityGroup === undefined) {
    throw new TrafficError(
      'invalid',
      `The reverse of ${plan.name} needs the security group of the load balancer in cluster ${plan.target.cluster}. Pass --source-security-group.`,
    )
  }
  const { arn: _arn, ...targetGroup } = plan.targetGroup
  const { namespace: _namespace, serviceRef: _serviceRef, ...binding } = plan.binding
  const back = (name: string, length: number): string => `${name.slice(0, length - 5)}-back`
  return {
    ...plan,
    name: back(plan.name, 63),
    current: plan.target,
    target: plan.current,
    targetGroup: { ...targetGroup, name: back(targetGroup.name, 32) },
    binding: { ...binding, name: back(binding.name, 63), sourceSecurityGroup },
  }
}
