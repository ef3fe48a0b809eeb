/** Text of a dialect with expressions in it. */
import { sql } from 'kysely'
import type { Sql } from './calculate/calculation.ts'

/** `{name}` in the text stands for the expression of that name. */
export function filled(text: string, expressions: Readonly<Record<string, Sql>>): Sql {
  const known = new Map(Object.entries(expressions))
  const parts = text
    .split(/\{(\w+)\}/)
    .map((part, index) => (index % 2 === 0 ? sql.raw(part) : (known.get(part) ?? sql.raw(`{${part}}`))))
  return sql.join(parts, sql``)
}
