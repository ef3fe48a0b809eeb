/** What calculations share: the rows of a project, and filling a table by one statement. */
import { type RawBuilder, sql } from 'kysely'
import type { Database } from '../../database/database.ts'
import type { Table } from '../../database/table.ts'
import { retrying } from '../../database/write.ts'
import { UserError } from '../../errors.ts'

export type Sql = RawBuilder<unknown>

export interface CalculationRun {
  readonly database: Database
  readonly options: Readonly<Record<string, any>>
  /** Forget what earlier runs remembered. */
  readonly fullSync: boolean
  readonly signal: AbortSignal
}
/** How many rows it wrote. */
export type Calculation = (run: CalculationRun) => Promise<number>

export function projectOf({ projectName }: Readonly<Record<string, any>>): string {
  if (typeof projectName === 'string' && projectName !== '') return projectName
  throw new UserError('The task has no projectName: name the project whose metrics are to be calculated.')
}

/** Ids of the project's rows of a kind, as a subquery. */
export const mapped = (table: 'repos' | 'boards' | 'cicd_scopes', project: string): Sql =>
  sql`select row_id from project_mapping where project_name = ${project} and ${sql.ref('table')} = ${table}`

/** The mapping table as the first of a join, and its part of the condition. */
export const mapping = (alias: string, table: 'repos' | 'boards' | 'cicd_scopes', project: string) => ({
  from: sql`project_mapping as ${sql.id(alias)}`,
  where: sql`${sql.ref(`${alias}.project_name`)} = ${project} and ${sql.ref(`${alias}.table`)} = ${table}`,
})

/** The scopes that a task is about: one, when it names one, or all of its project. */
export const scopesOf = (options: Readonly<Record<string, any>>): Sql =>
  options.scopeId ? sql`${options.scopeId}` : mapped('cicd_scopes', projectOf(options))

/** Ready-made SQL text of a dialect. */
export const raw = (text: string): Sql => sql.raw(text)

/** Reads null as the empty text that it stands for. */
export const word = (reference: string): Sql => sql`coalesce(${sql.ref(reference)}, '')`

/** The origin columns of a row made from rows of `alias`. */
export const originOf = (alias: string): Record<string, Sql> => ({
  _raw_data_params: word(`${alias}._raw_data_params`),
  _raw_data_table: word(`${alias}._raw_data_table`),
  _raw_data_id: sql`coalesce(${sql.ref(`${alias}._raw_data_id`)}, 0)`,
  _raw_data_remark: word(`${alias}._raw_data_remark`),
})

export const noOrigin: Record<string, Sql> = {
  _raw_data_params: sql`''`,
  _raw_data_table: sql`''`,
  _raw_data_id: sql`0`,
  _raw_data_remark: sql`''`,
}

/** Columns copied from `alias` as they are. */
export const copied = (alias: string, ...names: readonly string[]): Record<string, Sql> =>
  Object.fromEntries(names.map((name) => [name, sql`${sql.ref(`${alias}.${name}`)}`]))

/** Text columns copied from `alias`; null reads as empty. */
export const words = (alias: string, ...names: readonly string[]): Record<string, Sql> =>
  Object.fromEntries(names.map((name) => [name, word(`${alias}.${name}`)]))

export interface Filling {
  readonly table: Table<any>
  /** An expression for each column. */
  readonly columns: Readonly<Record<string, Sql>>
  /** `from … where …`, joined in this order; the `where` is needed, or what follows it would be ambiguous. */
  readonly from: Sql
  readonly with?: Sql
}

/** Fills a table from others inside the database; rows whose key exists replace it. */
export async function fill({ kysely, dialect }: Database, filling: Filling): Promise<number> {
  const { table, columns, from } = filling
  const stamp = new Date()
  const all: Record<string, Sql> = { ...columns }
  for (const name of ['created_at', 'updated_at']) if (name in table.columns) all[name] = sql`${stamp}`
  const names = Object.keys(all)
  const selected = names.map((name) => sql`${all[name]} as ${sql.id(name)}`)
  const result = await sql`insert into ${sql.table(table.name)} (${sql.join(names.map((name) => sql.id(name)))})
    ${filling.with ?? sql``} select ${raw(dialect.joinAsWritten)} ${sql.join(selected)} ${from}
    ${raw(dialect.onExistingKey(table, names))}`.execute(kysely)
  return Number(result.numAffectedRows ?? 0)
}

/** Clears and fills in one transaction, so that a reader sees the old rows or the new ones. */
export const swap = (database: Database, body: (database: Database) => Promise<number>): Promise<number> =>
  retrying(database, () =>
    database.transaction(async (inside) => {
      const { preferIndexes } = inside.dialect
      if (preferIndexes) await sql.raw(preferIndexes).execute(inside.kysely)
      return body(inside)
    }),
  )
