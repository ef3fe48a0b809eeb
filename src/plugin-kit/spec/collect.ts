import type { JoinedRow, Joins, Where } from '../../database/read.ts'
import type { AnyRow, AnyTable, RawRecord, RowOf } from '../../database/table.ts'
import {
  type DateWindow,
  type HttpRequest,
  type HttpResponse,
  type Older,
  type Paging,
  type Query,
  singlePage,
} from '../http/index.ts'
import type { ConnectionFacts } from './fields.ts'
import { keyText } from './key-text.ts'
import type { TaskRun } from './subtask.ts'
import type { TimeSource } from './times.ts'

/** Everything that a request may be made from. */
export interface CollectContext<Scope, Config, Server = unknown, Input = null> {
  readonly connectionId: number
  readonly connection: ConnectionFacts
  readonly scope: Scope
  readonly scopeConfig: Config
  /** The result of the plugin's probe of the server. */
  readonly server: Server
  /** The input that `forEach` made from the row that this request is about; null without `forEach`, and with its `atOnce`. */
  readonly input: Input
  /** The inputs of all rows that this request is about. */
  readonly inputs: readonly Input[]
}
/** The part of the context that needs no input. */
type BaseContext<Scope, Config, Server> = Omit<CollectContext<Scope, Config, Server>, 'input' | 'inputs'>
// biome-ignore lint/suspicious/noExplicitAny: the engine calls the functions of every plugin, and knows the types of none
export type AnyCollectContext = CollectContext<any, any, any, any>
// biome-ignore lint/suspicious/noExplicitAny: as above
export type AnyCollectSpec = CollectSpec<any, any, any, any, any, any, any>
// biome-ignore lint/suspicious/noExplicitAny: as above
export type AnyForEach = ForEach<any, any, any, any, any>

/** One round of requests for each row of a tool table. */
interface ForEach<Scope, Server, T extends AnyTable, J extends Joins, Input> {
  readonly table: T
  readonly joins?: J
  readonly where?: (scope: Scope) => Where
  /** A further condition, which `where` cannot express. */
  readonly only?: (row: JoinedRow<T, J>) => boolean
  /** The identity of an input. If it is asked for again, its records replace the stored ones. Default: the whole input. */
  readonly key?: (input: Input) => unknown
  /** The part of the row that the request and the extraction need; stored with every record. */
  readonly input: (row: JoinedRow<T, J>) => Input
  /** The answer about an input is the same for all scopes of a connection, so a scope may copy it from another. */
  readonly isShared?: boolean
  /** One request is made for at most this many inputs, which are the `inputs` of its context. */
  readonly atOnce?: (server: Server) => number
  /**
   * The input contains everything that the answer depends on, such as the newest commit of a branch. Later runs ask only if the
   * input differs from the one that was answered. `key` must then be only a part of the input.
   */
  readonly tellsChange?: true
  /** Column with the vendor's time of change: later runs ask only for rows changed since. */
  readonly changedBy?: string
  /** Further rows that later runs ask for, because the records behind them can change without a change of the row. */
  readonly again?: Again
}

/** A row that meets any of these conditions is asked for again. */
export interface Again {
  /** Milliseconds: rows whose time of change is at most this long before the last run. */
  readonly within?: number
  readonly where?: Where
  /** Rows to which such rows in another table belong; `by`: column of that table → column of the row. */
  readonly having?: { readonly table: AnyTable; readonly by: Readonly<Record<string, string>>; readonly where: Where }
}

/** The API can filter by time of change; `by`: the place of that time in a record, for sources whose answers have no date. */
export interface ByTime<Context = AnyCollectContext> {
  readonly filterBy: (since: Date, context: Context) => Query
  readonly by?: TimeSource
}
/** The API can only sort: reading stops at the first older record. */
export interface NewestFirst {
  readonly newestFirstBy: TimeSource
  readonly lookBack?: LookBack
}
/** How to ask only for new and changed records; `refetch` asks again for records that were not final. */
type Incremental<Context, T extends AnyTable> =
  | ByTime<Context>
  | (NewestFirst & { readonly refetch?: Refetch<Context, T> })
  /** The lists of `forEach` are numbered, newest first: each is read down to its newest known record. */
  | { readonly numbered: Numbered; readonly refetch?: Refetch<Context, T> }
  /** `forEach` says what is new; apart from that, only records that were not final are asked for again. */
  | { readonly refetch: Refetch<Context, T> }

/** For lists in which new records only appear at the front, such as builds of a job. See collect/ways/numbered.ts. */
export interface Numbered {
  readonly of: (record: RawRecord) => Reach
  /** The newest record of a list, if the iterated row tells it. Then a list without new records is not asked for. */
  readonly newest?: (row: AnyRow) => Reach
}
/** A record's number, and its time of creation in milliseconds, because another record may get the number later. */
export interface Reach {
  readonly number: number
  readonly made: number
}
/** For records that change without moving to the front: runs look through this many days of known records again. */
export interface LookBack {
  readonly days: number
  /** The records' time of change: records that have not changed are not stored again. */
  readonly changedBy: string
}

const DAY = 86_400_000
/** The time down to which a run reads if it looks back. A full run need not look back. */
export function reachOf(
  lookBack: LookBack | undefined,
  { since, isFull }: { readonly since: Date; readonly isFull: boolean },
): Date {
  return lookBack && !isFull ? new Date(since.getTime() - lookBack.days * DAY) : since
}

/** Rows of the entity's own table that may still change, and how to ask for them. */
interface Refetch<Context, T extends AnyTable> {
  readonly where: Where
  /** `rows` are all rows that the request is about: one, unless `atOnce` is set. */
  readonly request: (row: RowOf<T>, context: Context, rows: readonly RowOf<T>[]) => HttpRequest
  /** One request is made for at most this many rows. Not together with `input`. */
  readonly atOnce?: number
  /** Paging of the answer, if it is a list; default: one page. */
  readonly paging?: Paging
  /** The records of the answer. Default: the whole body as one record; with `paging`, the `records` of the collector. */
  readonly records?: (body: RawRecord) => readonly unknown[]
  /** The input whose whole list the answer replaces; without it the answer replaces single records. */
  readonly input?: (row: RowOf<T>) => Record<string, unknown>
  /** The input to whose records the single replaced record belongs. */
  readonly within?: (row: RowOf<T>) => Record<string, unknown>
}
// biome-ignore lint/suspicious/noExplicitAny: the engine knows the types of no plugin
export type AnyRefetch = Refetch<any, any>

/** For vendors that limit the results of one query: the time range is cut until each part fits. */
export interface Windows {
  readonly cap: number
  /** Beginning of the range if there is no start date. */
  readonly earliest: Date
  readonly query: (window: DateWindow) => Query
  readonly total: (response: HttpResponse) => number
  /** Every run reads all windows, because the source does not tell which records have changed. */
  readonly isWhole?: boolean
  /** The longest window that the source accepts, in milliseconds. */
  readonly longest?: number
  /**
   * Asks for all times at once, for a source that allows this in spite of `longest`. If everything fits, it is read as one list.
   * Records must come newest first (`newestFirstBy`), so that the list can end where the range begins.
   */
  readonly whole?: Query
  /** Asks for the oldest record first, and reads its time: nothing has to be asked for before it. */
  readonly oldest?: { readonly query: Query; readonly at: (body: RawRecord) => unknown }
  /** The source leaves out records at the exact end of a window, so `query` is given the following second. */
  readonly isEndExclusive?: boolean
  /** Divides a second that is still too full by another value. If a part still does not fit, the rest is a gap. */
  readonly split?: { readonly values: readonly string[]; readonly query: (value: string) => Query }
  /** Column with the time that `query` filters by. The newest of the rows that `refetch` names then come with the window. */
  readonly by?: string
  /** Later runs look for changes in at least this many of the newest records, however old they are. */
  readonly lookThrough?: number
}

/** For vendors whose numbered pages end before the end of a long list. */
interface LongList<Context> {
  /** A list with this many pages may be longer than they show. */
  readonly mostPages: number
  /** How to ask for the rest; absent: the rest is missing, and the receipt says so. */
  readonly older?: Older
  /** If the entries of `older` only name the records: how to ask for the named record; null: the entry names none. */
  readonly named?: (name: RawRecord, context: Context) => HttpRequest | null
}

/** A list inside a record that may be longer than the query asked for; its further nodes are added to the record. */
interface Completion<Context> {
  readonly list: (record: RawRecord) => GraphqlList | null | undefined
  readonly request: (record: RawRecord, context: Context) => HttpRequest
  /** Paging of the further nodes, started at the list's `endCursor`. */
  readonly paging: Paging
}
interface GraphqlList {
  readonly nodes: unknown[]
  readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor?: string | null }
}

/** For lists that are read by time of change, but whose records can appear and vanish without one. See collect/gone/reconcile.ts. */
export interface Reconcile<Context = AnyCollectContext> {
  /** Lists all records, with little more than their names. */
  readonly request: (context: Context) => HttpRequest
  /** Large pages, with a total. */
  readonly paging: Paging
  readonly records?: (body: RawRecord) => readonly unknown[]
  /**
   * The place in the listing of the time that the collector reads by, if the source cannot filter by it. Names from before the
   * start date are then listed, but not wanted.
   */
  readonly by?: TimeSource
  /** Asks for records by their keys; the answer has the same form as the collector's list. */
  readonly named: {
    readonly atOnce: number
    readonly request: (keys: readonly string[], context: Context) => HttpRequest
    readonly paging?: Paging
  }
  /** The name by which other records refer to a record: its column in the entity's own table, and its place in a record. */
  readonly renamed?: { readonly column: string; readonly of: (record: RawRecord) => unknown }
  /** Rows that refer to other records in `columns`. If those vanish or are renamed, the rows' own records (`key`) are asked for. */
  readonly referring?: readonly {
    readonly table: AnyTable
    readonly columns: readonly string[]
    readonly key: string
    /** Column of the entity's own table whose value they refer to; default: the record's key. */
    readonly by?: string
  }[]
}

export interface CollectSpec<
  Scope,
  Config,
  Server,
  T extends AnyTable,
  F extends AnyTable,
  J extends Joins,
  Input,
  Context = CollectContext<Scope, Config, Server, Input>,
> {
  /** If this returns false, nothing is asked for. */
  readonly when?: (context: BaseContext<Scope, Config, Server>) => boolean
  readonly forEach?: ForEach<Scope, Server, F, J, Input>
  readonly request: (context: Context) => HttpRequest
  /** Absent: the list has one page. */
  readonly paging?: Paging | ((server: Server, options: TaskRun['options']) => Paging)
  /** The records of a page's body; default: the body itself, or the only list in it. */
  readonly records?: (body: RawRecord) => readonly unknown[]
  /** The identity of a record within one input; default: its `id`. */
  readonly key?: (record: RawRecord) => unknown
  /**
   * Checks that a record belongs to the scope that was asked about. If one does not, nothing of the answer is stored, and the list
   * becomes a gap. `address` is where the answer came from, after redirects.
   */
  readonly isOwn?: (record: RawRecord, context: Context, address: string) => boolean
  /** The name by which people know a record, such as its number: its place in the record, and its column in the entity's table. */
  readonly knownBy?: { readonly path: string; readonly column: string }
  /** Every record is an incident by the source's own definition. A complete but empty list then says that none happened. */
  readonly tellsIncidents?: true
  /** A whole list that is the same for all scopes of a connection, such as the types of issues. What vanishes from it is deleted for all. */
  readonly isForAll?: boolean
  /**
   * For a source that lists only the newest records: tells by its key whether a record that no longer comes is kept. It existed,
   * and nothing says that it was deleted. Only for collectors without inputs.
   */
  readonly forgets?: (key: string) => boolean
  readonly incremental?: Incremental<Context, T>
  readonly reconcile?: Reconcile<Context>
  readonly windows?: Windows
  readonly longList?: LongList<Context>
  readonly completes?: readonly Completion<Context>[]
  /** Statuses of a first page that mean "nothing here", not "broken". */
  readonly emptyOn?: readonly number[]
  /**
   * The list can be switched off at the source, which then answers with a status of `emptyOn`. Records that are already stored
   * stay, and a gap says so. Only for collectors without inputs.
   */
  readonly canBeSwitchedOff?: boolean
  /** Statuses of a later page that mean "the source lists no further": a gap that no run can close. */
  readonly endsOn?: readonly number[]
}

/**
 * True if the collector asks for parts, so that its raw rows add up; a collector that asks for everything replaces them. Inputs
 * that are asked for one by one count as parts, since an unchanged answer leaves the earlier row in place.
 */
export const isAppending = ({ incremental, windows, forEach }: AnyCollectSpec): boolean =>
  Boolean(incremental ?? windows ?? (forEach && (forEach.changedBy || !forEach.atOnce)))

/** The group under which the raw records of an input are stored. */
export const groupOf = ({ forEach }: AnyCollectSpec, input: unknown): string =>
  keyText(forEach?.key ? forEach.key(input) : input)

export const recordKey = ({ key }: AnyCollectSpec, record: RawRecord): string => keyText(key ? key(record) : record?.id)

/** True if inputs are asked for one by one, so that each has its own raw records. */
export const hasOwnInputs = ({ forEach }: AnyCollectSpec): boolean => forEach !== undefined && !forEach.atOnce

export const pagingOf = (
  { paging = singlePage }: AnyCollectSpec,
  server: unknown,
  options: TaskRun['options'],
): Paging => (typeof paging === 'function' ? paging(server, options) : paging)
