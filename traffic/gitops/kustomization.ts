/** Works out what a kustomization makes of an Ingress, as far as the files of the repository show it. */
import { posix } from 'node:path'
import { messageOf } from '../core.ts'
import { TrafficError } from '../model/finding.ts'
import type { JsonPatchOperation } from '../model/ingress.ts'
import type { Ingress } from '../model/manifests.ts'
import { applyJsonPatch, applyMergePatch } from './json-patch.ts'
import type { Tree } from './repository.ts'
import { isObject, type ObjectName, plainValue, readYamlFile } from './yaml-file.ts'

const FILE_NAMES = ['kustomization.yaml', 'kustomization.yml', 'Kustomization']
const DEEPEST = 10

interface Target {
  readonly kind?: unknown
  readonly name?: unknown
  readonly namespace?: unknown
  readonly labelSelector?: unknown
  readonly annotationSelector?: unknown
}
interface Patch {
  readonly path?: string
  readonly patch?: string
  readonly target?: Target
}
interface Kustomization {
  readonly resources?: readonly string[]
  readonly bases?: readonly string[]
  readonly components?: readonly string[]
  readonly patches?: readonly Patch[]
  readonly patchesStrategicMerge?: readonly string[]
  readonly patchesJson6902?: readonly Patch[]
  readonly commonAnnotations?: Readonly<Record<string, string>>
  readonly namePrefix?: string
  readonly nameSuffix?: string
}

export async function kustomizationFile(
  tree: Tree,
  folder: string,
): Promise<{ path: string; text: string } | undefined> {
  for (const name of FILE_NAMES) {
    const path = posix.join(folder, name)
    const text = await tree.read(path)
    if (text !== undefined) return { path, text }
  }
  return undefined
}

const isRemote = (resource: string): boolean => /:\/\/|^[\w.-]+@|^github\.com\/|\?ref=/.test(resource)
const list = <T>(value: readonly T[] | undefined): readonly T[] => (Array.isArray(value) ? value : [])

const cannotTell = (path: string, reason: string): TrafficError =>
  new TrafficError(
    'conflict',
    `What ${path} makes of the Ingress cannot be told: ${reason}. Nothing was committed. Let gitops lead to the kustomization that has the Ingress without it.`,
  )

/** The Ingress that the folder yields; `skipped` is a patch file to leave out. */
export async function builtIngress(
  tree: Tree,
  folder: string,
  wanted: ObjectName,
  skipped?: string,
  depth = 0,
): Promise<Ingress | undefined> {
  const file = await kustomizationFile(tree, folder)
  if (file === undefined || depth > DEEPEST) return undefined
  const content = (plainValue(readYamlFile(file.path, file.text).documents[0]!) ?? {}) as Kustomization
  let found: Ingress | undefined
  for (const resource of [...list(content.resources), ...list(content.bases)]) {
    if (typeof resource !== 'string' || isRemote(resource)) continue
    const path = posix.join(folder, resource)
    if (path.startsWith('..')) continue
    found ??= (await inFile(tree, path, wanted)) ?? (await builtIngress(tree, path, wanted, skipped, depth + 1))
  }
  if (found === undefined) return undefined
  if (content.namePrefix || content.nameSuffix) throw cannotTell(file.path, 'it changes names')
  if (list(content.components).length > 0) throw cannotTell(file.path, 'it uses components')
  for (const patch of patchesOf(content)) {
    if (skipped !== undefined && patch.path !== undefined && posix.join(folder, patch.path) === skipped) continue
    found = await patched(tree, folder, file.path, found, wanted, patch)
  }
  if (content.commonAnnotations !== undefined)
    found = applyMergePatch(found, { metadata: { annotations: content.commonAnnotations } }) as Ingress
  return found
}

/** All patches, in the order in which they are applied. */
const patchesOf = (content: Kustomization): readonly Patch[] => [
  ...list(content.patches),
  ...list(content.patchesStrategicMerge).map((text) => (text.includes('\n') ? { patch: text } : { path: text })),
  ...list(content.patchesJson6902),
]

async function inFile(tree: Tree, path: string, wanted: ObjectName): Promise<Ingress | undefined> {
  const text = /\.(?:ya?ml|json)$/.test(path) ? await tree.read(path) : undefined
  if (text === undefined) return undefined
  return readYamlFile(path, text)
    .documents.map(plainValue)
    .find((value) => isObject(value, wanted)) as Ingress | undefined
}

async function patched(
  tree: Tree,
  folder: string,
  place: string,
  ingress: Ingress,
  wanted: ObjectName,
  { path, patch, target }: Patch,
): Promise<Ingress> {
  if (target !== undefined && !isMeant(place, target, wanted)) return ingress
  const text = patch ?? (path === undefined ? undefined : await tree.read(posix.join(folder, path)))
  if (text === undefined) throw cannotTell(place, `there is no patch ${path ?? ''}`)
  const values = readYamlFile(path ?? place, text).documents.map(plainValue)
  let next = ingress
  for (const value of values) {
    if (Array.isArray(value)) {
      try {
        next = applyJsonPatch(next, value as JsonPatchOperation[])
      } catch (error) {
        throw cannotTell(place, `patch ${path ?? ''} does not fit: ${messageOf(error)}`)
      }
      continue
    }
    if (target === undefined && !isObject(value, wanted)) continue
    if (JSON.stringify(value ?? {}).includes('"$patch"')) throw cannotTell(place, `patch ${path ?? ''} has a directive`)
    next = applyMergePatch(next, value) as Ingress
  }
  return next
}

/** Names of patch targets are patterns; anything more than a plain name is refused here. */
function isMeant(place: string, target: Target, { kind, name, namespace }: ObjectName): boolean {
  if (target.kind !== undefined && target.kind !== kind) return false
  if (target.labelSelector !== undefined || target.annotationSelector !== undefined)
    throw cannotTell(place, 'a patch selects by labels or annotations')
  if (target.namespace !== undefined && namespace !== undefined && target.namespace !== namespace) return false
  if (target.name === undefined || target.name === name) return true
  if (/^[\w.-]+$/.test(String(target.name))) return false
  throw cannotTell(place, `a patch is for names like ${String(target.name)}`)
}
