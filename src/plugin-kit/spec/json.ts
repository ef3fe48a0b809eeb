import type { RawRecord } from '../../database/table.ts'

export { parseExactBytes } from '../../database/exact-json.ts'

/** The parts of `value` that `shape` names, in its order; its values stand in for what is missing. */
export function pick(shape: Readonly<Record<string, RawRecord>>, value: RawRecord): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(shape).map(([name, fallback]) =>
      fallback !== null && typeof fallback === 'object' && !Array.isArray(fallback)
        ? [name, pick(fallback, value?.[name])]
        : [name, value?.[name] ?? fallback],
    ),
  )
}

/** JSON text of a free-form object with its keys sorted, so that equal objects give equal text; '' for none. */
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

/** What a column's source finds in a raw record. Paths walk objects and lists (`users.0.name`). */
export function valueAt(record: RawRecord, path: string): unknown {
  if (!path.includes('.')) return record?.[path]
  return path.split('.').reduce((value, part) => value?.[part], record)
}
