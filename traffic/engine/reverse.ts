import { loadBalancerHostname } from '../effects/effect.ts'
import { requirePlan } from '../lint/require-plan.ts'
import { TrafficError } from '../model/finding.ts'
import { type Plan, type RoutePlan, readPlan } from '../model/plan.ts'
import { routesOf } from '../model/routes.ts'
import type { Engine } from './engine-types.ts'
import { createSwitch, type SwitchRow } from './store.ts'
import { planOf } from './stored-plan.ts'

/** Makes the plan for the way back after clean-up: the same switch with the sides exchanged. */
export function reversePlan(plan: Plan, groupOf: (route: RoutePlan) => string | undefined): Plan {
  const name = back(plan.name, 63)
  const requireGroup = (own: RoutePlan): string => {
    const group = groupOf(own)
    if (group !== undefined) return group
    throw new TrafficError(
      'invalid',
      `The reverse of ${own.route?.name ?? plan.name} needs the security group of the load balancer in cluster ${plan.target.cluster}. Pass --source-security-group.`,
    )
  }
  const { gitops } = plan
  const turned = gitops && { gitops: { ...gitops, current: gitops.target, target: gitops.current } }
  if (!('routes' in plan)) return { ...plan, ...turned, name, ...reversed(plan, requireGroup(plan)) }
  const routes = routesOf(plan).map((own, index) => {
    const written = plan.routes[index]!
    return { ...written, ...reversed(written, requireGroup(own)) }
  })
  return { ...plan, ...turned, name, current: plan.target, target: plan.current, routes }
}

const back = (name: string, length: number): string => `${name.slice(0, length - 5)}-back`

/** The fields that a route has in either form of a plan. */
type Turned<Side> = Pick<RoutePlan, 'targetGroup' | 'binding'> & { readonly current: Side; readonly target: Side }

function reversed<Side>(route: Turned<Side>, sourceSecurityGroup: string): Turned<Side> {
  const { arn: _arn, ...targetGroup } = route.targetGroup
  const { namespace: _namespace, serviceRef: _serviceRef, ...binding } = route.binding
  return {
    current: route.target,
    target: route.current,
    targetGroup: { ...targetGroup, name: back(targetGroup.name, 32) },
    binding: { ...binding, name: back(binding.name, 63), sourceSecurityGroup },
  }
}

/** Creates a draft in the other direction. The security group is read from the live load balancer unless it is given. */
export async function reverseSwitch(
  engine: Engine,
  row: SwitchRow,
  actor: string,
  sourceSecurityGroup?: string,
): Promise<SwitchRow> {
  if (row.state === 'aborted')
    throw new TrafficError(
      'conflict',
      `Switch ${row.id} was aborted: all traffic stayed on the current cluster, so there is nothing to reverse.`,
    )
  const plan = planOf(row)
  const found = sourceSecurityGroup === undefined ? await liveSecurityGroups(engine, plan) : undefined
  const groupOf = ({ route }: RoutePlan) => sourceSecurityGroup ?? found?.get(route?.name)
  return createSwitch(engine.database, requirePlan(readPlan(reversePlan(plan, groupOf))), actor)
}

/** The security groups by route, because routes may use several load balancers. */
async function liveSecurityGroups(
  engine: Engine,
  plan: Plan,
): Promise<ReadonlyMap<string | undefined, string | undefined>> {
  const { target, balancer } = await engine.connect(plan)
  const found = routesOf(plan).map(async ({ route, target: { namespace, ingress } }) => {
    const hostname = loadBalancerHostname(await target.ingress(namespace, ingress.name))
    const group = hostname === undefined ? undefined : (await balancer.loadBalancer(hostname))?.securityGroups[0]
    return [route?.name, group] as const
  })
  return new Map(await Promise.all(found))
}
