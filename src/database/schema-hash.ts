/** Computes a hash of everything that a program needs to find in its database. */
import { createHash } from 'node:crypto'
import { indexesOf } from './dialect.ts'
import { MIGRATIONS } from './migrations.ts'
import type { AnyTable, Column } from './table.ts'

/** The structure of a table, without its descriptions. */
export const shapeOf = ({ name, names, columns, keys }: AnyTable) => [
  name,
  names.map((each) => {
    const { kind, size = 0, isGenerated = false } = columns[each] as Column
    return [each, kind, size, isGenerated]
  }),
  keys,
]

/** When the hash changes, programs that do not know it refuse the database. */
export function schemaHash(tables: readonly AnyTable[]): string {
  const shapes = tables
    .toSorted((one, other) => (one.name < other.name ? -1 : 1))
    .map((table) => [shapeOf(table), indexesOf(table).map(({ columns, unique }) => [columns, unique])])
  const steps = MIGRATIONS.map(({ version, run }) => [version, run.name])
  return createHash('sha256')
    .update(JSON.stringify([shapes, steps]))
    .digest('hex')
}
