import type { KubeConfig, KubernetesObject } from '@kubernetes/client-node'
import { loadKubernetes } from 'weir-traffic'
import { messageOf, RetryableError, UserError } from '../core.ts'
import { CredentialsRefused, TrafficError } from '../model/finding.ts'
import type { IngressEdit, JsonPatchOperation } from '../model/ingress.ts'
import type { Ingress, Service, TargetGroupBinding } from '../model/manifests.ts'
import { CALL_MS } from './call-time.ts'
import { type ClusterFacts, clusterFacts } from './cluster-facts.ts'

/** Owner of the fields that Weir applies. Fields of another owner are never taken by force. */
export const FIELD_MANAGER = 'weir-traffic'

export interface Cluster extends ClusterFacts {
  readonly name: string
  ingress(namespace: string, name: string): Promise<Ingress | undefined>
  service(namespace: string, name: string): Promise<Service | undefined>
  binding(namespace: string, name: string): Promise<TargetGroupBinding | undefined>
  /** Server-side apply. */
  apply(object: Applicable, dryRun?: boolean): Promise<void>
  /** Compare-and-set; refused as drift when a tested value has changed. */
  patchIngress(
    namespace: string,
    name: string,
    operations: readonly JsonPatchOperation[],
    dryRun?: boolean,
  ): Promise<void>
  /** Used instead of `patchIngress` where the cluster is changed through something else. */
  changeIngress?(live: Ingress, edit: IngressEdit, how: HowToChange): Promise<void>
  deleteIngress(namespace: string, name: string): Promise<void>
  deleteBinding(namespace: string, name: string): Promise<void>
  /** The newest warning event about an object, mostly from the controller, as a hint for people. */
  warning(namespace: string, name: string): Promise<string | undefined>
}

/** Circumstances of a change that matter besides the change itself. */
export interface HowToChange {
  readonly dryRun: boolean
  readonly overridesDrift: boolean
  readonly isRollback: boolean
  readonly step: number
  /** Set if the plan lists its routes. */
  readonly route: string | undefined
}

export interface Applicable {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: {
    readonly name: string
    readonly namespace?: string | undefined
    readonly annotations?: Readonly<Record<string, unknown>> | undefined
  }
  readonly spec?: unknown
}

const INGRESS = { apiVersion: 'networking.k8s.io/v1', kind: 'Ingress' }
const BINDING = { apiVersion: 'elbv2.k8s.aws/v1beta1', kind: 'TargetGroupBinding' }
const SERVICE = { apiVersion: 'v1', kind: 'Service' }

/** The client is large, so it is loaded when a cluster is first used. */
async function loadKubeconfig() {
  const kubernetes = await loadKubernetes()
  const config = new kubernetes.KubeConfig()
  try {
    config.loadFromDefault()
  } catch (error) {
    // The lines after the first quote the file, and with it its tokens: they belong in no answer, journal or log.
    const [reason] = messageOf(error).split('\n')
    throw new UserError(`Cannot read the kubeconfig: ${reason}. Set KUBECONFIG to a readable file.`)
  }
  return { kubernetes, config }
}

/** The contexts that the kubeconfig offers. */
export const contextNames = async (): Promise<readonly string[]> =>
  (await loadKubeconfig()).config.getContexts().map(({ name }) => name)

export async function openCluster(cluster: string, context: string | undefined, callMs = CALL_MS): Promise<Cluster> {
  const { kubernetes, config } = await loadKubeconfig()
  useContext(config, cluster, context)
  endCallsAfter(config, callMs)
  const objects = kubernetes.KubernetesObjectApi.makeApiClient(config)
  const networking = config.makeApiClient(kubernetes.NetworkingV1Api)
  const core = config.makeApiClient(kubernetes.CoreV1Api)
  const asJsonPatch = kubernetes.setHeaderOptions('Content-Type', kubernetes.PatchStrategy.JsonPatch)
  const call = <T>(what: string, request: () => Promise<T>): Promise<T> => translate(cluster, what, request)

  const read = async <T>(
    type: { apiVersion: string; kind: string },
    namespace: string,
    name: string,
  ): Promise<T | undefined> => {
    const found = await call(`read ${type.kind} ${namespace}/${name}`, () =>
      objects.read({ ...type, metadata: { name, namespace } }).catch(absent),
    )
    // The client returns class instances and dates, but Weir compares and stores plain JSON.
    return found === undefined ? undefined : (JSON.parse(JSON.stringify(found)) as T)
  }
  const remove = async (type: { apiVersion: string; kind: string }, namespace: string, name: string): Promise<void> => {
    await call(`delete ${type.kind} ${namespace}/${name}`, () =>
      objects.delete({ ...type, metadata: { name, namespace } }).catch(absent),
    )
  }
  return {
    ...clusterFacts(kubernetes, config, call),
    name: cluster,
    ingress: (namespace, name) => read<Ingress>(INGRESS, namespace, name),
    service: (namespace, name) => read<Service>(SERVICE, namespace, name),
    binding: (namespace, name) => read<TargetGroupBinding>(BINDING, namespace, name),
    async apply(object, dryRun = false) {
      const { kind, metadata } = object
      await call(`apply ${kind} ${metadata.namespace}/${metadata.name}`, () =>
        objects.patch(
          object as KubernetesObject,
          undefined,
          dryRun ? 'All' : undefined,
          FIELD_MANAGER,
          false,
          kubernetes.PatchStrategy.ServerSideApply,
        ),
      )
    },
    async patchIngress(namespace, name, operations, dryRun = false) {
      const request = {
        namespace,
        name,
        body: operations,
        fieldManager: FIELD_MANAGER,
        ...(dryRun ? { dryRun: 'All' } : {}),
      }
      await call(`change Ingress ${namespace}/${name}`, () => networking.patchNamespacedIngress(request, asJsonPatch))
    },
    deleteIngress: (namespace, name) => remove(INGRESS, namespace, name),
    deleteBinding: (namespace, name) => remove(BINDING, namespace, name),
    async warning(namespace, name) {
      const { items } = await call('read events', () =>
        core.listNamespacedEvent({ namespace, fieldSelector: `involvedObject.name=${name},type=Warning` }),
      )
      const newest = items.toSorted(
        (left, right) => Number(right.lastTimestamp ?? 0) - Number(left.lastTimestamp ?? 0),
      )[0]
      return newest === undefined ? undefined : `${newest.reason}: ${newest.message}`
    },
  }
}

/** A cluster that cannot be reached; whatever does not need it can still be done. */
export function clusterAway(name: string, reason: unknown): Cluster {
  const refuse = () => Promise.reject(new RetryableError(`Cannot reach cluster ${name}: ${messageOf(reason)}`))
  return {
    name,
    ingress: refuse,
    service: refuse,
    binding: refuse,
    apply: refuse,
    patchIngress: refuse,
    deleteIngress: refuse,
    deleteBinding: refuse,
    warning: refuse,
    endpoints: refuse,
    namespaceLabels: refuse,
    controllers: refuse,
    sourceSecurityGroups: refuse,
  }
}

function useContext(config: KubeConfig, cluster: string, context: string | undefined): void {
  if (context === undefined) {
    throw new UserError(
      `The plan names no kubeContext for cluster ${cluster}. Add it, or use render and apply the files yourself.`,
    )
  }
  const known = config.getContexts().map(({ name }) => name)
  if (!known.includes(context)) {
    throw new UserError(
      `The kubeconfig has no context ${context} (cluster ${cluster}); it has ${known.join(', ') || 'none'}. Set KUBECONFIG or correct kubeContext.`,
    )
  }
  config.setCurrentContext(context)
}

/** Limits every call. Without this, a server that accepts and never answers is waited for five minutes. */
function endCallsAfter(config: KubeConfig, callMs: number): void {
  const authenticate = config.applySecurityAuthentication.bind(config)
  // Called before each request of every client that is made of the config.
  config.applySecurityAuthentication = async (request) => {
    await authenticate(request)
    const limit = new AbortController()
    // An error made here, because the client writes into its message, which is not possible with that of AbortSignal.timeout.
    setTimeout(() => limit.abort(new RetryableError('it does not answer')), callMs).unref()
    request.setSignal(limit.signal)
  }
}

const codeOf = (error: unknown): number | undefined => {
  const code = (error as { code?: unknown }).code
  return typeof code === 'number' ? code : undefined
}

const absent = (error: unknown): undefined => {
  if (codeOf(error) === 404) return undefined
  throw error
}

/** Wordings of API servers for a tested value, or the version of an object, that has changed. */
const STALE = /testing value|test failed|error in our request|has been modified|latest version/i

/** Wordings of refusals that are not due to the caller's permissions. */
const DENIED_BY_OTHERS = /admission webhook|exceeded quota|ValidatingAdmissionPolicy/i

/** Puts answers of the API server into words that say who has to do what. */
async function translate<T>(cluster: string, what: string, request: () => Promise<T>): Promise<T> {
  try {
    return await request()
  } catch (error) {
    if (error instanceof RetryableError)
      throw new RetryableError(`Cannot ${what} in cluster ${cluster}: ${error.message}`, { cause: error })
    const code = codeOf(error)
    const message = statusMessage(error)
    // The object is not as it was read. Read again, it is either what is wanted, or drift, or simply newer.
    if ((code === 409 || code === 422) && STALE.test(message))
      throw new RetryableError(`Cluster ${cluster} refused to ${what}, because it changed meanwhile: ${message}`, {
        cause: error,
      })
    if (code === 409 || code === 422) {
      throw new TrafficError(
        'conflict',
        `Cluster ${cluster} refused to ${what}: ${message}. Somebody else changed it; nothing was overwritten.`,
        { cause: error },
      )
    }
    if (code === undefined ? isNetworkTrouble(error) : code === 429 || code >= 500)
      throw new RetryableError(`Cannot ${what} in cluster ${cluster}: ${message}`, { cause: error })
    if (code === 401 || (code === 403 && !DENIED_BY_OTHERS.test(message)))
      throw new CredentialsRefused(
        `Cluster ${cluster} refused to ${what} (HTTP ${code}): ${message}. ${code === 401 ? 'Renew the credentials of its context in the kubeconfig.' : 'Give this user the right, or use another context.'}`,
        { cause: error },
      )
    throw new UserError(
      `Cluster ${cluster} refused to ${what}${code === undefined ? '' : ` (HTTP ${code})`}: ${message}`,
      {
        status: 502,
        cause: error,
      },
    )
  }
}

/** Errors of sockets and undici have a code in letters. A wrong kubeconfig has none, and waiting does not help with it. */
const isNetworkTrouble = (error: unknown): boolean =>
  [error, (error as { cause?: unknown }).cause].some(
    (each) => typeof (each as { code?: unknown } | undefined)?.code === 'string',
  )

function statusMessage(error: unknown): string {
  const body = (error as { body?: unknown }).body
  if (typeof body === 'string') {
    try {
      return String(JSON.parse(body).message ?? body)
    } catch {
      return body
    }
  }
  const cause = (error as { cause?: unknown }).cause
  return (
    (body as { message?: string } | undefined)?.message ??
    (cause === undefined ? messageOf(error) : `${messageOf(error)}: ${messageOf(cause)}`)
  )
}
