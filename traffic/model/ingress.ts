import { ANNOTATION_PREFIX, actionKey, type ForwardAction, groupReference } from './action.ts'
import {
  type Backend,
  backendsOf,
  findPort,
  type Ingress,
  type PlacedBackend,
  type Service,
  type TargetGroupBinding,
} from './manifests.ts'
import { bindingNamespace, bindingService, type RoutePlan, type Side, type SideName } from './plan.ts'

export const MULTI_CLUSTER = `${ANNOTATION_PREFIX}multi-cluster-target-group`
export const GROUP_NAME = `${ANNOTATION_PREFIX}group.name`

/** The Ingress of one side as the plan describes it, without any switch. */
export const ingressOfSide = (side: Side): Ingress => ingressOfSides([side])

/** The sides of all routes that use the same Ingress as this one. */
export const sidesOnSame = (routes: readonly RoutePlan[], plan: RoutePlan, side: SideName): readonly Side[] =>
  routes.map((each) => each[side]).filter((each) => isSameIngress(each, plan[side]))

export const isSameIngress = (one: Side, other: Side): boolean =>
  one.namespace === other.namespace && one.ingress.name === other.ingress.name

/** One Ingress with the paths of several routes, which all describe the Ingress itself in the same way. */
export function ingressOfSides(sides: readonly Side[]): Ingress {
  const side = sides[0]!
  const { ingress } = side
  const byHost = Map.groupBy(sides, ({ ingress: { host } }) => host)
  return {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'Ingress',
    metadata: {
      name: ingress.name,
      namespace: side.namespace,
      annotations: {
        ...(ingress.groupName === undefined ? {} : { [GROUP_NAME]: ingress.groupName }),
        // The controller's own default is `instance`, which a ClusterIP Service cannot serve.
        [`${ANNOTATION_PREFIX}target-type`]: 'ip',
        ...ingress.annotations,
        [MULTI_CLUSTER]: 'true',
      },
    },
    spec: {
      ingressClassName: ingress.className,
      rules: [...byHost].map(([host, some]) => ({
        ...(host === undefined ? {} : { host }),
        http: {
          paths: some.map((each) => ({
            path: each.ingress.path,
            pathType: each.ingress.pathType,
            backend: serviceBackend(each),
          })),
        },
      })),
    },
  }
}

const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration'

/** Leaves out what the API server and kubectl add, so that the Ingress can be applied again, and more than once. */
export function savedIngress({ apiVersion, kind, metadata, spec }: Ingress): Ingress {
  const { [LAST_APPLIED]: _applied, ...annotations } = metadata.annotations ?? {}
  const { labels } = metadata as { labels?: unknown }
  const { name, namespace } = metadata
  return {
    apiVersion,
    kind,
    metadata: { name, namespace, ...(labels === undefined ? {} : { labels }), annotations },
    spec,
  }
}

const serviceBackend = ({ service }: Side): Backend => ({
  service: {
    name: service.name,
    port: typeof service.port === 'number' ? { number: service.port } : { name: service.port },
  },
})

const actionBackend = (plan: RoutePlan): Backend => ({
  service: { name: plan.actionName, port: { name: 'use-annotation' } },
})

/** Changes to an Ingress. Backends and annotations always change together, never one without the other. */
export interface IngressEdit {
  readonly backends: readonly {
    readonly path: PlacedBackend['path']
    readonly before: Backend
    readonly after: Backend
  }[]
  readonly annotations: readonly {
    readonly key: string
    readonly before: string | undefined
    readonly after: string | undefined
  }[]
}

export const sameBackend = (left: Backend, right: Backend): boolean =>
  left.service !== undefined &&
  left.service.name === right.service?.name &&
  left.service.port?.name === right.service?.port?.name &&
  left.service.port?.number === right.service?.port?.number

const annotationOf = (ingress: Ingress, key: string): string | undefined =>
  ingress.metadata.annotations?.[key] as string | undefined

export const actionBackends = (ingress: Ingress, plan: RoutePlan): readonly PlacedBackend[] =>
  backendsOf(ingress).filter(({ backend }) => sameBackend(backend, actionBackend(plan)))

/** Backends that lead to the current Service without the action, in whichever form they name its port. */
export function directBackends(ingress: Ingress, plan: RoutePlan, service?: Service): readonly PlacedBackend[] {
  const { name, port } = plan.current.service
  const wanted = service === undefined ? undefined : findPort(service, port)?.port
  return backendsOf(ingress).filter(({ backend }) => {
    if (sameBackend(backend, serviceBackend(plan.current))) return true
    const form = backend.service?.port?.number ?? backend.service?.port?.name
    if (backend.service?.name !== name || form === undefined || service === undefined) return false
    return wanted !== undefined && findPort(service, form)?.port === wanted
  })
}

/** Annotations at a Service's name that guard its paths: source addresses, headers, rewrites. They are copied to the action. */
const GUARDS = ['conditions', 'transforms'] as const
const guardKey = (guard: string, name: string): string => `${ANNOTATION_PREFIX}${guard}.${name}`

const changedOnly = (ingress: Ingress, annotations: Readonly<Record<string, string | undefined>>) =>
  Object.entries(annotations)
    .map(([key, after]) => ({ key, before: annotationOf(ingress, key), after }))
    .filter(({ before, after }) => before !== after)

/** Writes the action and its guards, but changes no path. */
export const actionEdit = (ingress: Ingress, plan: RoutePlan, action: ForwardAction): IngressEdit => ({
  backends: [],
  annotations: changedOnly(ingress, {
    ...Object.fromEntries(
      GUARDS.map((guard) => [
        guardKey(guard, plan.actionName),
        annotationOf(ingress, guardKey(guard, plan.current.service.name)),
      ]),
    ),
    [actionKey(plan.actionName)]: JSON.stringify(action),
  }),
})

/** Makes every path that leads to the current Service go through the weighted action. */
export const attachEdit = (
  ingress: Ingress,
  plan: RoutePlan,
  action: ForwardAction,
  service?: Service,
): IngressEdit => ({
  backends: directBackends(ingress, plan, service).map(({ path, backend }) => ({
    path,
    before: backend,
    after: actionBackend(plan),
  })),
  annotations: [...changedOnly(ingress, { [MULTI_CLUSTER]: 'true' }), ...actionEdit(ingress, plan, action).annotations],
})

/** Host, path and type of a backend, by which it is found in another version of its Ingress. */
export function placeKey(ingress: Ingress, { path }: Pick<PlacedBackend, 'path'>): string {
  if (path[1] !== 'rules') return 'default'
  const rule = ingress.spec.rules?.[path[2] as number]
  const place = rule?.http?.paths[path[5] as number]
  return JSON.stringify([rule?.host, place?.path, place?.pathType])
}

/**
 * Takes the switch out: each path gets back the backend that it had, as far as that is known. The multi-cluster setting stays
 * while the Ingress may get targets of both clusters. When the switch is given up, it is put back as it was.
 */
export function detachEdit(ingress: Ingress, plan: RoutePlan, original?: Ingress, isGivenUp = false): IngressEdit {
  const before = new Map(
    original === undefined ? [] : backendsOf(original).map((placed) => [placeKey(original, placed), placed.backend]),
  )
  const backendOf = (placed: PlacedBackend): Backend => {
    const known = before.get(placeKey(ingress, placed))
    return known?.service?.name === plan.current.service.name ? known : serviceBackend(plan.current)
  }
  return {
    backends: actionBackends(ingress, plan).map((placed) => ({
      path: placed.path,
      before: placed.backend,
      after: backendOf(placed),
    })),
    annotations: changedOnly(ingress, {
      ...Object.fromEntries(GUARDS.map((guard) => [guardKey(guard, plan.actionName), undefined])),
      [actionKey(plan.actionName)]: undefined,
      ...(isGivenUp && original !== undefined ? { [MULTI_CLUSTER]: annotationOf(original, MULTI_CLUSTER) } : {}),
    }),
  }
}

type Fields = Record<string | number, unknown>
export function applyEdit(ingress: Ingress, edit: IngressEdit): Ingress {
  const copy = structuredClone(ingress)
  for (const { path, after } of edit.backends) {
    const parent = path.slice(0, -1).reduce<unknown>((node, key) => (node as Fields)[key], copy) as Fields
    parent[path.at(-1)!] = structuredClone(after)
  }
  const annotations = { ...copy.metadata.annotations }
  for (const { key, after } of edit.annotations) {
    if (after === undefined) delete annotations[key]
    else annotations[key] = after
  }
  copy.metadata.annotations = annotations
  return copy
}

const pointer = (path: readonly (string | number)[]): string =>
  path.map((part) => `/${String(part).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('')

export interface JsonPatchOperation {
  readonly op: 'test' | 'add' | 'replace' | 'remove'
  readonly path: string
  readonly value?: unknown
}

/** Compare-and-set: every value is tested before it is replaced, so a change by somebody else is refused, not lost. */
export function patchOf(ingress: Ingress, edit: IngressEdit): readonly JsonPatchOperation[] {
  const operations: JsonPatchOperation[] = []
  // Nothing is written over an object that is not the one that was looked at.
  const { resourceVersion } = ingress.metadata as { resourceVersion?: string }
  if (resourceVersion !== undefined)
    operations.push({ op: 'test', path: '/metadata/resourceVersion', value: resourceVersion })
  for (const { path, before, after } of edit.backends) {
    operations.push(
      { op: 'test', path: pointer(path), value: before },
      { op: 'replace', path: pointer(path), value: after },
    )
  }
  if (ingress.metadata.annotations === undefined && edit.annotations.length > 0) {
    operations.push({ op: 'add', path: '/metadata/annotations', value: {} })
  }
  for (const { key, before, after } of edit.annotations) {
    const path = pointer(['metadata', 'annotations', key])
    if (before !== undefined) operations.push({ op: 'test', path, value: before })
    operations.push(
      after === undefined
        ? { op: 'remove', path }
        : { op: before === undefined ? 'add' : 'replace', path, value: after },
    )
  }
  return operations
}

export function bindingOfPlan(plan: RoutePlan, targetGroup: string): TargetGroupBinding {
  return {
    apiVersion: 'elbv2.k8s.aws/v1beta1',
    kind: 'TargetGroupBinding',
    metadata: { name: plan.binding.name, namespace: bindingNamespace(plan) },
    spec: {
      ...groupReference(targetGroup),
      targetType: plan.targetGroup.targetType,
      ipAddressType: plan.targetGroup.ipAddressType,
      multiClusterTargetGroup: plan.binding.multiCluster,
      serviceRef: bindingService(plan),
      networking: {
        ingress: [
          {
            from: [{ securityGroup: { groupID: plan.binding.sourceSecurityGroup } }],
            // Always listed, because the controller turns an empty list into no rule at all.
            ports: [{ protocol: 'TCP', port: plan.binding.port }],
          },
        ],
      },
    },
  }
}
