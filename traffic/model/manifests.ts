import { z } from 'zod'
import { ANNOTATION_PREFIX } from './action.ts'
import { textOf } from './names.ts'

/**
 * The Kubernetes objects that Weir reads and writes, as strict as `fieldValidation=Strict`: an unknown field is an error here,
 * where the API server would only warn.
 */
const port = z.union([z.int(), z.string()])
const metadata = z.looseObject({
  name: z.string(),
  namespace: z.string().optional(),
  annotations: z.record(z.string(), z.unknown()).optional(),
})
const header = <const Version extends string, const Kind extends string>(version: Version, kind: Kind) => ({
  apiVersion: z.literal(version),
  kind: z.literal(kind),
  metadata,
  status: z.unknown().optional(),
})

const backend = z.strictObject({
  service: z
    .strictObject({
      name: z.string(),
      port: z.strictObject({ name: z.string().optional(), number: z.int().optional() }).optional(),
    })
    .optional(),
  resource: z.strictObject({ apiGroup: z.string().optional(), kind: z.string(), name: z.string() }).optional(),
})

export const ingressSchema = z.strictObject({
  ...header('networking.k8s.io/v1', 'Ingress'),
  spec: z.strictObject({
    ingressClassName: z.string().optional(),
    defaultBackend: backend.optional(),
    tls: z
      .array(z.strictObject({ hosts: z.array(z.string()).optional(), secretName: z.string().optional() }))
      .optional(),
    rules: z
      .array(
        z.strictObject({
          host: z.string().optional(),
          http: z
            .strictObject({
              paths: z.array(
                z.strictObject({
                  path: z.string().optional(),
                  pathType: z.enum(['Prefix', 'Exact', 'ImplementationSpecific']),
                  backend,
                }),
              ),
            })
            .optional(),
        }),
      )
      .optional(),
  }),
})

export const bindingSchema = z.strictObject({
  ...header('elbv2.k8s.aws/v1beta1', 'TargetGroupBinding'),
  spec: z.strictObject({
    targetGroupARN: z.string().min(1).optional(),
    targetGroupName: z.string().min(1).optional(),
    targetType: z.enum(['instance', 'ip']).optional(),
    ipAddressType: z.enum(['ipv4', 'ipv6']).optional(),
    targetGroupProtocol: z.enum(['HTTP', 'HTTPS', 'TCP', 'TLS', 'UDP', 'TCP_UDP', 'QUIC', 'TCP_QUIC']).optional(),
    multiClusterTargetGroup: z.boolean().optional(),
    vpcID: z.string().optional(),
    iamRoleArnToAssume: z.string().optional(),
    assumeRoleExternalId: z.string().optional(),
    nodeSelector: z.looseObject({}).optional(),
    serviceRef: z.strictObject({ name: z.string(), port }),
    networking: z
      .strictObject({
        ingress: z
          .array(
            z.strictObject({
              from: z.array(
                z.strictObject({
                  securityGroup: z.strictObject({ groupID: z.string() }).optional(),
                  ipBlock: z.strictObject({ cidr: z.string() }).optional(),
                }),
              ),
              ports: z.array(z.strictObject({ protocol: z.enum(['TCP', 'UDP']).optional(), port: port.optional() })),
            }),
          )
          .optional(),
      })
      .optional(),
  }),
})

/** Only the fields that the linter compares; Weir never writes a Service. */
export const serviceSchema = z.looseObject({
  ...header('v1', 'Service'),
  spec: z.looseObject({
    type: z.string().optional(),
    ports: z
      .array(z.looseObject({ name: z.string().optional(), port: z.int(), targetPort: port.optional() }))
      .optional(),
  }),
})

export type Ingress = z.infer<typeof ingressSchema>
export type TargetGroupBinding = z.infer<typeof bindingSchema>
export type Service = z.infer<typeof serviceSchema>
export type Backend = z.infer<typeof backend>

/** The security groups from which the pods behind a Service may be reached, according to its bindings. */
export const sourceGroupsIn = (bindings: readonly TargetGroupBinding[], service: string): readonly string[] =>
  bindings
    .filter(({ spec }) => spec.serviceRef?.name === service)
    .flatMap(({ spec }) => spec.networking?.ingress ?? [])
    .flatMap(({ from = [] }) => from.flatMap(({ securityGroup }) => securityGroup?.groupID ?? []))

export interface PlacedBackend {
  readonly path: readonly (string | number)[]
  readonly backend: Backend
}

/** Every backend of an Ingress, with its place. */
export function backendsOf(ingress: Ingress): readonly PlacedBackend[] {
  const found: PlacedBackend[] = []
  if (ingress.spec.defaultBackend !== undefined)
    found.push({ path: ['spec', 'defaultBackend'], backend: ingress.spec.defaultBackend })
  for (const [rule, { http }] of (ingress.spec.rules ?? []).entries()) {
    for (const [path, item] of (http?.paths ?? []).entries()) {
      found.push({ path: ['spec', 'rules', rule, 'http', 'paths', path, 'backend'], backend: item.backend })
    }
  }
  return found
}

/** Finds stickiness inside a target group; ELBv2 then insists on stickiness between the groups too. */
export const hasTargetStickiness = (annotations: Readonly<Record<string, unknown>>): boolean =>
  textOf(annotations[`${ANNOTATION_PREFIX}target-group-attributes`] ?? '')
    .split(',')
    .some((pair) => pair.replaceAll(' ', '') === 'stickiness.enabled=true')

export const findPort = (
  service: Service,
  wanted: number | string,
): { port: number; targetPort: number | string } | undefined => {
  const found = (service.spec.ports ?? []).find((item) =>
    /^\d+$/.test(textOf(wanted)) ? item.port === Number(wanted) : item.name === wanted,
  )
  return found === undefined ? undefined : { port: found.port, targetPort: found.targetPort ?? found.port }
}

/** Services by namespace and name. */
export type Services = ReadonlyMap<string, Service>
interface Placed {
  readonly metadata: { readonly name: string; readonly namespace?: string | undefined }
}
export const placeOf = ({ metadata }: Placed): string =>
  `${textOf(metadata.namespace ?? 'default')}/${textOf(metadata.name)}`
/** The Service of that name in the namespace of the object. */
export const serviceBeside = (services: Services, { metadata }: Placed, name: unknown): Service | undefined =>
  services.get(placeOf({ metadata: { ...metadata, name: textOf(name) } }))

/** A document may be empty, which YAML reads as null. */
export const objectName = (
  object: { kind?: string; metadata?: { name?: string; namespace?: string | undefined } } | null,
): string =>
  `${textOf(object?.kind)} ${textOf(object?.metadata?.namespace ?? 'default')}/${textOf(object?.metadata?.name)}`
