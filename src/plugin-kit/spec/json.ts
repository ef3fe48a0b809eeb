import type { RawRecord } from '../../database/table.ts'

export { parseExactBytes } from '../../database/exact-json.ts'

/** The parts of `value` that `shape` names, in the order of `shape`. The values in `shape` replace missing ones. */
export function pick(shape: Readonly<Record<string, RawRecord>>, value: RawRecord): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(shape).map(([name, fallback]) =>
      fallback !== null && typeof fallback === 'object' && !Array.isArray(fallback)
        ? [name, pick(fallback, value?.[name])]
        : [name, value?.[name] ?? fallback],
    ),
  )
}

/** JSON text of a free-form object with sorted keys, so that equal objects give equal text; '' for none. */
export function sortedJson(value: unknown): string {
  return value === undefined || value === null ? '' : JSON.stringify(sorted(value))
}
const sorted = (value: RawRecord): unknown => {
  if (Array.isArray(value)) return value.map(sorted)
  if (value === null || typeof value !== 'object') return value
  return Object.fromEntries(
    Object.keys(value)
      .sort()
      .map((name) => [name, sorted(value[name])]),
  )
}

/** Returns the value at a path in a raw record. Paths go through objects and lists (`users.0.name`). */
export function valueAt(record: RawRecord, path: string): unknown {
  if (!path.includes('.')) return record?.[path]
  return path.split('.').reduce((value, part) => value?.[part], record)
}

/** Records that DevLake collected use names as in Go: CommitOid, ID. */
export function camelKeys(value: RawRecord): RawRecord {
  if (Array.isArray(value)) return value.map(camelKeys)
  if (value === null || typeof value !== 'object') return value
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [
      /^[A-Z]+$/.test(name) ? name.toLowerCase() : name.charAt(0).toLowerCase() + name.slice(1),
      camelKeys(inner),
    ]),
  )
}
