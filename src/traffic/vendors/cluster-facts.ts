import type { KubeConfig } from '@kubernetes/client-node'
import { byName } from '../../basics/by-name.ts'
import { sourceGroupsIn, type TargetGroupBinding } from '../model/manifests.ts'

/** A pod behind a Service, as its EndpointSlices describe it. */
interface Endpoint {
  readonly zone: string | undefined
  readonly isReady: boolean
  readonly ports: readonly { readonly name: string | undefined; readonly port: number }[]
}

/** A running AWS Load Balancer Controller. */
export interface ControllerFacts {
  readonly place: string
  readonly image: string
  readonly arguments: readonly string[]
  readonly isReady: boolean
}

/** Facts that are only looked at, before a switch begins. */
export interface ClusterFacts {
  endpoints(namespace: string, service: string): Promise<readonly Endpoint[]>
  /** Undefined if there is no such namespace. */
  namespaceLabels(namespace: string): Promise<Readonly<Record<string, string>> | undefined>
  controllers(): Promise<readonly ControllerFacts[]>
  sourceSecurityGroups(namespace: string, service: string): Promise<readonly string[]>
}

type Kubernetes = typeof import('@kubernetes/client-node')
type Call = <T>(what: string, request: () => Promise<T>) => Promise<T>

const CONTROLLER = 'app.kubernetes.io/name=aws-load-balancer-controller'

export function clusterFacts(kubernetes: Kubernetes, config: KubeConfig, call: Call): ClusterFacts {
  const discovery = config.makeApiClient(kubernetes.DiscoveryV1Api)
  const core = config.makeApiClient(kubernetes.CoreV1Api)
  const applications = config.makeApiClient(kubernetes.AppsV1Api)
  const custom = config.makeApiClient(kubernetes.CustomObjectsApi)
  return {
    async endpoints(namespace, service) {
      const { items } = await call(`read the endpoints of Service ${namespace}/${service}`, () =>
        discovery.listNamespacedEndpointSlice({ namespace, labelSelector: `kubernetes.io/service-name=${service}` }),
      )
      return items.flatMap(({ endpoints = [], ports = [] }) =>
        (endpoints ?? []).map(({ zone, conditions }) => ({
          zone,
          // A missing condition means ready.
          isReady: conditions?.ready !== false,
          ports: (ports ?? []).flatMap(({ name, port }) => (port === undefined ? [] : [{ name, port }])),
        })),
      )
    },
    async namespaceLabels(namespace) {
      const found = await call(`read namespace ${namespace}`, () =>
        core.readNamespace({ name: namespace }).catch((error: { code?: number }) => {
          if (error.code === 404) return undefined
          throw error
        }),
      )
      return found && byName({ ...found.metadata?.labels })
    },
    async sourceSecurityGroups(namespace, service) {
      const request = { group: 'elbv2.k8s.aws', version: 'v1beta1', namespace, plural: 'targetgroupbindings' }
      const { items = [] } = (await call(`list the TargetGroupBindings of namespace ${namespace}`, () =>
        custom.listNamespacedCustomObject(request),
      )) as { items?: readonly TargetGroupBinding[] }
      return sourceGroupsIn(items, service)
    },
    async controllers() {
      const { items } = await call('find the AWS Load Balancer Controller', () =>
        applications.listDeploymentForAllNamespaces({ labelSelector: CONTROLLER }),
      )
      return items.map(({ metadata, spec, status }) => {
        const container = spec?.template.spec?.containers.find(({ image }) =>
          image?.includes('load-balancer-controller'),
        )
        const first = container ?? spec?.template.spec?.containers[0]
        return {
          place: `${metadata?.namespace}/${metadata?.name}`,
          image: first?.image ?? '',
          arguments: [...(first?.command ?? []), ...(first?.args ?? [])],
          isReady: (status?.readyReplicas ?? 0) > 0,
        }
      })
    },
  }
}
