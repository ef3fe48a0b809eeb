import { ANNOTATION_PREFIX } from '../model/action.ts'
import { TrafficError } from '../model/finding.ts'
import { objectName } from '../model/manifests.ts'
import { textOf } from '../model/names.ts'
import { pathText, type SideName } from '../model/plan.ts'
import { readYaml } from '../model/yaml.ts'

interface Difference {
  readonly object: string
  readonly path: string
  readonly before: unknown
  readonly after: unknown
}

/** Fields that the API server, the controller or kubectl write, never people. */
const IGNORED_METADATA = new Set([
  'resourceVersion',
  'uid',
  'creationTimestamp',
  'generation',
  'managedFields',
  'finalizers',
  'selfLink',
])
const IGNORED_ANNOTATION = /^(?:elbv2\.k8s\.aws\/checkpoint.*|kubectl\.kubernetes\.io\/last-applied-configuration)$/
/** The controller's webhook fills these in when a binding is created without them. */
const FILLED_BY_WEBHOOK = ['targetType', 'ipAddressType', 'vpcID', 'targetGroupProtocol']
const JSON_ANNOTATION = new RegExp(`^${ANNOTATION_PREFIX.replaceAll('.', '\\.')}(?:actions|conditions|transforms)\\.`)

// biome-ignore lint/suspicious/noExplicitAny: manifests of any kind
type Fields = Record<string, any>

/** The real differences between two sets of manifests; JSON in annotations is compared key by key. */
export const diffManifests = (before: string, after: string): readonly Difference[] =>
  diffObjects(objectsIn(before), objectsIn(after))

export function diffObjects(before: readonly Fields[], after: readonly Fields[]): readonly Difference[] {
  const [left, right] = [before, after].map(named) as [ReadonlyMap<string, Fields>, ReadonlyMap<string, Fields>]
  return [...new Set([...left.keys(), ...right.keys()])].flatMap((name) => {
    const [one, other] = [left.get(name), right.get(name)]
    if (one === undefined || other === undefined) {
      return [
        {
          object: name,
          path: '',
          before: one === undefined ? undefined : 'present',
          after: other === undefined ? undefined : 'present',
        },
      ]
    }
    return compare(meaning(one, other), meaning(other, one), '').map((item) => ({ object: name, ...item }))
  })
}

type Sides = Readonly<Record<SideName, string>>

/** The differences in both clusters; a side that either set leaves out is not compared. */
export const diffSides = (before: Sides, after: Sides): readonly Difference[] =>
  (['current', 'target'] as const)
    .filter((side) => before[side] !== '' && after[side] !== '')
    .flatMap((side) =>
      diffManifests(before[side], after[side]).map((item) => ({ ...item, object: `${side} ${item.object}` })),
    )

export const describeDifference = ({ object, path, before, after }: Difference): string =>
  `${object}${path === '' ? '' : ` ${path}`}: ${text(before)} → ${text(after)}`

const text = (value: unknown): string =>
  value === undefined ? '(none)' : typeof value === 'string' ? value : JSON.stringify(value)

const named = (objects: readonly Fields[]): ReadonlyMap<string, Fields> =>
  new Map(objects.map((object) => [objectName(object), object]))

function objectsIn(yaml: string): readonly Fields[] {
  const objects = readYaml(yaml).flatMap((document) => {
    if ('problem' in document) {
      const { line, message } = document.problem
      throw new TrafficError('invalid', `Cannot compare: line ${line}: ${message}`, { findings: [document.problem] })
    }
    const value = document.value as Fields
    return value?.kind === 'List' || Array.isArray(value?.items) ? (value.items as Fields[]) : [value]
  })
  return objects.filter((object) => typeof object?.kind === 'string')
}

function meaning(object: Fields, other: Fields): Fields {
  const { status: _status, metadata = {}, ...rest } = object
  const annotations: Fields = {}
  for (const [key, value] of Object.entries(metadata.annotations ?? {})) {
    if (!IGNORED_ANNOTATION.test(key)) annotations[key] = JSON_ANNOTATION.test(key) ? parsed(value) : value
  }
  const kept = Object.fromEntries(Object.entries(metadata).filter(([key]) => !IGNORED_METADATA.has(key)))
  const spec = { ...rest.spec }
  if (object.kind === 'TargetGroupBinding') {
    for (const field of FILLED_BY_WEBHOOK) if (other.spec?.[field] === undefined) delete spec[field]
  }
  return { ...rest, ...(rest.spec === undefined ? {} : { spec }), metadata: { ...kept, annotations } }
}

function parsed(value: unknown): unknown {
  try {
    return JSON.parse(textOf(value))
  } catch {
    return value
  }
}

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Entries of a forward action are the same if they name the same group, whatever their order. */
const identity = (item: unknown): string | undefined =>
  isFields(item)
    ? (item.targetGroupARN ?? item.targetGroupName ?? (item.serviceName && `${item.serviceName}:${item.servicePort}`))
    : undefined

/** Every leaf in which two values differ. */
export function compare(before: unknown, after: unknown, path: string): readonly Omit<Difference, 'object'>[] {
  if (
    Array.isArray(before) &&
    Array.isArray(after) &&
    [...before, ...after].every((item) => identity(item) !== undefined)
  ) {
    return compare(byIdentity(before), byIdentity(after), path)
  }
  if ((isFields(before) && isFields(after)) || (Array.isArray(before) && Array.isArray(after))) {
    const [left, right] = [before as Fields, after as Fields]
    return [...new Set([...Object.keys(left), ...Object.keys(right)])].flatMap((key) =>
      compare(left[key], right[key], below(path, Array.isArray(before) ? Number(key) : key)),
    )
  }
  return before === after ? [] : [{ path, before, after }]
}

const below = (path: string, key: string | number): string => {
  const part = pathText([key])
  return path === '' || part.startsWith('[') ? `${path}${part}` : `${path}.${part}`
}

const byIdentity = (items: readonly unknown[]): Fields =>
  Object.fromEntries(items.map((item) => [identity(item), item]))
