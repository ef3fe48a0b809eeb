import type { RoutePlan } from './plan.ts'

interface HealthCheck {
  readonly protocol: 'HTTP' | 'HTTPS'
  readonly port: string
  readonly path: string
  readonly intervalSeconds: number
  readonly timeoutSeconds: number
  readonly healthyThreshold: number
  readonly unhealthyThreshold: number
  readonly successCodes: string
}

/** Settings of the current Service's target group, because both groups are to be judged, filled and drained alike. */
export interface Mirrored {
  readonly arn: string
  readonly protocol?: string | undefined
  readonly protocolVersion?: string | undefined
  readonly ipAddressType?: string | undefined
  readonly healthCheck: { readonly [Field in keyof HealthCheck]?: HealthCheck[Field] | undefined }
  readonly attributes: Readonly<Record<string, string>>
}

/** Attributes that decide how targets come and go. */
const MIRRORED_ATTRIBUTES = [
  'deregistration_delay.timeout_seconds',
  'slow_start.duration_seconds',
  'load_balancing.algorithm.type',
]

/** The controller's defaults, for settings that neither the plan nor a live group has. */
const defaultsOf = ({ targetGroup }: RoutePlan): HealthCheck => {
  const isGrpc = targetGroup.protocolVersion === 'GRPC'
  return {
    protocol: targetGroup.protocol,
    port: 'traffic-port',
    path: isGrpc ? '/AWS.ALB/healthcheck' : '/',
    intervalSeconds: 15,
    timeoutSeconds: 5,
    healthyThreshold: 2,
    unhealthyThreshold: 2,
    successCodes: isGrpc ? '12' : '200',
  }
}

const present = (fields: object): object =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))

/** Codes and paths of gRPC mean nothing to HTTP, and the other way round. */
function mirroredCheck({ targetGroup }: RoutePlan, mirrored: Mirrored | undefined): Mirrored['healthCheck'] {
  if (mirrored === undefined) return {}
  if ((mirrored.protocolVersion === 'GRPC') === (targetGroup.protocolVersion === 'GRPC')) return mirrored.healthCheck
  const { path: _path, successCodes: _codes, ...rest } = mirrored.healthCheck
  return rest
}

/** Takes each setting from the plan, else from the live group, else from the controller's defaults. */
export const healthCheckOf = (plan: RoutePlan, mirrored?: Mirrored): HealthCheck => ({
  ...defaultsOf(plan),
  ...present(mirroredCheck(plan, mirrored)),
  ...present({ ...plan.targetGroup.healthCheck, port: plan.targetGroup.healthCheck.port?.toString() }),
})

export const attributesToMirror = ({ attributes }: Mirrored): Readonly<Record<string, string>> =>
  Object.fromEntries(MIRRORED_ATTRIBUTES.flatMap((key) => (attributes[key] ? [[key, attributes[key]]] : [])))
