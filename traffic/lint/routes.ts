import { isDeepStrictEqual } from 'node:util'
import { type Finding, finding } from '../model/finding.ts'
import { bindingNamespace, type Plan, type RoutePlan, type SideName } from '../model/plan.ts'
import { routesOf } from '../model/routes.ts'

const SIDES: readonly SideName[] = ['current', 'target']

const ingressOf = (plan: RoutePlan, side: SideName): string => `${plan[side].namespace}/${plan[side].ingress.name}`
const nameOf = ({ route }: RoutePlan): string => route?.name ?? ''

/** Properties that two routes must never share, with their wording in messages. */
const OWN: readonly {
  readonly path: string
  keyOf(plan: RoutePlan): string
}[] = [
  { path: 'name', keyOf: (plan) => `the name ${nameOf(plan)}` },
  { path: 'actionName', keyOf: (plan) => `action ${plan.actionName} of Ingress ${ingressOf(plan, 'current')}` },
  {
    path: 'current.service',
    keyOf: (plan) => `Service ${plan.current.service.name} of Ingress ${ingressOf(plan, 'current')}`,
  },
  ...SIDES.map((side) => ({
    path: `${side}.ingress.path`,
    keyOf: (plan: RoutePlan) => {
      const { host = '*', path, pathType } = plan[side].ingress
      return `${pathType} path ${host}${path} of Ingress ${ingressOf(plan, side)} in cluster ${plan[side].cluster}`
    },
  })),
  { path: 'targetGroup.name', keyOf: (plan) => `target group ${plan.targetGroup.name}` },
  { path: 'binding.name', keyOf: (plan) => `binding ${bindingNamespace(plan)}/${plan.binding.name}` },
]

/** Finds mistakes that several routes of one plan make together. */
export function lintRoutes(plan: Plan): readonly Finding[] {
  const routes = routesOf(plan)
  return routes.flatMap((own, index) => {
    const before = routes.slice(0, index)
    return [...lintTwice(own, before), ...lintHost(own, before), ...lintShared(own, before)]
  })
}

const placeOf = ({ route }: RoutePlan, path: string): string => (route === undefined ? path : `${route.path}.${path}`)

const lintTwice = (own: RoutePlan, before: readonly RoutePlan[]): readonly Finding[] =>
  OWN.flatMap(({ path, keyOf }) => {
    const other = before.find((each) => keyOf(each) === keyOf(own))
    return other === undefined
      ? []
      : [finding('TS-R01', placeOf(own, path), `${keyOf(own)} belongs to route ${nameOf(other)} already`)]
  })

/** A host name leads to one load balancer, so all its routes have to be there. */
function lintHost(own: RoutePlan, before: readonly RoutePlan[]): readonly Finding[] {
  const { hostname } = own.dns
  if (hostname === '')
    return [finding('TS-D01', placeOf(own, 'hostname'), 'neither the route nor dns.hostname says whose record moves')]
  const other = before.find(({ dns }) => dns.hostname === hostname)
  const apart = other === undefined ? [] : SIDES.filter((side) => !sharesBalancer(own, other, side))
  return apart.map((side) =>
    finding(
      'TS-R02',
      placeOf(own, 'hostname'),
      `${hostname} is also the host of route ${nameOf(other!)}, but in cluster ${own[side].cluster} they have two load balancers`,
    ),
  )
}

const sharesBalancer = (one: RoutePlan, other: RoutePlan, side: SideName): boolean => {
  const { groupName } = one[side].ingress
  return (
    ingressOf(one, side) === ingressOf(other, side) ||
    (groupName !== undefined && groupName === other[side].ingress.groupName)
  )
}

const lintShared = (own: RoutePlan, before: readonly RoutePlan[]): readonly Finding[] =>
  SIDES.flatMap((side) => {
    const other = before.find((each) => ingressOf(each, side) === ingressOf(own, side))
    if (other === undefined) return []
    return (['groupName', 'className', 'annotations'] as const)
      .filter((field) => !isDeepStrictEqual(own[side].ingress[field], other[side].ingress[field]))
      .map((field) =>
        finding(
          'TS-R03',
          placeOf(own, `${side}.ingress.${field}`),
          `route ${nameOf(other)} says otherwise about the same Ingress ${ingressOf(own, side)}`,
        ),
      )
  })
