/**
 * Checks manifests against Kubernetes: values by its JSON schemas, names of fields by its client. Fields of other projects'
 * kinds are checked by their types.
 */
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import * as client from '@kubernetes/client-node'
import type { Manifest } from './helm.ts'
import { root } from './weir.ts'

interface Field {
  readonly baseName: string
  readonly type: string
}
type Typed = { readonly getAttributeTypeMap?: () => readonly Field[] }

const models = client as unknown as Readonly<Record<string, Typed>>

/** Kinds that are not part of Kubernetes itself, by the API group of the project that defines them. */
const MODELS_OF: Readonly<Record<string, string>> = {
  'monitoring.coreos.com': '@kubernetes-models/prometheus-operator',
  'keda.sh': '@kubernetes-models/keda',
}

/** Returns everything that the API server would refuse or silently drop. */
export async function problemsOf(manifest: Manifest): Promise<string[]> {
  const { apiVersion, kind } = manifest
  const ofOthers = MODELS_OF[apiVersion.split('/')[0] as string]
  const path = `${ofOthers ?? 'kubernetes-models'}/${apiVersion}`
  const { [kind]: Model } = await import(/* @vite-ignore */ path)
  if (!Model) return [`there is no ${kind} in ${apiVersion}`]
  const type = `${capital(apiVersion.split('/').at(-1) as string)}${kind}`
  const unknown = ofOthers ? unknownNames(path, manifest.spec, 'spec') : unknownFields(type, manifest, kind)
  return [...wrongValues(Model, manifest), ...unknown]
}

const capital = (text: string) => text.charAt(0).toUpperCase() + text.slice(1)

function wrongValues(Model: new (data: unknown) => { validate(): void }, manifest: Manifest): string[] {
  try {
    new Model(manifest).validate()
    return []
  } catch (error) {
    return [(error as Error).message]
  }
}

function unknownFields(type: string, value: unknown, path: string): string[] {
  const element = /^Array<(.+)>$/.exec(type)?.[1]
  if (element !== undefined) {
    return Array.isArray(value) ? value.flatMap((each, index) => unknownFields(element, each, `${path}[${index}]`)) : []
  }
  const fields = models[type]?.getAttributeTypeMap?.()
  if (!fields || typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, each]) => {
    const field = fields.find(({ baseName }) => baseName === name)
    return field ? unknownFields(field.type, each, `${path}.${name}`) : [`${path}.${name} is no field`]
  })
}

/** Fields with arbitrary content, or with content that Kubernetes itself defines. */
const FREE = ['labels', 'annotations', 'selector', 'metadata', 'behavior']

/** Returns names that no type of the package has. */
function unknownNames(types: string, value: unknown, path: string): string[] {
  const files = globSync(`node_modules/${types}/*.d.ts`, { cwd: root })
  const texts = files.map((file) => readFileSync(join(root, file), 'utf8')).join('\n')
  const known = new Set([...texts.matchAll(/^ {4}"(\w+)"\??:/gm)].map(([, name]) => name))
  const walk = (each: unknown, at: string): string[] => {
    if (Array.isArray(each)) return each.flatMap((one, index) => walk(one, `${at}[${index}]`))
    if (typeof each !== 'object' || each === null) return []
    return Object.entries(each).flatMap(([name, inner]) => [
      ...(known.has(name) ? [] : [`${at}.${name} is no field`]),
      ...(FREE.includes(name) ? [] : walk(inner, `${at}.${name}`)),
    ])
  }
  return walk(value, path)
}

/** The pod template of any object that makes pods, including a CronJob. */
export const templateOf = ({ spec }: Manifest): any => spec?.template ?? spec?.jobTemplate?.spec?.template
export const podOf = (manifest: Manifest): any => templateOf(manifest)?.spec
export const containersOf = (manifest: Manifest): any[] => podOf(manifest)?.containers ?? []

/** Returns the violations of the Pod Security Standard `restricted`. */
export function breachesOf(manifest: Manifest): string[] {
  const pod = podOf(manifest)
  if (!pod) return []
  const rules: [boolean, string][] = [
    [pod.securityContext?.runAsNonRoot === true && pod.securityContext.runAsUser > 0, 'runs as root'],
    [pod.securityContext?.seccompProfile?.type === 'RuntimeDefault', 'has no seccomp profile'],
    [!(pod.hostNetwork || pod.hostPID || pod.hostIPC), 'shares namespaces of the host'],
    [(pod.volumes ?? []).every((volume: object) => !('hostPath' in volume)), 'mounts a folder of the host'],
    ...containersOf(manifest).flatMap(({ name, securityContext, ports = [] }): [boolean, string][] => [
      [securityContext?.allowPrivilegeEscalation === false, `${name} may gain privileges`],
      [securityContext?.capabilities?.drop?.includes('ALL') ?? false, `${name} keeps capabilities`],
      [!securityContext?.capabilities?.add, `${name} adds capabilities`],
      [securityContext?.privileged !== true, `${name} is privileged`],
      [securityContext?.readOnlyRootFilesystem === true, `${name} can write to its own files`],
      [ports.every((port: object) => !('hostPort' in port)), `${name} takes a port of the host`],
    ]),
  ]
  return rules.flatMap(([isKept, breach]) => (isKept ? [] : [breach]))
}
