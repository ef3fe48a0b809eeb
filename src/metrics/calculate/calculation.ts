/** Helpers that calculations share: the rows of a project, and columns copied from other tables. */
import { type RawBuilder, sql } from 'kysely'
import { byName } from '../../basics/by-name.ts'
import type { Database } from '../../database/database.ts'
import { UserError } from '../../errors.ts'

export type Sql = RawBuilder<unknown>

/** The options of a task, as somebody wrote them. */
// biome-ignore lint/suspicious/noExplicitAny: each calculation checks what it reads of them
type Options = Readonly<Record<string, any>>

export interface CalculationRun {
  readonly database: Database
  readonly options: Options
  /** Forget what earlier runs remembered. */
  readonly fullSync: boolean
  readonly signal: AbortSignal
}
/** Returns the number of rows that it wrote. */
export type Calculation = (run: CalculationRun) => Promise<number>
/** Removes what a calculation wrote only for this project, as long as its scopes are known. Returns the number of rows removed. */
export type Forgetting = (inside: Database, project: string) => Promise<number>

export function projectOf({ projectName }: Options): string {
  if (typeof projectName === 'string' && projectName !== '') return projectName
  throw new UserError('The task has no projectName: name the project whose metrics are to be calculated.')
}

type Mapped = 'repos' | 'boards' | 'cicd_scopes'

/** Ids of the project's rows of a kind, as a subquery. */
export const mapped = (table: Mapped, project: string): Sql =>
  sql`select row_id from project_mapping where project_name = ${project} and ${sql.ref('table')} = ${table}`

/** Ids of rows that any other project has. */
export const mappedByOthers = (table: Mapped, project: string): Sql =>
  sql`select row_id from project_mapping where project_name <> ${project} and ${sql.ref('table')} = ${table}`

/** Ids of rows that no other project has. */
export const mappedByNoOther = (table: Mapped, project: string): Sql =>
  sql`${mapped(table, project)} and row_id not in (${mappedByOthers(table, project)})`

/** The mapping table as the first table of a join, and its part of the condition. */
export const mapping = (alias: string, table: Mapped, project: string | Sql) => ({
  from: sql`project_mapping as ${sql.id(alias)}`,
  where: sql`${sql.ref(`${alias}.project_name`)} = ${project} and ${sql.ref(`${alias}.table`)} = ${table}`,
})

/** The scopes that a task is about: one, when it names one, or all of its project. */
export const scopesOf = (options: Options): Sql =>
  options.scopeId ? sql`${options.scopeId}` : mapped('cicd_scopes', projectOf(options))

/** Ready-made SQL text of a dialect. */
export const raw = (text: string): Sql => sql.raw(text)

/** Reads null as the empty text. */
export const word = (reference: string): Sql => sql`coalesce(${sql.ref(reference)}, '')`

/** The origin columns of a row made from rows of `alias`. */
export const originOf = (alias: string): Record<string, Sql> => ({
  _raw_data_params: word(`${alias}._raw_data_params`),
  _raw_data_table: word(`${alias}._raw_data_table`),
  _raw_data_id: sql`coalesce(${sql.ref(`${alias}._raw_data_id`)}, 0)`,
  _raw_data_remark: word(`${alias}._raw_data_remark`),
})

/** Does the same as `originOf`, but leaves the id of an unknown raw record null, as DevLake does. */
export const originAsIs = (alias: string): Record<string, Sql> => ({
  ...originOf(alias),
  _raw_data_id: sql`${sql.ref(`${alias}._raw_data_id`)}`,
})

export const noOrigin: Record<string, Sql> = byName({
  _raw_data_params: sql`''`,
  _raw_data_table: sql`''`,
  _raw_data_id: sql`0`,
  _raw_data_remark: sql`''`,
})

/** Columns copied from `alias` as they are. */
export const copied = (alias: string, ...names: readonly string[]): Record<string, Sql> =>
  Object.fromEntries(names.map((name) => [name, sql`${sql.ref(`${alias}.${name}`)}`]))

/** Text columns copied from `alias`; null reads as empty. */
export const words = (alias: string, ...names: readonly string[]): Record<string, Sql> =>
  Object.fromEntries(names.map((name) => [name, word(`${alias}.${name}`)]))
