/** A kustomization: Weir adds one patch beside what is there, and a resource for the binding. */
import { posix } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { isMap, isSeq } from 'yaml'
import { FatalError } from '../core.ts'
import { TrafficError } from '../model/finding.ts'
import { applyEdit, type IngressEdit, patchOf, sameBackend } from '../model/ingress.ts'
import { backendsOf, type Ingress } from '../model/manifests.ts'
import { editOfBranch } from './branch-edit.ts'
import { type Form, type FormSettings, missingObject, nameOf } from './form.ts'
import { applyJsonPatch } from './json-patch.ts'
import { builtIngress, kustomizationFile } from './kustomization.ts'
import { printObject } from './manifest-form.ts'
import type { Changes, Tree } from './repository.ts'
import { readYamlFile, removeIn, setIn, withDocument } from './yaml-file.ts'

const NONE: Changes = new Map()

/** The edit that turns one Ingress into the other, in places that both have. */
function editBetween(base: Ingress, wanted: Ingress): IngressEdit {
  const [before, after] = [base.metadata.annotations ?? {}, wanted.metadata.annotations ?? {}]
  const keys = [...new Set([...Object.keys(before), ...Object.keys(after)])].filter((key) => before[key] !== after[key])
  const placed = backendsOf(wanted)
  return {
    annotations: keys.map((key) => ({
      key,
      before: before[key] as string | undefined,
      after: after[key] as string | undefined,
    })),
    backends: backendsOf(base).flatMap(({ path, backend }, index) => {
      const next = placed[index]!.backend
      return sameBackend(backend, next) ? [] : [{ path, before: backend, after: next }]
    }),
  }
}

export function kustomizeForm(settings: FormSettings): Form {
  const { path: folder, where, name } = settings
  const patchName = (ingress: string): string => `weir-${name}-${ingress}.yaml`
  const patchPath = (ingress: string): string => posix.join(folder, patchName(ingress))
  const bindingName = (binding: string): string => `weir-${binding}.yaml`

  async function open(tree: Tree) {
    const found = await kustomizationFile(tree, folder)
    if (found === undefined)
      throw new TrafficError(
        'conflict',
        `There is no kustomization in ${folder} of ${where}. Nothing was committed. Correct the path in gitops.`,
      )
    const file = readYamlFile(`${found.path} of ${where}`, found.text)
    const document = file.documents[0]
    if (file.documents.length !== 1 || !isMap(document?.contents))
      throw new TrafficError('conflict', `${found.path} of ${where} is no kustomization. Nothing was committed.`)
    return { path: found.path, file, document: document! }
  }
  type Opened = Awaited<ReturnType<typeof open>>

  const indexIn = ({ document }: Opened, key: string, isWanted: (value: unknown) => boolean): number => {
    const node = document.getIn([key])
    const values = isSeq(node) ? (node.toJSON() as unknown[]) : []
    return values.findIndex(isWanted)
  }
  /** The kustomization with or without an entry of a list; undefined if nothing has to change. */
  function withEntry(opened: Opened, key: string, isWanted: (value: unknown) => boolean, entry?: unknown) {
    const index = indexIn(opened, key, isWanted)
    if ((index === -1) === (entry === undefined)) return undefined
    if (entry === undefined) removeIn(opened.document, [key, index], 0)
    else if (isSeq(opened.document.getIn([key]))) opened.document.addIn([key], opened.document.createNode(entry))
    else setIn(opened.document, [key], [entry])
    return [opened.path, withDocument(opened.file, opened.document)] as const
  }
  const isOwnPatch = (ingress: string) => (value: unknown) =>
    (value as { path?: unknown } | null)?.path === patchName(ingress)
  const require = async (tree: Tree, live: Ingress, skipped?: string): Promise<Ingress> => {
    const found = await builtIngress(tree, folder, nameOf(live), skipped)
    if (found === undefined) throw missingObject(settings, nameOf(live))
    return found
  }

  return {
    async annotations(tree, wanted) {
      await open(tree)
      const found = await builtIngress(tree, folder, wanted)
      return found && (found.metadata.annotations ?? {})
    },
    async ingress(tree, wanted) {
      await open(tree)
      return builtIngress(tree, folder, wanted)
    },
    async change(tree, live, edit, overridesDrift) {
      const opened = await open(tree)
      const ingress = live.metadata.name
      const [inBranch, base] = [await require(tree, live), await require(tree, live, patchPath(ingress))]
      const place = `Ingress ${ingress} in ${folder} of ${where}`
      const ownEdit = editOfBranch(place, inBranch, live, edit, overridesDrift)
      if (ownEdit.annotations.length + ownEdit.backends.length === 0) return NONE
      const wanted = applyEdit(inBranch, ownEdit)
      const operations = patchOf(base, editBetween(base, wanted))
      // Nobody else looks at the patch before the cluster gets it.
      if (!isDeepStrictEqual(sorted(applyJsonPatch(base, operations)), sorted(wanted)))
        throw new FatalError(`The patch for ${place} does not give what was wanted. Nothing was committed.`)
      const isNeeded = operations.length > 0
      const target = { group: 'networking.k8s.io', version: 'v1', kind: 'Ingress', name: ingress }
      const entry = { path: patchName(ingress), target }
      const listed = withEntry(opened, 'patches', isOwnPatch(ingress), isNeeded ? entry : undefined)
      const text = isNeeded ? printObject(operations) : null
      return new Map([[patchPath(ingress), text], ...(listed === undefined ? [] : [listed])])
    },
    async put(tree, object) {
      if (object.kind === 'Ingress') throw missingObject(settings, nameOf(object))
      const opened = await open(tree)
      const file = bindingName(object.metadata.name)
      const path = posix.join(folder, file)
      const listed = withEntry(opened, 'resources', (value) => value === file, file)
      const text = printObject(object)
      return new Map([
        ...((await tree.read(path)) === text ? [] : [[path, text] as const]),
        ...(listed === undefined ? [] : [listed]),
      ])
    },
    async remove(tree, wanted) {
      if (wanted.kind === 'Ingress') throw missingObject(settings, wanted)
      const opened = await open(tree)
      const file = bindingName(wanted.name)
      const path = posix.join(folder, file)
      const listed = withEntry(opened, 'resources', (value) => value === file)
      return new Map([
        ...((await tree.read(path)) === undefined ? [] : [[path, null] as const]),
        ...(listed === undefined ? [] : [listed]),
      ])
    },
  }
}

/** Sorts the annotations, because their order has no meaning. */
const sorted = (ingress: Ingress): Ingress => ({
  ...ingress,
  metadata: {
    ...ingress.metadata,
    annotations: Object.fromEntries(
      Object.entries(ingress.metadata.annotations ?? {}).toSorted(([left], [right]) => (left < right ? -1 : 1)),
    ),
  },
})
