import { ANNOTATION_PREFIX, actionKey, type ForwardAction } from './action.ts'
import { type Backend, backendsOf, type Ingress, type PlacedBackend, type TargetGroupBinding } from './manifests.ts'
import { bindingNamespace, bindingService, type Plan, type Side } from './plan.ts'

export const MULTI_CLUSTER = `${ANNOTATION_PREFIX}multi-cluster-target-group`
export const GROUP_NAME = `${ANNOTATION_PREFIX}group.name`

/** The Ingress of one side as the plan describes it, without any switch. */
export function ingressOfSide(side: Side): Ingress {
  const { ingress } = side
  return {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'Ingress',
    metadata: {
      name: ingress.name,
      namespace: side.namespace,
      annotations: {
        [GROUP_NAME]: ingress.groupName,
        // The controller's own default is `instance`, which a ClusterIP Service cannot serve.
        [`${ANNOTATION_PREFIX}target-type`]: 'ip',
        ...ingress.annotations,
        [MULTI_CLUSTER]: 'true',
      },
    },
    spec: {
      ingressClassName: ingress.className,
      rules: [
        {
          ...(ingress.host === undefined ? {} : { host: ingress.host }),
          http: { paths: [{ path: ingress.path, pathType: ingress.pathType, backend: serviceBackend(side) }] },
        },
      ],
    },
  }
}

const serviceBackend = ({ service }: Side): Backend => ({
  service: {
    name: service.name,
    port: typeof service.port === 'number' ? { number: service.port } : { name: service.port },
  },
})

export const actionBackend = (plan: Plan): Backend => ({
  service: { name: plan.actionName, port: { name: 'use-annotation' } },
})

/** What has to change in an Ingress: backends and annotation always go together, never one without the other. */
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

const sameBackend = (left: Backend, right: Backend): boolean =>
  left.service !== undefined &&
  left.service.name === right.service?.name &&
  left.service.port?.name === right.service?.port?.name &&
  left.service.port?.number === right.service?.port?.number

const annotationOf = (ingress: Ingress, key: string): string | undefined =>
  ingress.metadata.annotations?.[key] as string | undefined

function editOf(
  ingress: Ingress,
  from: Backend,
  to: Backend,
  annotations: Readonly<Record<string, string | undefined>>,
): IngressEdit {
  return {
    backends: backendsOf(ingress)
      .filter(({ backend }) => sameBackend(backend, from))
      .map(({ path, backend }) => ({ path, before: backend, after: to })),
    annotations: Object.entries(annotations)
      .map(([key, after]) => ({ key, before: annotationOf(ingress, key), after }))
      .filter(({ before, after }) => before !== after),
  }
}

/** Every path that reaches the current service goes through the weighted action from now on. */
export const attachEdit = (ingress: Ingress, plan: Plan, action: ForwardAction): IngressEdit =>
  editOf(ingress, serviceBackend(plan.current), actionBackend(plan), {
    [MULTI_CLUSTER]: 'true',
    [actionKey(plan.actionName)]: JSON.stringify(action),
  })

/** The way back; the multi-cluster setting stays, because flipping it may leak targets. */
export const detachEdit = (ingress: Ingress, plan: Plan): IngressEdit =>
  editOf(ingress, actionBackend(plan), serviceBackend(plan.current), { [actionKey(plan.actionName)]: undefined })

export function applyEdit(ingress: Ingress, edit: IngressEdit): Ingress {
  const copy = structuredClone(ingress)
  for (const { path, after } of edit.backends) {
    const parent = path.slice(0, -1).reduce((node: any, key) => node[key], copy)
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

/** Compare-and-set: every value is tested before it is replaced, so that a change by another hand is refused, not lost. */
export function patchOf(ingress: Ingress, edit: IngressEdit): readonly JsonPatchOperation[] {
  const operations: JsonPatchOperation[] = []
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

export function bindingOfPlan(plan: Plan, targetGroupARN: string): TargetGroupBinding {
  return {
    apiVersion: 'elbv2.k8s.aws/v1beta1',
    kind: 'TargetGroupBinding',
    metadata: { name: plan.binding.name, namespace: bindingNamespace(plan) },
    spec: {
      targetGroupARN,
      targetType: plan.targetGroup.targetType,
      ipAddressType: plan.targetGroup.ipAddressType,
      multiClusterTargetGroup: plan.binding.multiCluster,
      serviceRef: bindingService(plan),
      networking: {
        ingress: [
          {
            from: [{ securityGroup: { groupID: plan.binding.sourceSecurityGroup } }],
            // Explicit: the controller turns an empty list into no rule at all.
            ports: [{ protocol: 'TCP', port: plan.binding.port }],
          },
        ],
      },
    },
  }
}
