import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { parse } from 'yaml'
import { bindingSchema, ingressSchema } from '../../src/traffic/model/manifests.ts'

type Fields = Record<string, any>

const RESOURCES: Record<string, { kind: string; plural: string; groupVersion: string }> = {
  Service: { kind: 'Service', plural: 'services', groupVersion: 'v1' },
  Ingress: { kind: 'Ingress', plural: 'ingresses', groupVersion: 'networking.k8s.io/v1' },
  TargetGroupBinding: {
    kind: 'TargetGroupBinding',
    plural: 'targetgroupbindings',
    groupVersion: 'elbv2.k8s.aws/v1beta1',
  },
}

export interface FakeCluster {
  readonly url: string
  readonly objects: Map<string, Fields>
  readonly events: Fields[]
  /** Writes in the order in which they arrived, such as `PATCH Ingress web (dry run)`. */
  readonly calls: string[]
  /** Called after every change, as a watch would be. */
  onChange: () => void
  /** Called before every request. Returns a status to answer instead, as when a server restarts or a webhook is away. 0 means silence. */
  intercept: (method: string, kind: string, name: string) => number | undefined
  /** Stores an object as if another owner had written it. */
  seed(object: Fields, manager?: string): void
  get(kind: string, namespace: string, name: string): Fields | undefined
  /** Updates status and finalizers as a controller does, without changing the owners of fields. */
  update(object: Fields, change: (object: Fields) => void): void
  warn(object: Fields, reason: string, message: string): void
  /** Resolves when all requested objects exist, for clusters where seeding takes time. */
  settled?(): Promise<void>
  close(): Promise<void>
}

class Refusal extends Error {
  readonly code: number
  readonly reason: string
  constructor(code: number, reason: string, message: string) {
    super(message)
    this.code = code
    this.reason = reason
  }
}

const keyOf = (kind: string, namespace: string, name: string) => `${kind}/${namespace}/${name}`

/** A fake of the Kubernetes API, complete enough for the real client: discovery, get, server-side apply, JSON patch, delete, events. */
export async function startFakeCluster(): Promise<FakeCluster> {
  const objects = new Map<string, Fields>()
  const owners = new Map<string, Map<string, string>>()
  const events: Fields[] = []
  const calls: string[] = []
  let version = 0

  const store = (key: string, next: Fields, before: Fields | undefined): void => {
    const isChanged = JSON.stringify(before?.spec) !== JSON.stringify(next.spec)
    next.metadata.generation = (before?.metadata.generation ?? 0) + (isChanged ? 1 : 0)
    next.metadata.resourceVersion = String(++version)
    next.metadata.creationTimestamp ??= new Date(0).toISOString()
    if (next.metadata.deletionTimestamp !== undefined && (next.metadata.finalizers ?? []).length === 0) {
      objects.delete(key)
      owners.delete(key)
    } else objects.set(key, next)
    fake.onChange()
  }

  const fake: FakeCluster = {
    url: '',
    objects,
    events,
    calls,
    onChange: () => {},
    intercept: () => undefined,
    seed(object, manager = 'kubectl') {
      const key = keyOf(object.kind, object.metadata.namespace, object.metadata.name)
      owners.set(key, new Map([...leaves(object)].map(([path]) => [path, manager])))
      store(key, structuredClone(object), objects.get(key))
    },
    get: (kind, namespace, name) => objects.get(keyOf(kind, namespace, name)),
    update(object, change) {
      const key = keyOf(object.kind, object.metadata.namespace, object.metadata.name)
      const before = objects.get(key)
      if (before === undefined) return
      const next = structuredClone(before)
      change(next)
      own(key, before, next, 'controller', new Set(owners.get(key)?.values()))
      if (JSON.stringify(next) !== JSON.stringify(before)) store(key, next, before)
    },
    warn(object, reason, message) {
      const { kind, metadata } = object
      events.push({
        metadata: { name: `${metadata.name}.${events.length}`, namespace: metadata.namespace },
        involvedObject: { kind, name: metadata.name },
        type: 'Warning',
        reason,
        message,
        lastTimestamp: new Date().toISOString(),
      })
    },
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections()
        server.close(() => resolve())
      }),
  }

  const serverSideApply = (key: string, applied: Fields, manager: string, before: Fields | undefined): Fields => {
    const own = owners.get(key) ?? new Map<string, string>()
    const next = structuredClone(
      before ?? {
        apiVersion: applied.apiVersion,
        kind: applied.kind,
        metadata: { name: applied.metadata.name, namespace: applied.metadata.namespace },
      },
    )
    const live = new Map(leaves(next))
    const conflicts = [...leaves(applied)].filter(([path, value]) => {
      const owner = own.get(path)
      return owner !== undefined && owner !== manager && JSON.stringify(live.get(path)) !== JSON.stringify(value)
    })
    if (conflicts.length > 0) {
      const list = conflicts
        .map(([path]) => `conflict with "${own.get(path)}": .${path.replaceAll('\u0000', '.')}`)
        .join(', ')
      const many = conflicts.length === 1 ? 'conflict' : 'conflicts'
      throw new Refusal(409, 'Conflict', `Apply failed with ${conflicts.length} ${many}: ${list}`)
    }
    for (const [path, value] of leaves(applied)) {
      setAt(next, path.split('\u0000'), value)
      own.set(path, manager)
    }
    owners.set(key, own)
    return next
  }

  /** A manager that changes a field owns it. A manager whose entry was removed from the list owns nothing any more. */
  function own(key: string, before: Fields, next: Fields, manager: string, kept: ReadonlySet<string>): void {
    const fields = owners.get(key)!
    for (const [path, owner] of fields) if (!kept.has(owner)) fields.delete(path)
    const old = new Map(leaves(before))
    for (const [path, value] of leaves(next))
      if (JSON.stringify(old.get(path)) !== JSON.stringify(value)) fields.set(path, manager)
  }
  function withManagedFields(key: string, object: Fields): Fields {
    const copy = structuredClone(object)
    const byManager = Map.groupBy(owners.get(key) ?? [], ([, manager]) => manager)
    copy.metadata.managedFields = [...byManager].map(([manager, fields]) => {
      const annotations = fields.map(([path]) => path.split('\u0000')).filter((path) => path[1] === 'annotations')
      return {
        manager,
        operation: 'Update',
        time: object.metadata.creationTimestamp,
        fieldsV1: {
          'f:metadata': { 'f:annotations': Object.fromEntries(annotations.map(([, , name]) => [`f:${name}`, {}])) },
        },
      }
    })
    return copy
  }

  const server: Server = createServer((request, response) => {
    void handle(request, response).catch((error: unknown) => {
      const refusal = error instanceof Refusal ? error : new Refusal(500, 'InternalError', String(error))
      respond(response, refusal.code, {
        kind: 'Status',
        apiVersion: 'v1',
        status: 'Failure',
        reason: refusal.reason,
        message: refusal.message,
        code: refusal.code,
      })
    })
  })

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url!, 'http://fake')
    if (request.headers.authorization !== 'Bearer fake-token') throw new Refusal(401, 'Unauthorized', 'Unauthorized')
    const discovery = Object.values(RESOURCES).filter(
      ({ groupVersion }) => url.pathname === (groupVersion === 'v1' ? '/api/v1' : `/apis/${groupVersion}`),
    )
    if (discovery.length > 0) {
      const resources = discovery.map(({ kind, plural }) => ({
        name: plural,
        singularName: '',
        namespaced: true,
        kind,
        verbs: ['get', 'patch', 'delete'],
      }))
      return respond(response, 200, { kind: 'APIResourceList', groupVersion: discovery[0]!.groupVersion, resources })
    }
    const listed = /^\/api\/v1\/namespaces\/([^/]+)\/events$/.exec(url.pathname)
    if (listed !== null) {
      const name = /involvedObject\.name=([^,]+)/.exec(url.searchParams.get('fieldSelector') ?? '')?.[1]
      return respond(response, 200, {
        kind: 'EventList',
        apiVersion: 'v1',
        metadata: {},
        items: events.filter((event) => event.involvedObject.name === name),
      })
    }
    const found = looked(url, objects)
    if (found !== undefined) {
      if (found === null) throw new Refusal(404, 'NotFound', `no ${url.pathname}`)
      return respond(response, 200, found)
    }
    const match = /^\/apis?\/(.+)\/namespaces\/([^/]+)\/([^/]+)\/([^/]+)$/.exec(url.pathname)
    const resource = Object.values(RESOURCES).find(
      ({ groupVersion, plural }) => groupVersion === match?.[1] && plural === match?.[3],
    )
    if (match === null || resource === undefined) throw new Refusal(404, 'NotFound', `no route ${url.pathname}`)
    const [namespace, name] = [match[2]!, match[4]!]
    const key = keyOf(resource.kind, namespace, name)
    const before = objects.get(key)
    const isDryRun = url.searchParams.get('dryRun') === 'All'
    const fault = fake.intercept(request.method!, resource.kind, name)
    if (fault === 0) return
    if (fault !== undefined) throw new Refusal(fault, 'InternalError', `fault ${fault}: failed calling webhook`)
    if (request.method !== 'GET')
      calls.push(`${request.method} ${resource.kind} ${name}${isDryRun ? ' (dry run)' : ''}`)
    const notFound = () => new Refusal(404, 'NotFound', `${resource.plural} "${name}" not found`)
    if (request.method === 'GET') {
      if (before === undefined) throw notFound()
      return respond(response, 200, withManagedFields(key, before))
    }
    if (request.method === 'DELETE') {
      if (before === undefined) throw notFound()
      const next = structuredClone(before)
      next.metadata.deletionTimestamp ??= new Date().toISOString()
      if (!isDryRun) store(key, next, before)
      return respond(response, 200, { kind: 'Status', apiVersion: 'v1', status: 'Success' })
    }
    const body = await read(request)
    const type = request.headers['content-type'] ?? ''
    let next: Fields
    if (type.startsWith('application/apply-patch+yaml')) {
      const manager = url.searchParams.get('fieldManager')
      if (manager === null) throw new Refusal(400, 'BadRequest', 'fieldManager is required for apply patch')
      const saved = new Map(owners.get(key) ?? [])
      next = serverSideApply(key, parse(body), manager, before)
      if (isDryRun) owners.set(key, saved)
    } else if (type.startsWith('application/json-patch+json')) {
      if (before === undefined) throw notFound()
      next = jsonPatch(withManagedFields(key, before), JSON.parse(body))
      const kept = new Set<string>(next.metadata.managedFields.map(({ manager }: Fields) => manager))
      delete next.metadata.managedFields
      if (!isDryRun) own(key, before, next, url.searchParams.get('fieldManager') ?? 'unknown', kept)
    } else throw new Refusal(415, 'UnsupportedMediaType', type)
    admit(next, before)
    // A write that changes nothing creates no new version.
    if (!isDryRun && JSON.stringify(next) !== JSON.stringify(before)) store(key, next, before)
    respond(response, before === undefined ? 201 : 200, next)
  }

  /** Applies the API server's own validation and the controller's webhook for bindings. */
  function admit(next: Fields, before: Fields | undefined): void {
    const { status: _status, ...object } = next
    const schema = next.kind === 'Ingress' ? ingressSchema : bindingSchema
    const checked = schema.safeParse(object)
    if (!checked.success)
      throw new Refusal(
        400,
        'BadRequest',
        `strict decoding error: ${checked.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`).join('; ')}`,
      )
    if (next.kind !== 'TargetGroupBinding') return
    if (before !== undefined && before.spec.targetGroupARN !== next.spec.targetGroupARN) {
      throw new Refusal(
        403,
        'Forbidden',
        'TargetGroupBinding update may not change these immutable fields: spec.targetGroupARN',
      )
    }
    next.spec.vpcID ??= 'vpc-0123456789abcdef0'
    next.spec.targetGroupProtocol ??= 'HTTP'
  }

  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return Object.assign(fake, { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` })
}

function respond(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}

async function read(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString()
}

/** Answers reads of namespaces, EndpointSlices of a Service, and Deployments by a label. Null means that there is none. */
function looked(url: URL, objects: ReadonlyMap<string, Fields>): Fields | null | undefined {
  const ofKind = (kind: string) => [...objects.values()].filter((object) => object.kind === kind)
  const [, key, value] = /^([^=]+)=(.*)$/.exec(url.searchParams.get('labelSelector') ?? '') ?? []
  const selected = (kind: string) => ofKind(kind).filter(({ metadata }) => metadata.labels?.[key!] === value)
  const list = (kind: string, apiVersion: string, items: Fields[]) => ({ kind, apiVersion, metadata: {}, items })
  const namespace = /^\/api\/v1\/namespaces\/([^/]+)$/.exec(url.pathname)?.[1]
  if (namespace !== undefined) return ofKind('Namespace').find(({ metadata }) => metadata.name === namespace) ?? null
  if (url.pathname === '/apis/apps/v1/deployments') return list('DeploymentList', 'apps/v1', selected('Deployment'))
  const bindings = /^\/apis\/elbv2\.k8s\.aws\/v1beta1\/namespaces\/([^/]+)\/targetgroupbindings$/.exec(
    url.pathname,
  )?.[1]
  if (bindings !== undefined)
    return list(
      'TargetGroupBindingList',
      'elbv2.k8s.aws/v1beta1',
      ofKind('TargetGroupBinding').filter(({ metadata }) => metadata.namespace === bindings),
    )
  const slices = /^\/apis\/discovery\.k8s\.io\/v1\/namespaces\/([^/]+)\/endpointslices$/.exec(url.pathname)?.[1]
  if (slices === undefined) return undefined
  const own = selected('EndpointSlice').filter(({ metadata }) => metadata.namespace === slices)
  return list('EndpointSliceList', 'discovery.k8s.io/v1', own)
}

/** Yields the fields that have owners: each annotation, and the spec down to lists, which are atomic in an Ingress. */
function* leaves(object: Fields): Generator<[string, unknown]> {
  for (const [key, value] of Object.entries(object.metadata?.annotations ?? {}))
    yield [['metadata', 'annotations', key].join('\u0000'), value]
  yield* walk(object.spec, ['spec'])
}
function* walk(value: unknown, path: readonly string[]): Generator<[string, unknown]> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    if (value !== undefined) yield [path.join('\u0000'), value]
    return
  }
  for (const [key, item] of Object.entries(value)) yield* walk(item, [...path, key])
}
function setAt(object: Fields, path: readonly string[], value: unknown): void {
  const parent = path.slice(0, -1).reduce((node, key) => (node[key] ??= {}), object)
  parent[path.at(-1)!] = structuredClone(value)
}

export function jsonPatch(before: Fields, operations: readonly Fields[]): Fields {
  const next = structuredClone(before)
  for (const { op, path, value } of operations) {
    const parts = (path as string)
      .split('/')
      .slice(1)
      .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
    const parent = parts.slice(0, -1).reduce((node, key) => node?.[key], next as any)
    const last = parts.at(-1)!
    if (parent === undefined)
      throw new Refusal(422, 'Invalid', `the server rejected our request: ${path} does not exist`)
    if (op === 'test' && JSON.stringify(parent[last]) !== JSON.stringify(value)) {
      throw new Refusal(
        422,
        'Invalid',
        `the server rejected our request due to an error in our request: testing value ${path} failed`,
      )
    }
    if (op === 'replace' && parent[last] === undefined) throw new Refusal(422, 'Invalid', `replace: missing ${path}`)
    if (op === 'add' || op === 'replace') parent[last] = value
    if (op === 'remove' && Array.isArray(parent)) parent.splice(Number(last), 1)
    else if (op === 'remove') delete parent[last]
  }
  return next
}
