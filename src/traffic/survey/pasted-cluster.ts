/** A cluster as far as somebody's manifests tell it: what `kubectl get … -o yaml` prints, pasted or from a file. */
import { TrafficError } from '../model/finding.ts'
import type { Ingress, Service, TargetGroupBinding } from '../model/manifests.ts'
import { readYaml } from '../model/yaml.ts'
import type { ReadableCluster } from './import-types.ts'

export interface Manifest {
  readonly kind?: string
  readonly metadata?: { readonly name?: string; readonly namespace?: string }
  readonly items?: readonly Manifest[]
}

/** Long texts take a while to read. */
export function manifestsIn(cluster: string, text: string): readonly Manifest[] {
  return readYaml(text).flatMap((document): readonly Manifest[] => {
    if ('problem' in document) {
      const { line, message } = document.problem
      const where = line === undefined ? '' : ` (line ${line})`
      throw new TrafficError(
        'invalid',
        `The manifests of cluster ${cluster} are no YAML${where}: ${message}. Correct them.`,
      )
    }
    const value = document.value as Manifest | null
    if (value === null || typeof value !== 'object') return []
    return Array.isArray(value.items) ? value.items : [value]
  })
}

export function pastedCluster(name: string, all: readonly Manifest[]): ReadableCluster {
  const ingresses = all.filter(({ kind }) => kind === 'Ingress')
  if (ingresses.length === 0 && all.length > 0)
    throw new TrafficError(
      'invalid',
      `The manifests of cluster ${name} have no Ingress. Add what kubectl get ingress,service -o yaml prints.`,
    )
  // Manifests from a repository often leave the namespace to whoever applies them.
  const find = (kind: string, namespace: string, wanted: string) =>
    all.find(
      (each) =>
        each.kind === kind && each.metadata?.name === wanted && (each.metadata.namespace ?? namespace) === namespace,
    )
  return {
    name,
    ingress: async (namespace, wanted) => find('Ingress', namespace, wanted) as Ingress | undefined,
    service: async (namespace, wanted) => find('Service', namespace, wanted) as Service | undefined,
    endpoints: async () => [],
    async sourceSecurityGroups(_namespace, service) {
      const bindings = all.filter(({ kind }) => kind === 'TargetGroupBinding') as unknown as TargetGroupBinding[]
      return bindings
        .filter(({ spec }) => spec.serviceRef?.name === service)
        .flatMap(({ spec }) => spec.networking?.ingress ?? [])
        .flatMap(({ from = [] }) => from.flatMap(({ securityGroup }) => securityGroup?.groupID ?? []))
    },
  }
}

/** Two applications by mistake: a switch would send the clients of one to the other. */
export function refuseOtherApplication(current: Ingress, target: Ingress, host: string): void {
  const hosts = (ingress: Ingress) => [...new Set((ingress.spec.rules ?? []).flatMap((rule) => rule.host ?? []))]
  const others = hosts(target)
  if (others.length === 0 || others.includes(host) || hosts(current).some((each) => others.includes(each))) return
  throw new TrafficError(
    'invalid',
    `These are two applications: Ingress ${current.metadata.name} of the current cluster serves ${hosts(current).join(', ')}, and Ingress ${target.metadata.name} of the target cluster serves ${others.join(', ')}. Name the Ingress of the same application in both clusters.`,
  )
}
