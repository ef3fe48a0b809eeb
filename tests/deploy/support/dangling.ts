import type { Manifest } from './helm.ts'
import { containersOf, podOf, templateOf } from './kubernetes.ts'

/** Objects that the values files of the tests expect to exist outside the release. */
const OF_OTHERS = ['Secret weir-secrets', 'ConfigMap authorities']

/** Returns names in a manifest that no object of the release has. */
export function danglingIn(manifest: Manifest, all: readonly Manifest[]): string[] {
  const has = (kind: string, name: string) =>
    OF_OTHERS.includes(`${kind} ${name}`) || all.some((each) => each.kind === kind && each.metadata.name === name)
  const selects = (labels: object) => all.some((each) => isSubset(labels, labelsOfPods(each)))
  const { kind, spec } = manifest
  const wanted: [boolean, string][] = []
  for (const { envFrom = [], env = [], volumeMounts = [] } of containersOf(manifest)) {
    const secrets = [
      ...envFrom.map((each: any) => each.secretRef.name),
      ...env.flatMap((each: any) => each.valueFrom?.secretKeyRef.name ?? []),
    ]
    for (const name of secrets) wanted.push([has('Secret', name), `secret ${name}`])
    const volumes = [
      ...(podOf(manifest).volumes ?? []),
      ...(spec.volumeClaimTemplates ?? []).map((each: any) => each.metadata),
    ]
    for (const { name } of volumeMounts) wanted.push([volumes.some((each) => each.name === name), `volume ${name}`])
  }
  for (const { persistentVolumeClaim: claim, configMap, secret } of podOf(manifest)?.volumes ?? []) {
    if (claim) wanted.push([has('PersistentVolumeClaim', claim.claimName), `claim ${claim.claimName}`])
    if (configMap) wanted.push([has('ConfigMap', configMap.name), `config map ${configMap.name}`])
    if (secret) wanted.push([has('Secret', secret.secretName), `secret ${secret.secretName}`])
  }
  const account = podOf(manifest)?.serviceAccountName
  if (account && account !== 'default') wanted.push([has('ServiceAccount', account), `account ${account}`])
  if (kind === 'Service') {
    wanted.push([selects(spec.selector), 'pods of the service'])
    const targets = all.filter((each) => isSubset(spec.selector, labelsOfPods(each)))
    for (const { targetPort } of spec.ports) {
      const ports = (target: Manifest) => containersOf(target).flatMap(({ ports: own = [] }) => own)
      const isEverywhere = targets.every((target) => ports(target).some(({ name }) => name === targetPort))
      wanted.push([isEverywhere, `port ${targetPort}`])
    }
  }
  if (kind === 'NetworkPolicy' || kind === 'PodDisruptionBudget') {
    wanted.push([selects((spec.podSelector ?? spec.selector).matchLabels), 'pods of the policy'])
  }
  if (kind === 'ServiceMonitor') {
    const services = all.filter(
      (each) => each.kind === 'Service' && isSubset(spec.selector.matchLabels, each.metadata.labels),
    )
    for (const { port } of spec.endpoints) {
      wanted.push([services.some((each) => each.spec.ports.some(({ name }: any) => name === port)), `port ${port}`])
    }
  }
  if (kind === 'HorizontalPodAutoscaler' || kind === 'ScaledObject') {
    wanted.push([has('Deployment', spec.scaleTargetRef.name), 'its deployment'])
  }
  if (kind === 'Ingress') {
    const backends = spec.rules.flatMap(({ http }: any) => http.paths.map((path: any) => path.backend.service))
    for (const { name, port } of backends) {
      const service = all.find((each) => each.kind === 'Service' && each.metadata.name === name)
      wanted.push([service?.spec.ports.some((each: any) => each.name === port.name) ?? false, `service ${name}`])
    }
  }
  return wanted.flatMap(([isThere, what]) => (isThere ? [] : [what]))
}

const labelsOfPods = (manifest: Manifest): Record<string, string> => templateOf(manifest)?.metadata.labels ?? {}
const isSubset = (part: object, whole: Readonly<Record<string, string>>) =>
  Object.entries(part).every(([key, value]) => whole[key] === value)
