import { isDeepStrictEqual } from 'node:util'
import { TrafficError } from '../model/finding.ts'
import { type IngressEdit, placeKey, sameBackend } from '../model/ingress.ts'
import { backendsOf, type Ingress } from '../model/manifests.ts'
import { describeValue, textOf } from '../model/names.ts'
import { skipping } from '../model/words.ts'

const parsed = (value: unknown): unknown => {
  if (typeof value !== 'string') return value
  try {
    return JSON.parse(value)
  } catch {
    return value
  }
}
/** Values are the same if they mean the same, even as differently written JSON. */
export const isSameValue = (left: unknown, right: unknown): boolean => isDeepStrictEqual(parsed(left), parsed(right))

/** Refuses what somebody wrote into the repository and neither the cluster nor Weir knows of. */
export function refuseHandWork(place: string, problems: readonly string[]): void {
  if (problems.length === 0) return
  throw new TrafficError(
    'conflict',
    `${place} was edited by hand: ${problems.join('; ')}.\nNothing was committed. Put it back, wait until the cluster shows it, repeat with ${skipping('acceptLive')} to write over it, or roll back.`,
  )
}

/** Translates an edit of the live Ingress for the Ingress of a branch, which may have the edit already. */
export function editOfBranch(
  place: string,
  inBranch: Ingress,
  live: Ingress,
  edit: IngressEdit,
  overridesDrift: boolean,
): IngressEdit {
  const problems: string[] = []
  const annotations = annotationsOfBranch(inBranch.metadata.annotations ?? {}, edit, problems)
  const places = new Map(backendsOf(inBranch).map((placed) => [placeKey(inBranch, placed), placed]))
  const backends = edit.backends.flatMap(({ path, before, after }) => {
    const key = placeKey(live, { path })
    const placed = places.get(key)
    if (placed === undefined) {
      problems.push(`it has no path ${key}, which the live Ingress has`)
      return []
    }
    if (sameBackend(placed.backend, after)) return []
    if (!sameBackend(placed.backend, before)) problems.push(`path ${key} leads to ${describeValue(placed.backend)}`)
    return [{ path: placed.path, before: placed.backend, after }]
  })
  if (!overridesDrift) refuseHandWork(place, problems)
  return { annotations, backends }
}

export function annotationsOfBranch(
  found: Readonly<Record<string, unknown>>,
  edit: IngressEdit,
  problems: string[],
): IngressEdit['annotations'] {
  return edit.annotations.flatMap(({ key, before, after }) => {
    const value = found[key]
    if (isSameValue(value, after)) return []
    if (!isSameValue(value, before))
      problems.push(`${key} is ${describeValue(value)}, the cluster has ${describeValue(before)}`)
    return [{ key, before: value === undefined ? undefined : textOf(value), after }]
  })
}
