/**
 * The components of an incident. A tool that has several writes them separated by commas, as in `network,database`. The incident
 * counts for each of them, and for the whole text.
 */
import { type RawBuilder, sql } from 'kysely'
import type { Dialect } from '../../database/dialect.ts'
import type { Sql } from '../calculate/calculation.ts'

/** More components than fit into the column, even with one letter each. */
const MOST_COMPONENTS = 128
const NUMBERS = sql.raw(
  Array.from({ length: MOST_COMPONENTS }, (_, index) => `select ${index + 1} as n`).join(' union all '),
)

/** `part`: the numbers of the parts of a text with commas. More conditions can follow `where`. */
const partsIn = (text: Sql): { from: Sql; where: Sql } => ({
  from: sql`(${NUMBERS}) part`,
  where: sql`part.n <= char_length(${text}) - char_length(replace(${text}, ',', '')) + 1`,
})

/** Tells whether the text of a column, or one of its parts, is one of the words. */
export function hasComponent(dialect: Dialect, column: string, words: RawBuilder<unknown>): Sql {
  const text = sql.ref(column)
  const { from, where } = partsIn(sql`${text}`)
  const part = sql.raw(dialect.partOf(column, 'part.n'))
  return sql`(coalesce(${text}, '') in (${words}) or (${text} like '%,%' and exists (
    select 1 from ${from} where ${where} and trim(${part}) in (${words}))))`
}

/** Returns each `component` of rows that have one, as a whole and in its parts. */
export function everyComponent(dialect: Dialect, rows: Sql): Sql {
  const { from, where } = partsIn(sql`whole.component`)
  const part = sql.raw(dialect.partOf('whole.component', 'part.n'))
  return sql`select component from (${rows}) each_one union
    select trim(${part}) as component from (${rows}) whole inner join ${from} on ${where}`
}

/** Returns the same for a text in memory: the whole and its parts. */
export const componentsOf = (text: string): string[] => [
  ...new Set([text, ...text.split(',').map((each) => each.trim())]),
]
