/** Plain manifests: files that a tool applies as they are. */
import { posix } from 'node:path'
import type { Document } from 'yaml'
import { stringify } from 'yaml'
import type { Ingress } from '../model/manifests.ts'
import { editOfBranch } from './branch-edit.ts'
import { type Form, type FormSettings, missingObject, nameOf } from './form.ts'
import type { Changes, Tree } from './repository.ts'
import {
  findDocument,
  type ObjectName,
  plainValue,
  readYamlFile,
  removeIn,
  setIn,
  withDocument,
  withoutDocument,
} from './yaml-file.ts'

interface Found {
  readonly path: string
  readonly file: ReturnType<typeof readYamlFile>
  readonly document: Document.Parsed
}

const NONE: Changes = new Map()
const isYaml = (path: string): boolean => /\.ya?ml$/.test(path)

export const printObject = (object: unknown): string =>
  stringify(object, { lineWidth: 0, aliasDuplicateObjects: false, singleQuote: true })

export function manifestForm(settings: FormSettings): Form {
  const { path, where } = settings
  const files = async (tree: Tree): Promise<readonly string[]> =>
    isYaml(path) ? [path] : (await tree.list(path)).filter(isYaml)

  async function find(tree: Tree, wanted: ObjectName, extra: readonly string[] = []): Promise<Found | undefined> {
    let unread: unknown
    for (const each of new Set([...(await files(tree)), ...extra])) {
      const text = await tree.read(each)
      if (text?.includes(wanted.kind) !== true || !text.includes(wanted.name)) continue
      try {
        const file = readYamlFile(`${each} of ${where}`, text)
        const document = findDocument(file, wanted)
        if (document !== undefined) return { path: each, file, document }
      } catch (error) {
        // A template, or somebody else's mistake. It is reported only if nothing better is found, because it may be the wanted file.
        unread ??= error
      }
    }
    if (unread !== undefined) throw unread
    return undefined
  }
  const require = async (tree: Tree, wanted: ObjectName): Promise<Found> => {
    const found = await find(tree, wanted)
    if (found === undefined) throw missingObject(settings, wanted)
    return found
  }
  const bindingPath = (name: string): string => {
    const folder = isYaml(path) ? posix.dirname(path) : path
    return settings.bindingPath ?? posix.join(folder, `weir-${name}.yaml`)
  }
  const placeFor = ({ kind, name }: ObjectName): string => {
    if (kind !== 'Ingress') return bindingPath(name)
    return isYaml(path) ? path : posix.join(path, `weir-${name}-ingress.yaml`)
  }

  return {
    async annotations(tree, wanted) {
      const found = await find(tree, wanted)
      return found && ((plainValue(found.document) as Ingress).metadata.annotations ?? {})
    },
    async ingress(tree, wanted) {
      const found = await find(tree, wanted)
      return found && (plainValue(found.document) as Ingress)
    },
    async change(tree, live, edit, overridesDrift) {
      const found = await require(tree, nameOf(live))
      const inBranch = plainValue(found.document) as Ingress
      const place = `Ingress ${live.metadata.name} in ${found.path} of ${where}`
      const { annotations, backends } = editOfBranch(place, inBranch, live, edit, overridesDrift)
      if (annotations.length + backends.length === 0) return NONE
      for (const { key, after } of annotations) {
        const at = ['metadata', 'annotations', key]
        if (after === undefined) removeIn(found.document, at, 1)
        else setIn(found.document, at, after)
      }
      for (const each of backends) setIn(found.document, each.path, each.after)
      return new Map([[found.path, withDocument(found.file, found.document)]])
    },
    async put(tree, object) {
      const wanted = nameOf(object)
      const place = placeFor(wanted)
      const found = await find(tree, wanted, [place])
      const text = printObject(object)
      if (found === undefined) {
        const before = await tree.read(place)
        return new Map([[place, before === undefined ? text : `${before.trimEnd()}\n---\n${text}`]])
      }
      if (printObject(plainValue(found.document)) === text) return NONE
      if (found.file.documents.length === 1) return new Map([[found.path, text]])
      found.document.contents = found.document.createNode(object) as never
      return new Map([[found.path, withDocument(found.file, found.document)]])
    },
    async remove(tree, wanted) {
      const found = await find(tree, wanted, [placeFor(wanted)])
      return found === undefined ? NONE : new Map([[found.path, withoutDocument(found.file, found.document)]])
    },
  }
}
