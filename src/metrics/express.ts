/** SQL text of a dialect that contains expressions. */
import { sql } from 'kysely'
import type { Sql } from './calculate/calculation.ts'

/** Replaces `{name}` in the text with the expression of that name. */
export function filled(text: string, expressions: Readonly<Record<string, Sql>>): Sql {
  const known = new Map(Object.entries(expressions))
  const parts = text
    .split(/\{(\w+)\}/)
    .map((part, index) => (index % 2 === 0 ? sql.raw(part) : (known.get(part) ?? sql.raw(`{${part}}`))))
  return sql.join(parts, sql``)
}
