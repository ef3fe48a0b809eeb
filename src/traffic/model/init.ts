import { byName } from '../../basics/by-name.ts'
import { didYouMean } from '../../basics/nearest.ts'
import { TrafficError } from './finding.ts'
import { describeValue, ROUTE_NAME, SERVICE_NAME } from './names.ts'

/** Ways to split the move, with the names that other tools use; each starts at 100/0. */
export const PRESETS: Readonly<Record<string, readonly (readonly [number, number])[]>> = byName({
  instant: [[0, 100]],
  canary: [
    [90, 10],
    [0, 100],
  ],
  standard: [
    [90, 10],
    [50, 50],
    [0, 100],
  ],
  careful: [
    [99, 1],
    [95, 5],
    [75, 25],
    [50, 50],
    [0, 100],
  ],
})

interface NetworkIds {
  readonly vpcId: string
  readonly sourceSecurityGroup: string
}
const SAMPLE: NetworkIds = { vpcId: 'vpc-0123456789abcdef0', sourceSecurityGroup: 'sg-0123456789abcdef0' }
/** These are no valid ids, so a plan in which nobody has replaced them is refused. */
export const PLACEHOLDERS: NetworkIds = { vpcId: 'VPC_ID', sourceSecurityGroup: 'SECURITY_GROUP_ID' }

/** A plan to start from. It has every field that needs a decision, with comments that explain it. */
export function initialPlan(
  name: string,
  preset: string,
  ids: NetworkIds = SAMPLE,
  routes: readonly string[] = [],
): string {
  const steps = PRESETS[preset]
  if (steps === undefined) {
    throw new TrafficError(
      'invalid',
      `Unknown preset ${preset}${didYouMean(preset, Object.keys(PRESETS))} Use one of ${Object.keys(PRESETS).join(', ')}.`,
    )
  }
  const rendered = [[100, 0], ...steps].map(([current, target]) => {
    const isGated = target! > 0
    const gates = isGated
      ? '\n    gates:\n      - { kind: targetsHealthy, minHealthy: 1 }\n      # - { kind: incidents, max: 0 } # needs a source of incidents in the project\n    onFail: rollback # or pause, and somebody decides'
      : ''
    return `  - weights: { current: ${current}, target: ${target} }\n    dwellSeconds: ${isGated ? 600 : 0}${gates}`
  })
  return `apiVersion: traffic/v1
name: ${name}
project: ${name} # whose incidents and deployments the gates watch
environment: PRODUCTION
aws:
  region: eu-central-1
${routes.length === 0 ? oneRoute(name, ids) : severalRoutes(name, ids, routes)}stickiness:
  enabled: false
steps:
${rendered.join('\n')}
dns:
${routes.length === 0 ? `  hostname: ${name}.example.com` : '  # the record of each host moves once, however many routes it has'}
  quietMinutes: 60
cleanup:
  currentIngress: keep-service
`
}

const oneRoute = (name: string, ids: NetworkIds): string => `current:
  cluster: blue
  kubeContext: blue # context of your kubeconfig; only needed to apply
  namespace: ${name}
  service: { name: web, port: 80 } # port in the form that the Ingress uses today: number or name
  ingress:
    name: web
    groupName: ${name}-current # must be the live group name; remove the line if the Ingress has none
    host: ${name}.example.com
    annotations:
      alb.ingress.kubernetes.io/scheme: internet-facing
target:
  cluster: green
  kubeContext: green
  namespace: ${name}
  service: { name: web, port: 80 }
  ingress:
    name: web
    groupName: ${name}-target
    host: ${name}.example.com
    annotations:
      alb.ingress.kubernetes.io/scheme: internet-facing
# Several Services, Ingresses or hosts that move together: npx weir traffic init ${name} --routes web,cart
actionName: web-switch
targetGroup:
  name: ${name.slice(0, 25)}-target
  protocol: HTTP
  port: 8080 # where the target's containers listen
  vpcId: ${ids.vpcId} # of both clusters
  targetType: ip
  ipAddressType: ipv4
  # healthCheck: { path: /healthz } # left out: as the target group of the current Service has it
binding:
  name: web-switch
  sourceSecurityGroup: ${ids.sourceSecurityGroup} # of the current load balancer
  port: 8080
`

function severalRoutes(name: string, ids: NetworkIds, routes: readonly string[]): string {
  const wrong = routes.find((route) => !ROUTE_NAME.test(route) || !SERVICE_NAME.test(route))
  if (wrong !== undefined)
    throw new TrafficError(
      'invalid',
      `${describeValue(wrong)} is no name of a route: use at most 32 of a-z, 0-9 and -, starting with a letter, with commas between them.`,
    )
  const twice = routes.find((route, index) => routes.indexOf(route) !== index)
  if (twice !== undefined) throw new TrafficError('invalid', `Route ${twice} stands twice: name each route once.`)
  const groups = groupNames(name, routes)
  const side = (route: string, index: number, sideName: 'current' | 'target'): string => `    ${sideName}:
      service: { name: ${route}, port: 80 }
      ingress:
        name: ${name} # routes may stand on one Ingress, or each on its own
        groupName: ${name}-${sideName}
        host: ${name}.example.com
        path: ${index === 0 ? '/' : `/${route}`}
        annotations:
          alb.ingress.kubernetes.io/scheme: internet-facing
`
  return `current:
  cluster: blue
  kubeContext: blue # context of your kubeconfig; only needed to apply
  namespace: ${name}
target:
  cluster: green
  kubeContext: green
  namespace: ${name}
routes: # they move together, step by step, and together they go back
${routes
  .map(
    (route, index) => `  - name: ${route}
${side(route, index, 'current')}${side(route, index, 'target')}    actionName: ${route}-switch
    targetGroup:
      name: ${groups[index]}
      port: 8080 # where the target's containers listen
      vpcId: ${ids.vpcId} # of both clusters
    binding:
      name: ${route}-switch
      sourceSecurityGroup: ${ids.sourceSecurityGroup} # of the current load balancer
      port: 8080
`,
  )
  .join('')}`
}

/** Names of at most 32 characters, all different: numbered if the names are too long to be told apart. */
function groupNames(name: string, routes: readonly string[]): readonly string[] {
  const named = routes.map((route) => `${`${name}-${route}`.slice(0, 25)}-target`)
  return new Set(named).size === routes.length
    ? named
    : routes.map((_, index) => `${name.slice(0, 22)}-${index + 1}-target`)
}
