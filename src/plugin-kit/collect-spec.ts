import type { Joins, Where } from '../database/read.ts'
import type { Table } from '../database/table.ts'
import {
  type DateWindow,
  type HttpRequest,
  type HttpResponse,
  type Older,
  type Paging,
  type Query,
  singlePage,
} from './http/index.ts'
import { keyText } from './raw.ts'
import type { TaskRun } from './subtask.ts'
import type { TimeSource } from './times.ts'

/** What a request may be made from. */
export interface CollectContext<Scope, Config> {
  readonly connectionId: number
  readonly connection: { readonly endpoint: string; readonly timeZone?: string }
  readonly scope: Scope
  readonly scopeConfig: Config
  /** What the plugin's probe learned of the server. */
  readonly server: any
  /** What `forEach` made of the row that this request is about. */
  readonly input: any
}

/** One round of requests for each row of a tool table. */
export interface ForEach<Scope> {
  readonly table: Table<any>
  readonly joins?: Joins
  readonly where?: (scope: Scope) => Where
  /** What `where` cannot say. */
  readonly only?: (row: any) => boolean
  /** What tells inputs apart: records of one that is asked for again replace those stored. Default: all of the input. */
  readonly key?: (input: any) => unknown
  /** The part of the row that the request and the extraction need; stored with every record. */
  readonly input: (row: any) => Record<string, unknown>
  /** All scopes of a connection are told the same of an input: what one has asked the others take over. */
  readonly isShared?: boolean
  /** One request for so many different inputs at most; the request is then given their list. */
  readonly atOnce?: (server: any) => number
  /** Column with the vendor's time of change: later runs ask only for rows changed since. */
  readonly changedBy?: string
  /** Rows that later runs ask for besides: what hangs on them changes without changing them. */
  readonly again?: Again
}

/** Any of these is reason enough. */
export interface Again {
  /** Milliseconds: rows whose time of change lies at most so long before the last run. */
  readonly within?: number
  readonly where?: Where
  /** Rows that have such rows in another table; `by`: column of that table → column of the row. */
  readonly having?: { readonly table: Table<any>; readonly by: Readonly<Record<string, string>>; readonly where: Where }
}

/** How to ask only for what is new. */
export type Incremental =
  /** The API can filter by time of change; `by`: where a record has it, for sources whose answers have no date. */
  | { readonly filterBy: (since: Date, context: CollectContext<any, any>) => Query; readonly by?: TimeSource }
  /** The API can only sort: stop at the first record made before; `refetch` asks again for those not final by then. */
  | { readonly newestFirstBy: TimeSource; readonly lookBack?: LookBack; readonly refetch?: Refetch }
  /** `forEach` says what is new; besides that only what was not final is asked for again. */
  | { readonly refetch: Refetch }

/** For records that change without moving to the front: so many days behind what is known are looked through again. */
export interface LookBack {
  readonly days: number
  /** The records' time of change: what has not changed since is not stored again. */
  readonly changedBy: string
}

const DAY = 86_400_000
/** Where a later run ends that looks back; a full one has no need to. */
export function reachOf(lookBack: LookBack | undefined, since: Date): Date {
  return lookBack ? new Date(since.getTime() - lookBack.days * DAY) : since
}
export const lookBackOf = (
  { incremental }: CollectSpec<any, any>,
  { isFull }: { readonly isFull: boolean },
): LookBack | undefined => (incremental && 'lookBack' in incremental && !isFull ? incremental.lookBack : undefined)

/** Rows of the entity's own table that may still change, and how to ask for one of them. */
export interface Refetch {
  readonly where: Where
  readonly request: (row: any, context: CollectContext<any, any>) => HttpRequest
  /** One request for so many rows at most; it is then given their list. Not together with `input`. */
  readonly atOnce?: number
  /** Where it is a list of its own; one page unless told. */
  readonly paging?: Paging
  /** The records of the answer; unless told its whole body as one, or of a list what the collector reads from others. */
  readonly records?: (body: any) => readonly unknown[]
  /** The input of which it brings the whole list again; without it the answer replaces single records. */
  readonly input?: (row: any) => Record<string, unknown>
}

/** For vendors that hand out only so many results of one query: the time range is cut until each part fits. */
export interface Windows {
  readonly cap: number
  /** Where the range starts when nothing is known. */
  readonly earliest: Date
  readonly query: (window: DateWindow) => Query
  readonly total: (response: HttpResponse) => number
  /** The longest window that the source accepts, in milliseconds. */
  readonly longest?: number
  /** The source leaves out what stands at the end of a window: `query` is given the second after it. */
  readonly isEndExclusive?: boolean
  /** Cuts a second that is still too full by something else than time; what does not fit even then is a gap. */
  readonly split?: { readonly values: readonly string[]; readonly query: (value: string) => Query }
  /** Column with the time that `query` goes by: the newest of what `refetch` names then come with the window. */
  readonly by?: string
}

/** For vendors whose numbered pages end before long lists do. */
export interface LongList {
  /** A list that has so many pages is longer than they tell. */
  readonly mostPages: number
  /** How to ask for the rest; absent: it is missing, and the receipt says so. */
  readonly older?: Older
  /** Where `older` lists other things, which name the records: how to ask for one of them; null: it names none. */
  readonly named?: (name: any, context: CollectContext<any, any>) => HttpRequest | null
}

/** A list inside a record that may go on past what the query asked for; its further nodes are put into the record. */
export interface Completion {
  readonly list: (record: any) => GraphqlList | null | undefined
  readonly request: (record: any, context: CollectContext<any, any>) => HttpRequest
  /** Started at the list's `endCursor`. */
  readonly paging: Paging
}
export interface GraphqlList {
  readonly nodes: unknown[]
  readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor?: string | null }
}

/** For lists that are read by time of change, of which records go and come without one. See collect-reconcile.ts. */
export interface Reconcile {
  /** Lists everything, with little more than names. */
  readonly request: (context: CollectContext<any, any>) => HttpRequest
  /** Large pages, with a total. */
  readonly paging: Paging
  readonly records?: (body: any) => readonly unknown[]
  /** Asks for records by their keys, in the form in which the list gives them. */
  readonly named: {
    readonly atOnce: number
    readonly request: (keys: readonly string[], context: CollectContext<any, any>) => HttpRequest
    readonly paging?: Paging
  }
  /** The name that other records call one by: its column in the entity's own table, and where it stands in a record. */
  readonly renamed?: { readonly column: string; readonly of: (record: any) => unknown }
  /** Rows that name other records in `columns`; what they come from, by `key`, is asked for when those go or are renamed. */
  readonly referring?: readonly {
    readonly table: Table<any>
    readonly columns: readonly string[]
    readonly key: string
    /** Column of the entity's own table that they name them by; default: the record's key. */
    readonly by?: string
  }[]
}

export interface CollectSpec<Scope, Config> {
  /** Nothing is asked for when this says no. */
  readonly when?: (context: Omit<CollectContext<Scope, Config>, 'input'>) => boolean
  readonly forEach?: ForEach<Scope>
  readonly request: (context: CollectContext<Scope, Config>) => HttpRequest
  /** One page when absent. */
  readonly paging?: Paging | ((server: any, options: TaskRun['options']) => Paging)
  /** The records of a page's body; default: the body itself, or the only list in it. */
  readonly records?: (body: any) => readonly unknown[]
  /** What makes two records versions of one, among those of one input; default: their `id`. */
  readonly key?: (record: any) => unknown
  /**
   * Whether a record belongs to the scope that was asked about; one that does not ends the list, and is not stored.
   * `address` is where the answer came from, after redirects.
   */
  readonly isOwn?: (record: any, context: CollectContext<Scope, Config>, address: string) => boolean
  /** What people know a record by, such as its number: where in the record, and in which column of the entity's table. */
  readonly knownBy?: { readonly path: string; readonly column: string }
  /** A whole list that is the same for all scopes of a connection, such as the types of issues. */
  readonly isForAll?: boolean
  readonly incremental?: Incremental
  readonly reconcile?: Reconcile
  readonly windows?: Windows
  readonly longList?: LongList
  readonly completes?: readonly Completion[]
  /** Statuses of a first page that mean "nothing here", not "broken". */
  readonly emptyOn?: readonly number[]
  /** Statuses of a later page that mean "no further than this": a gap that no run can close. */
  readonly endsOn?: readonly number[]
}

/**
 * Raw rows of a collector that asks for parts add up; those of one that asks for all replace each other. Inputs that are
 * asked for one by one count as parts, since an answer that has not changed leaves the row before it in place.
 */
export const isAppending = ({ incremental, windows, forEach }: CollectSpec<any, any>): boolean =>
  Boolean(incremental ?? windows ?? (forEach && (forEach.changedBy || !forEach.atOnce)))

/** Under which the raw records of an input are kept. */
export const groupOf = ({ forEach }: CollectSpec<any, any>, input: unknown): string =>
  keyText(forEach?.key ? forEach.key(input) : input)

export const recordKey = ({ key }: CollectSpec<any, any>, record: any): string =>
  keyText(key ? key(record) : record?.id)

/** Inputs that are asked for one by one: each has its own raw records. */
export const hasOwnInputs = ({ forEach }: CollectSpec<any, any>): boolean => forEach !== undefined && !forEach.atOnce

export const pagingOf = (
  { paging = singlePage }: CollectSpec<any, any>,
  server: unknown,
  options: TaskRun['options'],
): Paging => (typeof paging === 'function' ? paging(server, options) : paging)
