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

/** What a request may be made from. */
export interface CollectContext<Scope, Config, Server = unknown, Input = null> {
  readonly connectionId: number
  readonly connection: ConnectionFacts
  readonly scope: Scope
  readonly scopeConfig: Config
  /** What the plugin's probe learned of the server. */
  readonly server: Server
  /** What `forEach` made of the row that this request is about; null without `forEach`, and with its `atOnce`. */
  readonly input: Input
  /** The same of all rows that this request is about. */
  readonly inputs: readonly Input[]
}
/** What is known before there is an input. */
export type BaseContext<Scope, Config, Server> = Omit<CollectContext<Scope, Config, Server>, 'input' | 'inputs'>
// biome-ignore lint/suspicious/noExplicitAny: the engine calls the functions of every plugin, and knows the types of none
export type AnyCollectContext = CollectContext<any, any, any, any>
// biome-ignore lint/suspicious/noExplicitAny: as above
export type AnyCollectSpec = CollectSpec<any, any, any, any, any, any, any>
// biome-ignore lint/suspicious/noExplicitAny: as above
export type AnyForEach = ForEach<any, any, any, any, any>

/** One round of requests for each row of a tool table. */
export interface ForEach<Scope, Server, T extends AnyTable, J extends Joins, Input> {
  readonly table: T
  readonly joins?: J
  readonly where?: (scope: Scope) => Where
  /** What `where` cannot say. */
  readonly only?: (row: JoinedRow<T, J>) => boolean
  /** What tells inputs apart: records of one that is asked for again replace those stored. Default: all of the input. */
  readonly key?: (input: Input) => unknown
  /** The part of the row that the request and the extraction need; stored with every record. */
  readonly input: (row: JoinedRow<T, J>) => Input
  /** All scopes of a connection are told the same of an input: what one has asked the others take over. */
  readonly isShared?: boolean
  /** One request for so many different inputs at most, which are the `inputs` of its context. */
  readonly atOnce?: (server: Server) => number
  /**
   * The input has all that the answer depends on, such as the newest commit of a branch: later runs ask only where it is another
   * than the one that was answered. `key` then names less than all of it.
   */
  readonly tellsChange?: true
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
  readonly having?: { readonly table: AnyTable; readonly by: Readonly<Record<string, string>>; readonly where: Where }
}

/** How to ask only for what is new. */
export type Incremental<Context, T extends AnyTable> =
  /** The API can filter by time of change; `by`: where a record has it, for sources whose answers have no date. */
  | { readonly filterBy: (since: Date, context: Context) => Query; readonly by?: TimeSource }
  /** The API can only sort: stop at the first record made before; `refetch` asks again for those not final by then. */
  | { readonly newestFirstBy: TimeSource; readonly lookBack?: LookBack; readonly refetch?: Refetch<Context, T> }
  /** The lists of `forEach` are numbered, newest first: each is read down to the newest record known of it. */
  | { readonly numbered: Numbered; readonly refetch?: Refetch<Context, T> }
  /** `forEach` says what is new; besides that only what was not final is asked for again. */
  | { readonly refetch: Refetch<Context, T> }

/** For lists to which records are added at the front alone, such as builds of a job. See collect/numbered.ts. */
export interface Numbered {
  readonly of: (record: RawRecord) => Reach
  /** The newest record of a list, if the row says it that is iterated over: then a list that is known is not asked for. */
  readonly newest?: (row: AnyRow) => Reach
}
/** A record's number, and when it was made in milliseconds: another record may get the number later. */
export interface Reach {
  readonly number: number
  readonly made: number
}
export const numberedOf = ({ incremental }: AnyCollectSpec): Numbered | undefined =>
  incremental && 'numbered' in incremental ? incremental.numbered : undefined

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
  { incremental }: AnyCollectSpec,
  { isFull }: { readonly isFull: boolean },
): LookBack | undefined => (incremental && 'lookBack' in incremental && !isFull ? incremental.lookBack : undefined)

/** Rows of the entity's own table that may still change, and how to ask for one of them. */
export interface Refetch<Context, T extends AnyTable> {
  readonly where: Where
  /** `rows` are all that the request is about: one, unless `atOnce` says otherwise. */
  readonly request: (row: RowOf<T>, context: Context, rows: readonly RowOf<T>[]) => HttpRequest
  /** One request for so many rows at most. Not together with `input`. */
  readonly atOnce?: number
  /** Where it is a list of its own; one page unless told. */
  readonly paging?: Paging
  /** The records of the answer; unless told its whole body as one, or of a list what the collector reads from others. */
  readonly records?: (body: RawRecord) => readonly unknown[]
  /** The input of which it brings the whole list again; without it the answer replaces single records. */
  readonly input?: (row: RowOf<T>) => Record<string, unknown>
  /** The input among whose records the answer replaces a single one. */
  readonly within?: (row: RowOf<T>) => Record<string, unknown>
}
// biome-ignore lint/suspicious/noExplicitAny: the engine knows the types of no plugin
export type AnyRefetch = Refetch<any, any>

/** For vendors that hand out only so many results of one query: the time range is cut until each part fits. */
export interface Windows {
  readonly cap: number
  /** Where the range starts when nothing is known. */
  readonly earliest: Date
  readonly query: (window: DateWindow) => Query
  readonly total: (response: HttpResponse) => number
  /** Every run reads all windows: the source does not tell what changed. */
  readonly isWhole?: boolean
  /** The longest window that the source accepts, in milliseconds. */
  readonly longest?: number
  /**
   * Asks for all times at once, which `longest` does not forbid: one list where that fits. Records must come newest first
   * (`newestFirstBy`), so that the list can end where the range begins.
   */
  readonly whole?: Query
  /** Asks for the oldest record of all times first, and reads its time: what lies before it need not be asked about. */
  readonly oldest?: { readonly query: Query; readonly at: (body: RawRecord) => unknown }
  /** The source leaves out what stands at the end of a window: `query` is given the second after it. */
  readonly isEndExclusive?: boolean
  /** Cuts a second that is still too full by something else than time; what does not fit even then is a gap. */
  readonly split?: { readonly values: readonly string[]; readonly query: (value: string) => Query }
  /** Column with the time that `query` goes by: the newest of what `refetch` names then come with the window. */
  readonly by?: string
  /** Later runs look through so many of the newest records at least, however old they are, for those that changed. */
  readonly lookThrough?: number
}

/** For vendors whose numbered pages end before long lists do. */
export interface LongList<Context> {
  /** A list that has so many pages is longer than they tell. */
  readonly mostPages: number
  /** How to ask for the rest; absent: it is missing, and the receipt says so. */
  readonly older?: Older
  /** Where `older` lists other things, which name the records: how to ask for one of them; null: it names none. */
  readonly named?: (name: RawRecord, context: Context) => HttpRequest | null
}

/** A list inside a record that may continue past what the query asked for; its further nodes are put into the record. */
export interface Completion<Context> {
  readonly list: (record: RawRecord) => GraphqlList | null | undefined
  readonly request: (record: RawRecord, context: Context) => HttpRequest
  /** Started at the list's `endCursor`. */
  readonly paging: Paging
}
export interface GraphqlList {
  readonly nodes: unknown[]
  readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor?: string | null }
}

/** For lists that are read by time of change, of which records go and come without one. See collect/reconcile.ts. */
export interface Reconcile<Context = AnyCollectContext> {
  /** Lists everything, with little more than names. */
  readonly request: (context: Context) => HttpRequest
  /** Large pages, with a total. */
  readonly paging: Paging
  readonly records?: (body: RawRecord) => readonly unknown[]
  /**
   * Where a name has the time that the collector goes by, if it cannot filter by it: names from before the start date are
   * listed, and are not wanted.
   */
  readonly by?: TimeSource
  /** Asks for records by their keys, in the form in which the list gives them. */
  readonly named: {
    readonly atOnce: number
    readonly request: (keys: readonly string[], context: Context) => HttpRequest
    readonly paging?: Paging
  }
  /** The name that other records call one by: its column in the entity's own table, and where it stands in a record. */
  readonly renamed?: { readonly column: string; readonly of: (record: RawRecord) => unknown }
  /** Rows that name other records in `columns`; what they come from, by `key`, is asked for when those go or are renamed. */
  readonly referring?: readonly {
    readonly table: AnyTable
    readonly columns: readonly string[]
    readonly key: string
    /** Column of the entity's own table that they name them by; default: the record's key. */
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
  /** Nothing is asked for when this says no. */
  readonly when?: (context: BaseContext<Scope, Config, Server>) => boolean
  readonly forEach?: ForEach<Scope, Server, F, J, Input>
  readonly request: (context: Context) => HttpRequest
  /** One page when absent. */
  readonly paging?: Paging | ((server: Server, options: TaskRun['options']) => Paging)
  /** The records of a page's body; default: the body itself, or the only list in it. */
  readonly records?: (body: RawRecord) => readonly unknown[]
  /** What makes two records versions of one, among those of one input; default: their `id`. */
  readonly key?: (record: RawRecord) => unknown
  /**
   * Whether a record belongs to the scope that was asked about; one that does not ends the list, and is not stored.
   * `address` is where the answer came from, after redirects.
   */
  readonly isOwn?: (record: RawRecord, context: Context, address: string) => boolean
  /** What people know a record by, such as its number: where in the record, and in which column of the entity's table. */
  readonly knownBy?: { readonly path: string; readonly column: string }
  /** Every record is an incident, by no rule of ours: a list that came whole and empty says that none happened. */
  readonly tellsIncidents?: true
  /** A whole list that is the same for all scopes of a connection, such as the types of issues. */
  readonly isForAll?: boolean
  /**
   * The source tells only of the newest records: whether one that comes no more stays as it was, by its key. It was there, and
   * nothing says that it is gone. Only for collectors without inputs.
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
   * The source can switch the list off, and then answers with a status of `emptyOn`: where records are stored they stay, and a
   * gap says so. Only for collectors without inputs.
   */
  readonly canBeSwitchedOff?: boolean
  /** Statuses of a later page that mean "no further than this": a gap that no run can close. */
  readonly endsOn?: readonly number[]
}

/**
 * Raw rows of a collector that asks for parts add up; those of one that asks for all replace each other. Inputs that are
 * asked for one by one count as parts, since an answer that has not changed leaves the row before it in place.
 */
export const isAppending = ({ incremental, windows, forEach }: AnyCollectSpec): boolean =>
  Boolean(incremental ?? windows ?? (forEach && (forEach.changedBy || !forEach.atOnce)))

/** Under which the raw records of an input are kept. */
export const groupOf = ({ forEach }: AnyCollectSpec, input: unknown): string =>
  keyText(forEach?.key ? forEach.key(input) : input)

export const recordKey = ({ key }: AnyCollectSpec, record: RawRecord): string => keyText(key ? key(record) : record?.id)

/** Inputs that are asked for one by one: each has its own raw records. */
export const hasOwnInputs = ({ forEach }: AnyCollectSpec): boolean => forEach !== undefined && !forEach.atOnce

export const pagingOf = (
  { paging = singlePage }: AnyCollectSpec,
  server: unknown,
  options: TaskRun['options'],
): Paging => (typeof paging === 'function' ? paging(server, options) : paging)
