/** Reads rows of other tables that an entity needs by key: small tables once per run, large ones batch by batch. */

import { createHash } from 'node:crypto'
import { byName } from '../../basics/by-name.ts'
import type { Database } from '../../database/database.ts'
import { withoutEndSpaces } from '../../database/fit.ts'
import { readAll, readRows, type Where } from '../../database/read.ts'
import type { AnyTable, RawRecord } from '../../database/table.ts'
import { common, type RowOf } from '../../database/table.ts'
import type { AnyScope } from './fields.ts'

interface Lookup<T extends AnyTable = AnyTable> {
  readonly table: T
  /** The column with the keys. */
  readonly by: string
  /** The keys that one record needs; absent for a small table that is read whole, once per run. */
  readonly of?: (record: RawRecord) => unknown
  /** Further conditions besides the connection. */
  readonly where?: (scope: AnyScope) => Where
  /** Several rows may share a key: all of them are returned, in key order. */
  readonly isMany?: boolean
}
export type Lookups = Readonly<Record<string, Lookup>>
export type Found<L extends Lookups> = {
  readonly [Name in keyof L]: L[Name] extends Lookup<infer T>
    ? ReadonlyMap<unknown, L[Name] extends { isMany: true } ? readonly RowOf<T>[] : RowOf<T>>
    : never
}

/** A small table, read once per run: statuses, types, fields. */
export const wholeTable = <T extends AnyTable>(
  table: T,
  by: keyof RowOf<T> & string,
  where?: (scope: AnyScope) => Where,
): Lookup<T> => ({
  table,
  by,
  ...(where && { where }),
})
/** A large table; `of` names the key (or list of keys) that one record needs. */
export const byKey = <T extends AnyTable>(
  table: T,
  by: keyof RowOf<T> & string,
  of: (record: RawRecord) => unknown,
  where?: (scope: AnyScope) => Where,
): Lookup<T> => ({ table, by, of, ...(where && { where }) })
/** Like `byKey`, for a table in which several rows share the key. */
export const manyByKey = <T extends AnyTable>(
  table: T,
  by: keyof RowOf<T> & string,
  of: (record: RawRecord) => unknown,
): Lookup<T> & { readonly isMany: true } => ({ ...byKey(table, by, of), isMany: true })

interface Task {
  readonly database: Database
  readonly connectionId: number
  readonly scope: unknown
}

/**
 * A digest of the tables that are read whole. If it differs from the earlier one, the rows that were made with their help are
 * made again.
 */
export async function wholeTablesSay({ database, connectionId, scope }: Task, lookups: Lookups): Promise<string> {
  const hash = createHash('sha256')
  for (const { table, of, where } of Object.values(lookups)) {
    if (of) continue
    const conditions = {
      ...('connection_id' in table.columns ? { connection_id: connectionId } : {}),
      ...where?.(scope),
    }
    for await (const row of readRows(database, { table, where: conditions })) {
      const values = Object.entries(row).filter(([name]) => !(name in common))
      hash.update(JSON.stringify(values))
    }
  }
  return hash.digest('hex').slice(0, 16)
}

/** Makes a function that finds the looked-up rows for a batch of records. */
export function finderOf<L extends Lookups>({ database, connectionId, scope }: Task, lookups: L) {
  const read = async (
    { table, by, where, isMany }: Lookup,
    keys?: readonly unknown[],
  ): Promise<ReadonlyMap<unknown, unknown>> => {
    const conditions = {
      ...('connection_id' in table.columns ? { connection_id: connectionId } : {}),
      ...where?.(scope),
      ...(keys ? { [by]: keys } : {}),
    }
    const rows = keys?.length === 0 ? [] : await readAll(database, { table, where: conditions })
    return new FoundByKey<unknown>(isMany ? Map.groupBy(rows, (row) => row[by]) : rows.map((row) => [row[by], row]))
  }
  const whole = new Map<string, Promise<ReadonlyMap<unknown, unknown>>>()
  return async (records: readonly unknown[]): Promise<Found<L>> => {
    const found: Record<string, ReadonlyMap<unknown, unknown>> = byName()
    for (const [name, lookup] of Object.entries(lookups)) {
      if (lookup.of) {
        const keys = new Set(records.flatMap((record) => lookup.of?.(record)))
        found[name] = await read(
          lookup,
          [...keys].filter((each) => each !== null && each !== undefined && each !== ''),
        )
      } else {
        whole.set(name, whole.get(name) ?? read(lookup))
        found[name] = await (whole.get(name) as Promise<ReadonlyMap<unknown, unknown>>)
      }
    }
    return found as Found<L>
  }
}

/** Keys are stored without trailing spaces, but a record may have them. */
class FoundByKey<Value> extends Map<unknown, Value> {
  override get(key: unknown): Value | undefined {
    return super.get(stored(key))
  }
  override has(key: unknown): boolean {
    return super.has(stored(key))
  }
}
const stored = (key: unknown) => (typeof key === 'string' ? withoutEndSpaces(key) : key)
