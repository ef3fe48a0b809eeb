import { byName } from '../../by-name.ts'
import { didYouMean } from '../../nearest.ts'
import { TrafficError } from './finding.ts'

/** Ways to split the move, named as other tools name them; each starts at 100/0. */
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

export interface NetworkIds {
  readonly vpcId: string
  readonly sourceSecurityGroup: string
}
const SAMPLE: NetworkIds = { vpcId: 'vpc-0123456789abcdef0', sourceSecurityGroup: 'sg-0123456789abcdef0' }
/** No ids at all, so that a plan in which nobody wrote them is refused. */
export const PLACEHOLDERS: NetworkIds = { vpcId: 'VPC_ID', sourceSecurityGroup: 'SECURITY_GROUP_ID' }

/** A plan to start from: every field that needs a decision, with comments that say which. */
export function initialPlan(name: string, preset: string, ids: NetworkIds = SAMPLE): string {
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
      ? '\n    gates:\n      - { kind: targetsHealthy, minHealthy: 1 }\n      # - { kind: incidents, max: 0 } # needs a source of incidents in the project'
      : ''
    return `  - weights: { current: ${current}, target: ${target} }\n    dwellSeconds: ${isGated ? 600 : 0}${gates}`
  })
  return `apiVersion: traffic/v1
name: ${name}
project: ${name} # whose incidents and deployments the gates watch
environment: PRODUCTION
aws:
  region: eu-central-1
current:
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
stickiness:
  enabled: false
steps:
${rendered.join('\n')}
dns:
  hostname: ${name}.example.com
  quietMinutes: 60
cleanup:
  currentIngress: keep-service
`
}
