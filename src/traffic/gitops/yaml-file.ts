/** Changes YAML files and leaves comments, order and everything else as it is. */
import { type Document, isMap, isPair, isSeq, Scalar } from 'yaml'
import { besideAnswers } from '../../basics/answering.ts'
import { parseYaml } from '../../basics/yaml.ts'
import { TrafficError } from '../model/finding.ts'

type Path = readonly (string | number)[]
export interface ObjectName {
  readonly kind: string
  readonly name: string
  readonly namespace?: string | undefined
}

interface YamlFile {
  readonly text: string
  readonly documents: readonly Document.Parsed[]
}

/** A file of this length takes a quarter of a second to read; manifests that people write have a hundredth of it. */
const LONGEST_FILE = 500_000

/** Reads a file of a repository that an operator named. It is short, so a step of a switch reads it without another thread. */
export function readYamlFile(place: string, text: string): YamlFile {
  if (text.length > LONGEST_FILE) {
    const message = `${place} has more than ${LONGEST_FILE} characters: put what the switch changes into a file of its own.`
    throw new TrafficError('conflict', `${message} Nothing was committed.`)
  }
  const { documents } = besideAnswers(() => parseYaml(text))
  const broken = documents.find(({ errors }) => errors.length > 0)?.errors[0]
  if (broken !== undefined)
    throw new TrafficError('conflict', `${place} is not YAML: ${broken.message.split('\n')[0]}. Nothing was committed.`)
  return { text, documents }
}

/** An object without a namespace belongs to whichever namespace the tool applies it to. */
export const isObject = (value: unknown, { kind, name, namespace }: ObjectName): boolean => {
  const object = value as { kind?: unknown; metadata?: { name?: unknown; namespace?: unknown } } | null | undefined
  if (typeof object !== 'object' || object === null || object.kind !== kind || object.metadata?.name !== name)
    return false
  const own = object.metadata.namespace
  return own === undefined || namespace === undefined || own === namespace
}

export const findDocument = ({ documents }: YamlFile, wanted: ObjectName): Document.Parsed | undefined =>
  documents.find((document) => isObject(plainValue(document), wanted))

export function plainValue(document: Document.Parsed): unknown {
  try {
    return document.toJS()
  } catch {
    return undefined
  }
}

/** Puts texts in single quotes, because JSON is full of double ones. */
function nodeOf(document: Document, value: unknown): unknown {
  const node = document.createNode(value, { aliasDuplicateObjects: false })
  if (node instanceof Scalar && typeof value === 'string') node.type = Scalar.QUOTE_SINGLE
  return node
}

export function setIn(document: Document, path: Path, value: unknown): void {
  for (let length = 1; length < path.length; length++) {
    const above = path.slice(0, length)
    if (document.getIn(above) === null || document.getIn(above) === undefined)
      document.setIn(above, document.createNode({}))
  }
  document.setIn(path, nodeOf(document, value))
}

/** Also removes the parents that become empty, except the first `kept` levels of the path. */
export function removeIn(document: Document, path: Path, kept: number): void {
  document.deleteIn(path)
  for (let length = path.length - 1; length > kept; length--) {
    const above = document.getIn(path.slice(0, length))
    if (!(isMap(above) || isSeq(above)) || above.items.length > 0) return
    document.deleteIn(path.slice(0, length))
  }
}

/** Tells whether lists begin in the column of their keys, without indentation, as in most manifests. */
function hasFlatLists(text: string, contents: unknown): boolean {
  const waiting: unknown[] = [contents]
  for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
    if (isMap(node)) {
      for (const { key, value } of node.items) {
        const at = (key as { range?: readonly number[] | null } | null)?.range?.[0]
        if (isSeq(value) && !value.flow && value.range && at !== undefined)
          return columnOf(text, value.range[0]) <= columnOf(text, at)
        waiting.push(value)
      }
    } else if (isSeq(node)) for (const item of node.items) waiting.push(isPair(item) ? item.value : item)
  }
  return false
}
const columnOf = (text: string, offset: number): number => offset - (text.lastIndexOf('\n', offset - 1) + 1)

/** The file with one document as it is now; the others stay as they were, byte for byte. */
export function withDocument({ text, documents }: YamlFile, changed: Document.Parsed): string {
  const start = documents[0] === changed ? 0 : changed.range[0]
  return text.slice(0, start) + printed(text, changed) + text.slice(changed.range[2])
}

function printed(text: string, document: Document.Parsed): string {
  const own = text.slice(document.range[0], document.range[2])
  const isTight = /[:-] \{\S/.test(own)
  const indentSeq = !hasFlatLists(text, document.contents)
  return document.toString({ lineWidth: 0, indentSeq, flowCollectionPadding: !isTight })
}

/** The file without one of its documents; null if nothing is left. */
export function withoutDocument({ text, documents }: YamlFile, removed: Document.Parsed): string | null {
  if (documents.length === 1) return null
  const rest = text.slice(0, documents[0] === removed ? 0 : removed.range[0]) + text.slice(removed.range[2])
  return rest.startsWith('---\n') && !text.startsWith('---\n') ? rest.slice(4) : rest
}
