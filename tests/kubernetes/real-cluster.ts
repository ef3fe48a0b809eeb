/** Wraps a real API server so that the fake controller and the scenes can use it as a cluster. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { FakeCluster } from '../fake-kubernetes/fake-kubernetes.ts'
import type { ApiServer } from './api-server.ts'

type Fields = Record<string, any>

const NAMESPACE = 'shop'
const POLL_MS = 50
const PATHS: Readonly<Record<string, string>> = {
  Service: `/api/v1/namespaces/${NAMESPACE}/services`,
  Ingress: `/apis/networking.k8s.io/v1/namespaces/${NAMESPACE}/ingresses`,
  TargetGroupBinding: `/apis/elbv2.k8s.aws/v1beta1/namespaces/${NAMESPACE}/targetgroupbindings`,
}
const MERGE = 'application/merge-patch+json'
const API_VERSIONS: Readonly<Record<string, string>> = {
  Service: 'v1',
  Ingress: 'networking.k8s.io/v1',
  TargetGroupBinding: 'elbv2.k8s.aws/v1beta1',
}

export interface RealCluster extends FakeCluster {
  /** Resolves when all requests have been answered and the results are visible. */
  settled(): Promise<void>
}

/** The kinds that the controller adds, limited to the fields that its users may write. */
const BINDINGS = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'targetgroupbindings.elbv2.k8s.aws' },
  spec: {
    group: 'elbv2.k8s.aws',
    scope: 'Namespaced',
    names: { kind: 'TargetGroupBinding', plural: 'targetgroupbindings', singular: 'targetgroupbinding' },
    versions: [
      {
        name: 'v1beta1',
        served: true,
        storage: true,
        subresources: { status: {} },
        schema: { openAPIV3Schema: bindingSchema() },
      },
    ],
  },
}

function bindingSchema() {
  const text = { type: 'string' }
  const portOrName = { 'x-kubernetes-int-or-string': true, anyOf: [{ type: 'integer' }, { type: 'string' }] }
  const object = (properties: Fields, required: readonly string[] = []) => ({
    type: 'object',
    properties,
    ...(required.length > 0 ? { required } : {}),
  })
  const peer = object({
    ipBlock: object({ cidr: text }, ['cidr']),
    securityGroup: object({ groupID: text }, ['groupID']),
  })
  const rule = object(
    {
      from: { type: 'array', items: peer },
      ports: { type: 'array', items: object({ port: portOrName, protocol: { type: 'string', enum: ['TCP', 'UDP'] } }) },
    },
    ['from', 'ports'],
  )
  const spec = object(
    {
      targetGroupARN: text,
      targetGroupName: text,
      ipAddressType: text,
      vpcID: text,
      targetGroupProtocol: text,
      targetType: { type: 'string', enum: ['instance', 'ip'] },
      multiClusterTargetGroup: { type: 'boolean' },
      serviceRef: object({ name: text, port: portOrName }, ['name', 'port']),
      networking: object({ ingress: { type: 'array', items: rule } }),
    },
    ['serviceRef'],
  )
  const status = object({ observedGeneration: { type: 'integer', format: 'int64' } })
  return object({ apiVersion: text, kind: text, metadata: { type: 'object' }, spec, status })
}

/** Creates the namespace and the controller's kind, once per server. */
export async function furnish(server: ApiServer): Promise<void> {
  const make = async (path: string, object: Fields) => {
    const { status, body } = await server.send('POST', path, object)
    if (status >= 300) throw new Error(`${path}: ${body.message}`)
  }
  await make('/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE } })
  await make('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', BINDINGS)
  while ((await server.send('GET', PATHS.TargetGroupBinding!)).status !== 200) await sleep(POLL_MS)
}

export async function openRealCluster(server: ApiServer): Promise<RealCluster> {
  const objects = new Map<string, Fields>()
  const pending = new Set<Promise<unknown>>()
  let queue: Promise<unknown> = Promise.resolve()
  let isOpen = true
  const track = (work: Promise<unknown>): void => {
    const settled = work.catch(() => undefined).finally(() => pending.delete(settled))
    pending.add(settled)
  }
  const keyOf = (kind: string, name: string) => `${kind}/${NAMESPACE}/${name}`
  const pathOf = ({ kind, metadata }: Fields) => `${PATHS[kind]}/${metadata.name}`

  async function look(): Promise<void> {
    const found = new Map<string, Fields>()
    for (const [kind, path] of Object.entries(PATHS)) {
      const { status, body } = await server.send('GET', path)
      if (status !== 200) throw new Error(String(status))
      for (const item of body.items)
        if (item.metadata.name !== 'kubernetes')
          found.set(keyOf(kind, item.metadata.name), { apiVersion: API_VERSIONS[kind], kind, ...item })
    }
    const versions = (all: ReadonlyMap<string, Fields>) =>
      [...all].map(([key, { metadata }]) => `${key} ${metadata.resourceVersion}`).join()
    const isChanged = versions(found) !== versions(objects)
    objects.clear()
    for (const [key, object] of found) objects.set(key, object)
    if (isChanged) cluster.onChange()
  }

  async function put(object: Fields, manager: string): Promise<void> {
    const { status: state, ...rest } = structuredClone(object)
    for (const field of ['resourceVersion', 'uid', 'generation', 'managedFields', 'creationTimestamp'])
      delete rest.metadata[field]
    const query = `?fieldManager=${manager}`
    const live = await server.send('GET', pathOf(object))
    const answer =
      live.status === 404
        ? await server.send('POST', `${PATHS[object.kind]}${query}`, rest)
        : await server.send('PUT', `${pathOf(object)}${query}`, {
            ...rest,
            metadata: { ...rest.metadata, resourceVersion: live.body.metadata.resourceVersion },
          })
    if (answer.status >= 300) throw new Error(answer.body.message)
    if (state !== undefined) await server.send('PATCH', `${pathOf(object)}/status`, { status: state }, MERGE)
  }

  const cluster: RealCluster = {
    url: server.url,
    objects,
    events: [],
    calls: [],
    onChange: () => {},
    intercept: () => undefined,
    seed(object, manager = 'kubectl') {
      queue = queue.then(() => put(object, manager))
      track(queue)
    },
    get: (kind, _namespace, name) => objects.get(keyOf(kind, name)),
    update(object, change) {
      const before = objects.get(keyOf(object.kind, object.metadata.name))
      if (before === undefined) return
      const next = structuredClone(before)
      change(next)
      const { finalizers } = next.metadata
      if (JSON.stringify(finalizers) !== JSON.stringify(before.metadata.finalizers))
        track(server.send('PATCH', pathOf(object), { metadata: { finalizers } }, MERGE))
      if (JSON.stringify(next.status) !== JSON.stringify(before.status))
        track(server.send('PATCH', `${pathOf(object)}/status`, { status: next.status }, MERGE))
    },
    warn(object, reason, message) {
      const now = new Date().toISOString()
      const involvedObject = { kind: object.kind, name: object.metadata.name, namespace: NAMESPACE }
      track(
        server.send('POST', `/api/v1/namespaces/${NAMESPACE}/events`, {
          apiVersion: 'v1',
          kind: 'Event',
          metadata: { generateName: `${object.metadata.name}.` },
          involvedObject,
          type: 'Warning',
          reason,
          message,
          firstTimestamp: now,
          lastTimestamp: now,
        }),
      )
    },
    async settled() {
      await queue
      while (pending.size > 0) await Promise.all(pending)
      await look()
    },
    async close() {
      isOpen = false
      await watching
      await cluster.settled()
      cluster.onChange = () => {}
      for (const object of objects.values()) {
        if (object.metadata.finalizers?.length > 0)
          await server.send('PATCH', pathOf(object), { metadata: { finalizers: null } }, MERGE)
        await server.send('DELETE', pathOf(object))
      }
      await server.send('DELETE', `/api/v1/namespaces/${NAMESPACE}/events`)
    },
  }
  const watching = (async () => {
    // If the server is away, the loop tries again until it is back.
    for (; isOpen; await sleep(POLL_MS)) await look().catch(() => undefined)
  })()
  return cluster
}
