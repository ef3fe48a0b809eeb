/**
 * The parts that a plugin author writes. One entity is one file, with collect, columns and convert side by side.
 *
 * collect   asks the vendor and stores every record as it came (`_raw_*`)
 * extract   raw records → tool rows; the columns of the table say where each value is in the record
 * convert   tool rows → rows of the domain tables
 */

import type { JoinedRow, Joins, Where } from '../../database/read.ts'
import type { AnyTable, RawRecord } from '../../database/table.ts'
import {
  bigint,
  type Columns,
  common,
  defineTable,
  key,
  type RowOf,
  type Table,
  type TableRow,
} from '../../database/table.ts'
import type { AnyCollectSpec, CollectSpec } from './collect.ts'
import type { ConnectionFacts, Settings } from './fields.ts'
import type { IdOf } from './id-of.ts'
import type { Found, Lookups } from './lookups.ts'
import { type Ownership, ownershipOf, type ScopeColumns } from './ownership.ts'
import type { DomainType, Spelling, Step, TaskRun } from './subtask.ts'

export { innerJoin, leftJoin } from '../../database/read.ts'

/** Context that every function of an entity gets. */
export interface EntityContext<Scope, Config> {
  readonly connectionId: number
  readonly connection: ConnectionFacts
  readonly scope: Scope
  readonly scopeConfig: Config
  readonly idOf: IdOf
}
export interface ExtractContext<Scope, Config, L extends Lookups, Input = null> extends EntityContext<Scope, Config> {
  /** The input with which the collector asked for this record; null if it has no inputs, or asks for many at once. */
  readonly input: Input
  readonly lookups: Found<L>
  /** Reads a record into a row of `table` by the sources of its columns; `values` take precedence over them. */
  read<T extends AnyTable>(table: T, record: unknown, values?: Partial<RowOf<T>>): TableRow
}
interface ConvertContext<Scope, Config, L extends Lookups> extends EntityContext<Scope, Config> {
  readonly lookups: Found<L>
}

/** Rows that belong to one row of the entity and are deleted with it, such as labels of an issue. */
export interface Owned {
  readonly table: AnyTable
  /** Column of the owned table → column of the owner. */
  readonly by: Readonly<Record<string, string>>
  /** Only these rows, if the table has other rows that belong to the owner too. */
  readonly where?: Readonly<Record<string, string>>
}

export interface ExtractSpec<Scope, Config, L extends Lookups, Input> {
  /** Needed only if one record becomes several rows, or none; otherwise the sources of the columns are enough. */
  readonly rows?: (record: RawRecord, context: ExtractContext<Scope, Config, L, Input>) => Iterable<TableRow>
  /** Tables written besides the entity's own. */
  readonly writes?: readonly AnyTable[]
  /** Rows that are replaced together with their owner, and never left behind. */
  readonly owns?: readonly Owned[]
  readonly lookups?: L
  /** Scope config fields that affect the extraction: if one changes, everything is extracted again. */
  readonly dependsOn?: readonly string[]
  /** Raise this if the code makes other rows from the same records than before: everything is then extracted again. */
  readonly edition?: number
}

/** Rows that come from the rows of many scopes, such as people. */
interface Follows {
  /** The table after which their ids are named. */
  readonly named: AnyTable
  /** Such a row stays as long as one of these columns contains its key. */
  readonly by: readonly { readonly table: AnyTable; readonly column: string }[]
}

interface ConvertSpec<T extends AnyTable, J extends Joins, L extends Lookups, Scope, Config> {
  /** Domain tables that are written; writing any other is an error. */
  readonly to: readonly AnyTable[]
  /** Rows that are replaced together with their row of the first table of `to`, such as assignees of an issue. */
  readonly owns?: readonly Owned[]
  readonly joins?: J
  /** Selects the rows that belong to the scope; needed for a table that has no `scopeColumn` (see `entityMaker`). */
  readonly where?: (scope: Scope, context: EntityContext<Scope, Config>) => Where
  readonly lookups?: L
  readonly rows: (row: JoinedRow<T, J>, context: ConvertContext<Scope, Config, L>) => Iterable<TableRow>
  /** Raw tables whose earlier conversions are replaced; default: that of the entity, or those that the table is extracted from. */
  readonly replaces?: readonly string[]
  /** Convert only rows written since the last run. For tool tables whose rows never vanish by themselves. */
  readonly isIncremental?: boolean
  readonly dependsOn?: readonly string[]
  /** As in `ExtractSpec`; needed only with `isIncremental`. */
  readonly edition?: number
  /** For rows of a `referred` table whose ids are named after another table, or that other tables also keep alive. */
  readonly follows?: Follows
  /** The join whose row, if there is one, gives the domain rows their origin instead of the row itself. */
  readonly originFrom?: keyof J & string
}

interface EntitySpec<Collect, Extract, Convert> {
  /** `Pull Requests` gives subtasks such as collectPullRequests or Collect Pull Requests, depending on the plugin's spelling. */
  readonly label: string
  /** Public subtask names that do not follow from the label. */
  readonly names?: Partial<Record<Step, string>>
  readonly domainTypes: readonly DomainType[]
  /** Steps that run only when asked for by name. */
  readonly off?: readonly Step[]
  /** Name of the raw table without `_raw_`; absent for entities of a table that another entity extracts. */
  readonly raw?: string
  readonly collect?: Collect
  readonly extract?: Extract
  readonly convert?: Convert
}
export interface Entity extends ScopeColumns {
  /** The name of the plugin whose kit made it. */
  readonly kit: string
  readonly table: AnyTable
  readonly spec: EntitySpec<AnyCollectSpec, AnyExtractSpec, AnyConvertSpec>
}
// biome-ignore lint/suspicious/noExplicitAny: the engine calls the functions of every plugin, and knows the types of none
export type AnyExtractSpec = ExtractSpec<any, any, any, any>
// biome-ignore lint/suspicious/noExplicitAny: as above
export type AnyConvertSpec = ConvertSpec<any, any, any, any, any>
// biome-ignore lint/suspicious/noExplicitAny: as above
type AnyEntityContext = EntityContext<any, any>
// biome-ignore lint/suspicious/noExplicitAny: as above
export type AnyExtractContext = ExtractContext<any, any, any, any>

/** Context that the columns of a tool table get. Each column declares itself which part of `input` and `lookups` it needs. */
export interface ColumnContext<Scope, Config> extends EntityContext<Scope, Config> {
  readonly input: RawRecord
  readonly lookups: RawRecord
}

/** A run on stored records, with the context for entities. */
export interface EntityTask extends TaskRun {
  readonly context: AnyEntityContext
  readonly settings: Settings
  /** JSON text that identifies the raw rows of the scope. */
  readonly params: string
}

export function subtaskName(spelling: Spelling, step: Step, { spec }: Entity): string {
  const title = `${step[0]?.toUpperCase()}${step.slice(1)} ${spec.label}`
  return spec.names?.[step] ?? (spelling === 'title' ? title : step + spec.label.replaceAll(' ', ''))
}

const connectionKey = {
  connection_id: key(bigint((_record, { connectionId }: { readonly connectionId: number }) => connectionId)),
}

interface KitTableOptions {
  /** The column with the scope, if it is not the `scopeColumn` of the other tables. */
  readonly scopeColumn?: string
}

/** Table and entity makers of one plugin. */
export function pluginKit(plugin: string) {
  const exceptions = new Map<AnyTable, string>()
  const table = <const C extends Columns>(
    name: string,
    entityName: string,
    columns: C,
    { scopeColumn }: KitTableOptions = {},
  ): Table<typeof connectionKey & C & typeof common> => {
    const made = defineTable(
      `_tool_${plugin}_${name}`,
      { ...connectionKey, ...columns, ...common },
      { idPrefix: `${plugin}:${entityName}` },
    )
    if (scopeColumn !== undefined) exceptions.set(made, scopeColumn)
    return made
  }
  return {
    /** Makes a tool table, `_tool_<plugin>_<name>`, with the connection first in its key and with the origin columns. */
    table,
    /** The same for tables whose columns use the scope or its rules. */
    tableMaker:
      <Scope, Config>() =>
      <const C extends Columns<ColumnContext<Scope, Config>>>(
        name: string,
        entityName: string,
        columns: C,
        options?: KitTableOptions,
      ) =>
        table(name, entityName, columns, options),
    entityMaker: <Scope, Config, Server = unknown>(ownership: Ownership<Scope>) => {
      const owned = ownershipOf(ownership, exceptions)
      return <
        T extends AnyTable,
        const J extends Joins = Record<never, never>,
        const E extends Lookups = Record<never, never>,
        const L extends Lookups = Record<never, never>,
        F extends AnyTable = AnyTable,
        const FJ extends Joins = Record<never, never>,
        Input = null,
      >(
        table: T,
        spec: EntitySpec<
          CollectSpec<Scope, Config, Server, T, F, FJ, Input>,
          ExtractSpec<Scope, Config, E, Input>,
          ConvertSpec<T, J, L, Scope, Config>
        >,
      ): Entity => ({ kit: plugin, table, spec, ...owned })
    },
  }
}
