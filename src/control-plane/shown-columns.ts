/** Schemas of the columns of a table, by their public names: so a list of fields stands once, in the definition of its table. */
import { z } from 'zod'
import type { AnyTable, Column, RowOf } from '../database/table.ts'
import { type PublicName, publicName } from './store.ts'

/** Nobody changes a record that was read. */
type Fixed<T> = T extends Date ? T : T extends object ? { readonly [Name in keyof T]: Fixed<T[Name]> } : T
export type Shown<Schema extends z.ZodType> = Fixed<z.infer<Schema>>

type Columns<T extends AnyTable> = {
  [Name in keyof RowOf<T> & string as PublicName<Name>]: z.ZodType<RowOf<T>[Name]>
}

const KINDS: Record<Column['kind'], z.ZodType> = {
  string: z.string(),
  text: z.string(),
  integer: z.int(),
  bigint: z.int(),
  double: z.number(),
  boolean: z.boolean(),
  timestamp: z.date(),
  date: z.date(),
  json: z.any(),
  bytes: z.any(),
}

/** Numbers of tables that sources fill may be larger than JavaScript's: `bigint` describes those. */
export const shownColumns = <T extends AnyTable>({ names, columns }: T, bigint: z.ZodType = KINDS.bigint): Columns<T> =>
  Object.fromEntries(
    names.map((name) => {
      const { kind, missing } = columns[name] as Column
      const isAny = kind === 'json' || kind === 'bytes'
      const schema = kind === 'bigint' ? bigint : KINDS[kind]
      return [publicName(name), missing === 'null' && !isAny ? schema.nullable() : schema]
    }),
  ) as Columns<T>
