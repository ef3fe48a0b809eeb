import { ANNOTATION_PREFIX, actionKey } from '../model/action.ts'
import { type Finding, finding } from '../model/finding.ts'
import { backendsOf, findPort, hasTargetStickiness, type Ingress, type Service } from '../model/manifests.ts'
import { describeValue, textOf } from '../model/names.ts'
import type { RoutePlan } from '../model/plan.ts'

/** The controller reads these annotations from the Service only while a rule forwards to that one Service. */
const SERVICE_GUARD = /^(?:auth-|jwt-validation)/

/** Finds what protects or steers the route today, and would be lost or left behind with a weighted action. */
export const lintGuards = (
  plan: RoutePlan,
  ingress: Ingress | undefined,
  service: Service | undefined,
): readonly Finding[] => [
  ...(service === undefined ? [] : lintService(plan, service)),
  ...(ingress === undefined ? [] : lintOtherActions(plan, ingress)),
  ...(ingress === undefined || service === undefined ? [] : lintOtherPorts(plan, ingress, service)),
]

function lintService(plan: RoutePlan, service: Service): readonly Finding[] {
  const annotations = service.metadata.annotations ?? {}
  const guards = Object.keys(annotations)
    .filter((key) => key.startsWith(ANNOTATION_PREFIX))
    .map((key) => key.slice(ANNOTATION_PREFIX.length))
    .filter((key) => SERVICE_GUARD.test(key))
  const isOff = textOf(annotations[`${ANNOTATION_PREFIX}auth-type`] ?? '') === 'none'
  const findings: Finding[] = []
  if (guards.length > 0 && !isOff)
    findings.push(
      finding(
        'TS-X05',
        'current.service',
        `Service ${plan.current.service.name} carries ${guards.join(', ')}, which a rule with two target groups ignores: the route would become public`,
      ),
    )
  if (hasTargetStickiness(annotations))
    findings.push(
      finding(
        'TS-S04',
        'current.service',
        `target-group-attributes of Service ${plan.current.service.name} enable stickiness, which forbids switching group stickiness off`,
      ),
    )
  return findings
}

/** Another action that forwards to the same Service does not move with this switch. */
function lintOtherActions(plan: RoutePlan, ingress: Ingress): readonly Finding[] {
  const { name } = plan.current.service
  return Object.entries(ingress.metadata.annotations ?? {}).flatMap(([key, value]) => {
    if (!key.startsWith(actionKey('')) || key === actionKey(plan.actionName)) return []
    const isUsed = backendsOf(ingress).some(({ backend }) => actionKey(backend.service?.name ?? '') === key)
    return isUsed && servicesOf(value).includes(name)
      ? [finding('TS-X06', 'current.service', `${key} forwards to Service ${name} too, and would stay behind`)]
      : []
  })
}

function servicesOf(action: unknown): readonly unknown[] {
  try {
    const groups = JSON.parse(textOf(action))?.forwardConfig?.targetGroups
    return Array.isArray(groups) ? groups.map((group) => group?.serviceName) : []
  } catch {
    return []
  }
}

function lintOtherPorts(plan: RoutePlan, ingress: Ingress, service: Service): readonly Finding[] {
  const { name, port } = plan.current.service
  const wanted = findPort(service, port)?.port
  const others = backendsOf(ingress).flatMap(({ backend }) => {
    const form =
      backend.service?.name === name ? (backend.service.port?.number ?? backend.service.port?.name) : undefined
    return form !== undefined && findPort(service, form)?.port !== wanted ? [form] : []
  })
  return [...new Set(others)].map((form) =>
    finding(
      'TS-X06',
      'current.service.port',
      `paths with port ${describeValue(form)} of Service ${name} stay on the current cluster`,
      'warning',
    ),
  )
}
