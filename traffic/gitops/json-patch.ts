import { isDeepStrictEqual } from 'node:util'
import type { JsonPatchOperation } from '../model/ingress.ts'

type Fields = Record<string, unknown>

const partsOf = (pointer: string): readonly string[] =>
  pointer
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))

/** Applies the operations. Throws with a reason if one does not fit, as every tool that applies them does. */
export function applyJsonPatch<T>(object: T, operations: readonly JsonPatchOperation[]): T {
  const next = structuredClone(object)
  for (const { op, path, value } of operations) {
    const parts = partsOf(path)
    const last = parts.at(-1)
    const parent = parts.slice(0, -1).reduce<unknown>((node, key) => ownOf(node, key), next) as Fields | unknown[]
    if (last === undefined || typeof parent !== 'object' || parent === null) throw new Error(`there is no ${path}`)
    const isThere = ownOf(parent, last) !== undefined
    if (op === 'test' && !isDeepStrictEqual(ownOf(parent, last), value))
      throw new Error(`${path} is ${JSON.stringify(ownOf(parent, last))}, not ${JSON.stringify(value)}`)
    if ((op === 'replace' || op === 'remove') && !isThere) throw new Error(`there is no ${path}`)
    if (!['test', 'add', 'replace', 'remove'].includes(op)) throw new Error(`the operation ${op} is not known here`)
    if (op === 'test') continue
    if (Array.isArray(parent)) {
      const index = last === '-' ? parent.length : Number(last)
      if (op === 'remove') parent.splice(index, 1)
      else parent.splice(index, op === 'replace' ? 1 : 0, structuredClone(value))
    } else if (op === 'remove') delete parent[last]
    else parent[last] = structuredClone(value)
  }
  return next
}

const ownOf = (node: unknown, key: string): unknown =>
  typeof node === 'object' && node !== null && Object.hasOwn(node, key) ? (node as Fields)[key] : undefined

/** Applies a merge patch, in which null removes. Every list of an Ingress is replaced as a whole, so this is also the strategic merge. */
export function applyMergePatch(before: unknown, patch: unknown): unknown {
  if (typeof patch !== 'object' || patch === null || Array.isArray(patch)) return structuredClone(patch)
  const isMap = typeof before === 'object' && before !== null && !Array.isArray(before)
  const merged = new Map<string, unknown>(isMap ? Object.entries(before) : [])
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) merged.delete(key)
    else merged.set(key, applyMergePatch(merged.get(key), value))
  }
  return Object.fromEntries(merged)
}
