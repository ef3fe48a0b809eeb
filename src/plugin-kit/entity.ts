/**
 * What a plugin author writes: one entity = one file with collect, columns and convert side by side.
 *
 * collect   asks the vendor and keeps every record as it came (`_raw_*`)
 * extract   raw records → tool rows; the table's own columns say where each value stands in the record
 * convert   tool rows → rows of the domain tables
 */
import type { JoinedRow, Joins, Where } from '../database/read.ts'
import {
  bigint,
  type Columns,
  common,
  defineTable,
  key,
  type RowOf,
  type Table,
  type TableRow,
} from '../database/table.ts'
import type { CollectSpec } from './collect-spec.ts'
import type { IdOf } from './id-of.ts'
import type { Found, Lookups } from './lookups.ts'

export { inner, left } from '../database/read.ts'

export type Step = 'collect' | 'extract' | 'convert'
export type DomainType = 'CODE' | 'TICKET' | 'CODEREVIEW' | 'CROSS' | 'CICD' | 'CODEQUALITY'

/** What every function of an entity may look at. */
export interface EntityContext<Scope, Config> {
  readonly connectionId: number
  /** Fields of the connection that are no secrets. */
  readonly connection: { readonly endpoint: string; readonly timeZone?: string }
  readonly scope: Scope
  readonly scopeConfig: Config
  readonly idOf: IdOf
}
export interface ExtractContext<Scope, Config, L extends Lookups> extends EntityContext<Scope, Config> {
  /** What the collector was iterating over when it asked for this record. */
  readonly input: any
  readonly lookups: Found<L>
  /** Reads a record into a row of `table` by the sources of its columns; `values` go before them. */
  read<T extends Table<any>>(table: T, record: unknown, values?: Partial<RowOf<T>>): TableRow
}
export interface ConvertContext<Scope, Config, L extends Lookups> extends EntityContext<Scope, Config> {
  readonly lookups: Found<L>
}

/** Rows that belong to one row of the entity and go with it, such as labels of an issue. */
export interface Owned {
  readonly table: Table<any>
  /** Column of the owned table → column of the owner. */
  readonly by: Readonly<Record<string, string>>
  /** Only these of them, when others hang on the owner too. */
  readonly where?: Readonly<Record<string, string>>
}

export interface ExtractSpec<Scope, Config, L extends Lookups> {
  /** Only when one record becomes several rows, or none; otherwise the columns read themselves. */
  readonly rows?: (record: any, context: ExtractContext<Scope, Config, L>) => Iterable<TableRow>
  /** Tables written besides the entity's own. */
  readonly writes?: readonly Table<any>[]
  /** Replaced together with their owner, never left behind. */
  readonly owns?: readonly Owned[]
  readonly lookups?: L
  /** Scope config fields that decide what is extracted: a change of them extracts everything anew. */
  readonly dependsOn?: readonly string[]
}

export interface ConvertSpec<T extends Table<any>, J extends Joins, L extends Lookups, Scope, Config> {
  /** Domain tables; writing any other is an error. */
  readonly to: readonly Table<any>[]
  /** Replaced together with their row of the first table of `to`, such as assignees of an issue. */
  readonly owns?: readonly Owned[]
  readonly joins?: J
  /** Which rows belong to the scope; default: those whose scope columns say so (see `scopeWhere` of the kit). */
  readonly where?: (scope: Scope, context: EntityContext<Scope, Config>) => Where
  readonly lookups?: L
  readonly rows: (row: JoinedRow<T, J>, context: ConvertContext<Scope, Config, L>) => Iterable<TableRow>
  /** Raw tables whose earlier conversions are replaced; default: the entity's own. */
  readonly replaces?: readonly string[]
  /** Convert only rows written since the last run. For rows that never vanish from the tool table by themselves. */
  readonly isIncremental?: boolean
  readonly dependsOn?: readonly string[]
}

export interface EntitySpec<
  T extends Table<any>,
  J extends Joins,
  E extends Lookups,
  L extends Lookups,
  Scope,
  Config,
> {
  /** `Pull Requests` gives the subtasks collectPullRequests or Collect Pull Requests, as the plugin spells them. */
  readonly label: string
  /** Public subtask names that do not follow from the label. */
  readonly names?: Partial<Record<Step, string>>
  readonly domainTypes: readonly DomainType[]
  /** Steps that run only when asked for by name. */
  readonly off?: readonly Step[]
  /** Raw table without `_raw_`; entities of a table that another entity extracts have none. */
  readonly raw?: string
  readonly collect?: CollectSpec<Scope, Config>
  readonly extract?: ExtractSpec<Scope, Config, E>
  readonly convert?: ConvertSpec<T, J, L, Scope, Config>
}
export interface Entity {
  readonly table: Table<any>
  readonly spec: EntitySpec<any, any, any, any, any, any>
  readonly scopeWhere: (table: Table<any>, scope: any) => Where
}

const connectionKey = {
  connection_id: key(bigint((_record: unknown, { connectionId }: EntityContext<any, any>) => connectionId)),
}

/** Table and entity makers of one plugin. */
export function pluginKit(plugin: string) {
  return {
    /** A tool table: `_tool_<plugin>_<name>`, keyed by the connection first, with the origin columns. */
    table: <const C extends Columns>(
      name: string,
      entityName: string,
      columns: C,
    ): Table<typeof connectionKey & C & typeof common> =>
      defineTable(
        `_tool_${plugin}_${name}`,
        { ...connectionKey, ...columns, ...common },
        { idPrefix: `${plugin}:${entityName}` },
      ),
    /** `scopeWhere` says which rows of a table belong to a scope, for tables that carry the scope's key. */
    entityMaker:
      <Scope, Config>(scopeWhere: (table: Table<any>, scope: Scope) => Where) =>
      <
        T extends Table<any>,
        const J extends Joins = Record<never, never>,
        const E extends Lookups = Record<never, never>,
        const L extends Lookups = Record<never, never>,
      >(
        table: T,
        spec: EntitySpec<T, J, E, L, Scope, Config>,
      ): Entity => ({ table, spec, scopeWhere }),
  }
}

/** For raw records: what a column's source finds. Paths walk objects and lists (`users.0.name`). */
export function valueAt(record: any, path: string): unknown {
  if (!path.includes('.')) return record?.[path]
  return path.split('.').reduce((value, part) => value?.[part], record)
}
