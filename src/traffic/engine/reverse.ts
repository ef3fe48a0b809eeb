import { loadBalancerHostname } from '../effects/effect.ts'
import { requirePlan } from '../lint/require-plan.ts'
import { TrafficError } from '../model/finding.ts'
import { type Plan, readPlan } from '../model/plan.ts'
import type { Engine } from './engine-types.ts'
import { createSwitch, type SwitchRow } from './store.ts'
import { planOf } from './stored-plan.ts'

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
  const { gitops } = plan
  return {
    ...plan,
    ...(gitops === undefined ? {} : { gitops: { ...gitops, current: gitops.target, target: gitops.current } }),
    name: back(plan.name, 63),
    current: plan.target,
    target: plan.current,
    targetGroup: { ...targetGroup, name: back(targetGroup.name, 32) },
    binding: { ...binding, name: back(binding.name, 63), sourceSecurityGroup },
  }
}

/** A new draft in the other direction; the security group is read from the live load balancer unless it is given. */
export async function reverseSwitch(
  engine: Engine,
  row: SwitchRow,
  actor: string,
  sourceSecurityGroup?: string,
): Promise<SwitchRow> {
  const plan = planOf(row)
  const found = sourceSecurityGroup ?? (await liveSecurityGroup(engine, plan))
  const reversed = requirePlan(readPlan(reversePlan(plan, found)))
  return createSwitch(engine.database, reversed, actor)
}

async function liveSecurityGroup(engine: Engine, plan: Plan): Promise<string | undefined> {
  const { target, balancer } = await engine.connect(plan)
  const hostname = loadBalancerHostname(await target.ingress(plan.target.namespace, plan.target.ingress.name))
  return hostname === undefined ? undefined : (await balancer.loadBalancer(hostname))?.securityGroups[0]
}
