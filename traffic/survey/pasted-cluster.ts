/** A cluster as described by manifests: the output of `kubectl get … -o yaml`, pasted or from a file. */
import { TrafficError } from '../model/finding.ts'
import {
  type Ingress,
  ingressSchema,
  type Service,
  serviceSchema,
  sourceGroupsIn,
  type TargetGroupBinding,
} from '../model/manifests.ts'
import { pathText } from '../model/plan.ts'
import { readYaml } from '../model/yaml.ts'
import type { ReadableCluster } from './import-types.ts'

export interface Manifest {
  readonly kind?: string
  readonly metadata?: { readonly name?: string; readonly namespace?: string }
  readonly spec?: unknown
  readonly items?: readonly unknown[]
}

const isManifest = (value: unknown): value is Manifest => typeof value === 'object' && value !== null

/** Reads manifests. Long texts take a while, so a server does it in a thread. */
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
    const { value } = document
    if (!isManifest(value)) return []
    return Array.isArray(value.items) ? value.items.filter(isManifest) : [value]
  })
}

/** Used to check pasted manifests, because no API server has looked at them. */
const SPECS = { Ingress: ingressSchema.shape.spec, Service: serviceSchema.shape.spec }

export function pastedCluster(name: string, all: readonly Manifest[]): ReadableCluster {
  if (all.length > 0 && !all.some(({ kind }) => kind === 'Ingress'))
    throw new TrafficError(
      'invalid',
      `The manifests of cluster ${name} have no Ingress. Add what kubectl get ingress,service -o yaml prints.`,
    )
  const allOf = (wanted: string, namespace: string) =>
    all.filter(
      // Manifests from a repository often leave the namespace to the tool or person that applies them.
      ({ kind, metadata }) => kind === wanted && (metadata?.namespace ?? namespace) === namespace,
    )
  const find = (kind: keyof typeof SPECS, namespace: string, wanted: string): unknown => {
    const found = allOf(kind, namespace).find(({ metadata }) => metadata?.name === wanted)
    const issue = found && SPECS[kind].safeParse(found.spec).error?.issues[0]
    if (issue !== undefined)
      throw new TrafficError(
        'invalid',
        `${kind} ${namespace}/${wanted} in the manifests of cluster ${name} is not as Kubernetes prints it: ${pathText(['spec', ...issue.path])}: ${issue.message}. Paste what kubectl get ingress,service -o yaml prints.`,
      )
    return found && { ...found, metadata: { ...found.metadata, namespace } }
  }
  return {
    name,
    ingress: async (namespace, wanted) => find('Ingress', namespace, wanted) as Ingress | undefined,
    service: async (namespace, wanted) => find('Service', namespace, wanted) as Service | undefined,
    endpoints: async () => [],
    sourceSecurityGroups: async (namespace, service) =>
      sourceGroupsIn(allOf('TargetGroupBinding', namespace) as unknown as TargetGroupBinding[], service),
  }
}
