import { z } from 'zod'
import type { Code } from './finding.ts'
import { gateSchema } from './gate-schema.ts'
import { gitOpsSchema } from './gitops.ts'
import * as names from './names.ts'

/** The message of a rule starts with its code, so that code and rule are in one place. */
const coded = (code: Code, expected: string) => (issue: { input?: unknown }) =>
  `${code} got ${names.describeValue(issue.input)}; ${expected}`

/** Text that is only passed on. */
const words = z.string().min(1).max(255)

const matching = (pattern: RegExp, code: Code, expected: string) => {
  const error = coded(code, expected)
  return z.string({ error }).regex(pattern, { error })
}

const whole = (code: Code, expected: string, minimum: number, maximum: number) => {
  const error = coded(code, expected)
  return z.number({ error }).int({ error }).min(minimum, { error }).max(maximum, { error })
}

const atMost = <Value extends z.ZodType>(count: number, value: Value) =>
  z
    .record(z.string().max(255), value)
    .refine((entries) => Object.keys(entries).length <= count, `expected at most ${count} entries`)

const label = (what: string) => matching(names.DNS_LABEL, 'TS-N01', `${what} is a DNS label of at most 63 characters`)
const serviceName = matching(names.SERVICE_NAME, 'TS-N01', 'a Service name is a DNS label that starts with a letter')
const host = matching(names.HOST_NAME, 'TS-D01', 'expected a full host name such as shop.example.com')
const vpcId = matching(names.VPC_ID, 'TS-V01', 'expected vpc- and 8 or 17 hexadecimal digits')
export const weightText = 'a weight is a whole number 0..999, without quotes'
const weight = z
  .number({ error: coded('TS-W01', weightText) })
  .int({ error: coded('TS-W01', weightText) })
  .min(0, { error: coded('TS-W02', weightText) })
  .max(999, { error: coded('TS-W02', weightText) })
const portNumber = (code: Code) => whole(code, 'a port is a whole number 1..65535', 1, 65535)
/** A number or a port name, kept in the form in which it was written, because the controller names target groups after it. */
const portText = 'expected a number 1..65535 or a port name'
export const port = z.union([whole('TS-P01', portText, 1, 65535), matching(names.PORT_NAME, 'TS-P01', portText)], {
  error: coded('TS-P01', portText),
})

const serviceSchema = z.strictObject({ name: serviceName, port })

const ingressSchema = z.strictObject({
  name: label('an Ingress name'),
  /** Left out if the Ingress is in no explicit group and has its own load balancer. */
  groupName: matching(names.GROUP_NAME, 'TS-G01', 'expected at most 63 of a-z, 0-9, - and .').optional(),
  className: z.string().max(255).default('alb'),
  host: host.optional(),
  path: z.string().max(1024).startsWith('/').default('/'),
  pathType: z.enum(['Prefix', 'Exact', 'ImplementationSpecific']).default('Prefix'),
  /** Further annotations of the Ingress, such as scheme, listen-ports and certificate-arn. */
  annotations: atMost(100, z.string({ error: coded('TS-M01', 'an annotation value is text') }).max(10_000)).default({}),
})

const clusterFields = {
  cluster: words,
  /** Name of a context of the kubeconfig; needed only to apply. */
  kubeContext: words.optional(),
  namespace: label('a namespace'),
  vpcId: vpcId.optional(),
}
export const sideSchema = z.strictObject({ ...clusterFields, service: serviceSchema, ingress: ingressSchema })

const health = (expected: string, minimum: number, maximum: number) => whole('TS-T02', expected, minimum, maximum)
const choice = <const V extends readonly [string, ...string[]]>(values: V) =>
  z.enum(values, { error: coded('TS-T02', `expected ${values.join(' or ')}`) })

/** Fields that are left out come from the target group of the current Service, else from the controller's defaults. */
const healthCheckSchema = z.strictObject({
  protocol: choice(['HTTP', 'HTTPS']).optional(),
  port: z.union([portNumber('TS-T02'), z.literal('traffic-port')]).optional(),
  path: z
    .string()
    .min(1)
    .max(1024)
    .startsWith('/', { error: coded('TS-T02', 'a health-check path starts with /') })
    .optional(),
  intervalSeconds: health('expected 5..300', 5, 300).optional(),
  timeoutSeconds: health('expected 2..120', 2, 120).optional(),
  healthyThreshold: health('expected 2..10', 2, 10).optional(),
  unhealthyThreshold: health('expected 2..10', 2, 10).optional(),
  successCodes: z
    .string()
    .max(255)
    .regex(/^\d{1,3}(?:[,-]\d{1,3})*$/, {
      error: coded('TS-T02', 'expected codes such as 200, 200-399 or, for gRPC, 12'),
    })
    .optional(),
})

const targetGroupSchema = z.strictObject({
  name: matching(names.TARGET_GROUP_NAME, 'TS-T01', 'expected at most 32 letters, digits and hyphens'),
  protocol: choice(['HTTP', 'HTTPS']).default('HTTP'),
  protocolVersion: choice(['HTTP1', 'HTTP2', 'GRPC']).default('HTTP1'),
  port: portNumber('TS-T02'),
  vpcId,
  targetType: choice(['ip']).default('ip'),
  ipAddressType: choice(['ipv4', 'ipv6']).default('ipv4'),
  healthCheck: healthCheckSchema.prefault({}),
  /** Healthy targets needed before the target may get traffic. */
  minHealthy: z.int().min(1).max(1000).default(1),
  tags: atMost(50, z.string().max(256)).default({}),
  /** Known once the target group exists; `prepare` finds it by name. */
  arn: z.string().max(500).optional(),
})

const bindingSchema = z.strictObject({
  name: matching(names.BINDING_NAME, 'TS-B01', 'expected at most 63 of a-z, 0-9, - and .'),
  /** Default: namespace and service of the target. */
  namespace: label('a namespace').optional(),
  serviceRef: serviceSchema.optional(),
  /** The security group of the current cluster's load balancer. */
  sourceSecurityGroup: matching(names.SECURITY_GROUP_ID, 'TS-V01', 'expected sg- and 8 or 17 hexadecimal digits'),
  /** The port the target's containers listen on. */
  port: portNumber('TS-B02'),
  multiCluster: z.boolean().default(true),
})

const stepSchema = z.strictObject({
  weights: z.strictObject({ current: weight, target: weight }),
  dwellSeconds: z.int().min(0).max(604800).default(0),
  gates: z.array(gateSchema).max(20).default([]),
  /** If left out, a gate that fails pauses, and a share of the traffic without any healthy target is rolled back at once. */
  onFail: z.enum(['pause', 'rollback']).optional(),
})

const durationText = 'expected a whole number of seconds, 1..604800'
const stickinessSchema = z.strictObject({
  enabled: z.boolean({ error: coded('TS-S01', 'expected true or false without quotes') }).default(false),
  durationSeconds: whole('TS-S01', durationText, 1, 604800).optional(),
  /** At 0/100 a sticky rule leaves clients with a cookie on the old cluster. */
  atFinalStep: z.enum(['disable', 'keep']).default('disable'),
})

/** Fields that a switch has once, however many routes it moves. */
const headFields = {
  apiVersion: z.literal('traffic/v1'),
  name: label('a plan name'),
  /** The project whose incidents and deployments are watched, and to which the finished switch is credited. */
  project: words,
  environment: z.enum(['PRODUCTION', 'STAGING', 'TESTING']).default('PRODUCTION'),
  /**
   * `observe` never writes to a cluster or to AWS: it waits for your own tool to apply what `render` printed.
   * `gitops` changes the clusters by commits in the repository that such a tool follows.
   */
  mode: z.enum(['apply', 'observe', 'gitops']).default('apply'),
  gitops: gitOpsSchema.optional(),
  /** `auto`: the server moves on by itself when dwell time and gates of a step are passed. */
  advance: z.enum(['manual', 'auto']).default('manual'),
  aws: z.strictObject({
    region: matching(names.REGION, 'TS-T02', 'expected a region such as eu-central-1'),
    accountId: z
      .string()
      .regex(/^\d{12}$/)
      .optional(),
  }),
}
const dnsFields = {
  hostname: host,
  quietMinutes: z
    .int()
    .min(2, { error: coded('TS-D01', 'resolvers need at least 2 minutes') })
    .max(43_200)
    .default(60),
  /** Ask these name servers (address or address:port) instead of the system's. */
  servers: z
    .array(
      z
        .string()
        .max(100)
        .regex(/^(?:\d{1,3}(?:\.\d{1,3}){3}(?::\d+)?|\[[0-9a-f:]+\](?::\d+)?|[0-9a-f:]+)$/),
    )
    .max(10)
    .default([]),
  /** If left out, somebody moves the record, and Weir only checks it. */
  route53: z
    .strictObject({
      hostedZoneId: matching(
        names.HOSTED_ZONE_ID,
        'TS-D02',
        'expected the id of a hosted zone: at most 32 capitals and digits',
      ),
      /** Percentages of the answers that lead to the target, one after the other; below 100 by weighted records. */
      shares: z
        .array(whole('TS-D05', 'a share is a whole number 1..100', 1, 100))
        .max(20)
        .optional(),
      /** The prefix and suffix that external-dns uses in the names of its TXT records. */
      txtPrefix: z.string().max(60).default(''),
      txtSuffix: z.string().max(60).default(''),
    })
    .optional(),
}
const moveFields = {
  stickiness: stickinessSchema.prefault({}),
  steps: z.array(stepSchema).min(2).max(100),
}
const tailFields = {
  cleanup: z
    .strictObject({
      currentIngress: z.enum(['keep-service', 'delete-ingress']).default('keep-service'),
      /** CloudWatch must show no minute with more requests to the old load balancer during `dns.quietMinutes`. */
      maxRequestsPerMinute: z.int().min(0).optional(),
    })
    .prefault({}),
  /** The commit that the target runs, if the switch releases one. */
  commit: z.strictObject({ sha: z.string().regex(/^[0-9a-f]{7,64}$/), repoUrl: z.url().max(1000) }).optional(),
  verifyTimeoutSeconds: z.int().min(1).max(3600).default(180),
  /** The page asks for the name of the switch before it rolls back; by default one click is enough. */
  confirmRollback: z.boolean().optional(),
}
/** Fields that each route has for itself. */
const routeFields = {
  actionName: matching(names.ACTION_NAME, 'TS-A01', 'expected at most 55 of a-z, 0-9 and -, starting with a letter'),
  targetGroup: targetGroupSchema,
  binding: bindingSchema,
}

/** A plan of one route. */
export const planSchema = z.strictObject({
  ...headFields,
  current: sideSchema,
  target: sideSchema,
  ...routeFields,
  ...moveFields,
  dns: z.strictObject(dnsFields),
  ...tailFields,
})

const routeSideSchema = z.strictObject({
  /** Default: the namespace of the plan's side. */
  namespace: label('a namespace').optional(),
  service: serviceSchema,
  ingress: ingressSchema,
})
const routeSchema = z.strictObject({
  name: matching(names.ROUTE_NAME, 'TS-N01', 'a route name is a DNS label of at most 32 characters'),
  /** The name whose record moves; default: the host of the current Ingress, else `dns.hostname`. */
  hostname: host.optional(),
  current: routeSideSchema,
  target: routeSideSchema,
  ...routeFields,
})

/** A plan of several routes between the same two clusters, which move together. */
export const routesPlanSchema = z.strictObject({
  ...headFields,
  current: z.strictObject(clusterFields),
  target: z.strictObject(clusterFields),
  routes: z.array(routeSchema).min(1).max(20),
  ...moveFields,
  dns: z.strictObject({ ...dnsFields, hostname: host.optional() }).prefault({}),
  ...tailFields,
})
