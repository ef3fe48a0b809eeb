/** All that is known while one collector works on one scope. */
import type { AnyRow, RawRecord, TableRow } from '../../database/table.ts'
import type { ApiClient, HttpRequest, HttpResponse, PageState, Paging, Query, Slots } from '../http/index.ts'
import type { Gap, StoredGap } from '../raw/gaps.ts'
import type { Descendants, ScopeRecords } from '../raw/raw-mirror.ts'
import type { RawTable } from '../raw/raw-table.ts'
import type { AnyCollectContext, AnyCollectSpec, LookBack, Reach } from '../spec/collect.ts'
import type { Entity } from '../spec/entity.ts'
import type { SourceTask } from '../spec/plugin.ts'
import type { SubtaskKey } from '../spec/subtask.ts'
import type { TimeSource } from '../spec/times.ts'
import type { RecordsReader } from './pages/records.ts'
import type { Before } from './run/before.ts'
import type { CollectorKey, CollectRun, PartState } from './run/run.ts'
import type { SourceClock } from './run/source-clock.ts'

/** Pages that are asked for as one list. A collector has one list, or one for each of its inputs. */
export interface List {
  /** A list, the part of a list that covers a period of time, or a record that is asked for again. */
  readonly kind: 'list' | 'window' | 'refetch'
  /** Key of its checkpoint. */
  readonly key: string
  /** The input that the request is made from. */
  readonly input: RawRecord
  /** The input that is stored with the records. */
  readonly stored: RawRecord
  /** Group of raw records that the list replaces as a whole; absent: they are replaced one by one. */
  readonly group?: string
  /** The list brings only some records of the group; the others stay. */
  readonly isPart?: boolean
  /** This and the next two replace those of the collector's spec. */
  readonly request?: HttpRequest
  readonly paging?: Paging
  readonly records?: (body: RawRecord) => readonly unknown[]
  /** Its only page, if the request that counted the records already brought it. */
  readonly answer?: HttpResponse
  /** The same list as two, for a list that asks for many things by name, in case they are too many for the server. */
  readonly cutInTwo?: () => readonly List[]
  /** The beginning of a part by time. */
  readonly since?: Date
  /** The list comes newest first, and records older than this are not wanted. */
  readonly reachesTo?: Date
  /** Id of the raw record that is asked for again. It is deleted if the source does not have it any more. */
  readonly record?: number
  /** Remembered when the list has been read, for an input that contains everything its answer depends on. */
  readonly reach?: Reach
  /** It is already known that the source counts more records than it hands out. */
  readonly isCapped?: boolean
}

/** The counts and findings of a collection so far. */
export interface Tally {
  received: number
  expected: number | undefined
  /** The source said that the stored records are still up to date. */
  isUnchanged: boolean
  /** A page came, or the source said that the list is unchanged. */
  hasList: boolean
  /** The only list was refused, or all lists so far: the run is not finished. */
  isLost: boolean
  readonly gaps: Gap[]
  /** Further sentences for the task's message. */
  readonly remarks: string[]
  /** Keys of lists that were read to their end. */
  readonly answered: Set<string>
  /** Groups of inputs whose lists were refused: their stored records stay. */
  readonly refused: Set<string | undefined>
}

/**
 * A way of reading lists: which lists there are, what a request adds, and which records of a page are needed. Each has a file in
 * ways/. Everything else is the same for all of them.
 */
export interface Way {
  /** Those records of a page that the last run has not read. */
  readonly wanted: (reading: Reading, at: PageState, records: readonly unknown[]) => readonly unknown[]
  /** Leaves out wanted records that have not changed since. Absent: none. */
  readonly changed?: ((reading: Reading, records: readonly unknown[]) => readonly unknown[]) | undefined
  /** Added to a request, so that the source sends only changes. */
  readonly filter?: (since: Date, context: AnyCollectContext) => Query
  /** The time of change in a record, for sources that do not tell their own time. */
  readonly changedAt?: TimeSource | undefined
  /** Runs look through this many days of known records again. */
  readonly lookBack?: LookBack | undefined
  /** The list is read only as far as it is new. */
  readonly isNewestFirst?: (list: List) => boolean
  /** How far each list was read is remembered: `isUpToDate` tells by the row of an input whether there is more. */
  readonly isUpToDate?: (row: AnyRow, known: Reach | undefined, run: CollectRun) => boolean
  /** The lists, if they are not one for all or one for each input. */
  readonly lists?: (collection: Collection) => AsyncGenerator<List>
  /** Finds stored records that the run has proved to be gone. */
  readonly missing?: (collection: Collection) => Promise<number[]>
}

export type Missing = Pick<StoredGap, 'kind' | 'list' | 'input' | 'since'>

export interface Collection {
  readonly entity: Entity
  readonly spec: AnyCollectSpec
  readonly task: SourceTask
  readonly subtaskKey: SubtaskKey
  readonly client: ApiClient
  readonly base: Omit<AnyCollectContext, 'input' | 'inputs'>
  readonly raw: RawTable
  /** Names its state, such as checkpoints and tags. */
  readonly key: CollectorKey
  /** Its raw records, and the tables whose rows are made from them. */
  readonly records: ScopeRecords
  readonly descendants: Descendants
  /** Still right at the end: nothing else changes the state of this scope during the collection. */
  readonly before: Pick<Before, 'hasGaps' | 'hasEarly'>
  readonly run: CollectRun
  readonly clock: SourceClock
  /** Data that earlier runs asked for without success, and inputs of records that deliveries brought. This run asks for both. */
  readonly missing: readonly Missing[]
  readonly tally: Tally
  readonly way: Way
  /** Groups of inputs that were asked for, and of rows that have changed and are no inputs any more. */
  readonly inputs: { readonly asked: Set<string>; readonly unwanted: Set<string> }
  /** Ids of raw records that were asked for singly and that the source does not have any more. */
  readonly gone: Set<number>
  /** The name by which people know a record → the key under which it came. */
  readonly names: Map<string, string>
  readonly store: StorePage
  /** A page takes a slot from its request until it is stored, so a kill loses no more pages than there are slots. */
  readonly unstored: Slots
  /** How far each numbered list is known, or a digest of the answered input (see run/reaches.ts), by group of raw records. */
  readonly reaches: ReadonlyMap<string, Reach>
  readonly concurrency: number
}

/** A list, ready to be asked for. */
export interface OpenList {
  readonly list: List
  readonly request: HttpRequest
  readonly paging: Paging
  /** Asked for without filter or window, so that its first page may tell that nothing has changed. */
  readonly isWhole: boolean
}

/** Pages of a list that share a checkpoint. */
export interface Part {
  /** Key of its checkpoint. */
  readonly key: string
  /** The place and the count in the checkpoint of an earlier run. */
  readonly resume?: { readonly from: PartState; readonly received: number } | undefined
  /** Its first page, if parts are read in parallel; absent: the first page of the list. */
  readonly start?: PageState
  /** Read on after its first page to the end of the list. */
  readonly goesToEnd?: boolean
  /** Leave the pages after the first to the caller, if it is known which they are. */
  readonly mayLeaveRest?: boolean
}

/** A part while it is read. */
export interface Reading {
  readonly collection: Collection
  readonly open: OpenList
  readonly part: Part
  readonly signal: AbortSignal
  readonly records: RecordsReader
  /** Number of records that have arrived so far. */
  received: number
  /** The first and the latest total that the source gave. */
  firstTotal: number | undefined
  total: number | undefined
  /** Number of records asked for so far. */
  read: number
  /**
   * `known`: reach of a numbered list from before, unset when it turns out to be another list. `newest`: the record that this
   * reading began with.
   */
  known: Reach | undefined
  newest: Reach | undefined
  /** Reading stopped before the end of the list, because nothing after this page is needed. */
  isCut: boolean
}

/** A page: its records, the checkpoint that counts them, and ETags that may save requests later. */
export interface StoredPage {
  readonly rows: readonly TableRow[]
  /** The group of raw records that is complete with this page: its older records are deleted. */
  readonly replaced?: string | undefined
  /** The group whose records have not changed. */
  readonly renewed?: { readonly group?: string; readonly stored: unknown } | undefined
}

/** Stores a page completely or not at all. */
export type StorePage = (page: StoredPage) => Promise<void>

/** Makes the context of a request. An array as input stands for many inputs in one request. */
export const contextOf = ({ base }: Pick<Collection, 'base'>, input: unknown): AnyCollectContext => ({
  ...base,
  ...(Array.isArray(input) ? { input: null, inputs: input } : { input, inputs: input === null ? [] : [input] }),
})

/** A list about many things, which can be asked for as two lists if they are too many for the server. */
export function listOfMany<Item>(items: readonly Item[], listOf: (items: readonly Item[]) => List): List {
  const middle = Math.ceil(items.length / 2)
  const cutInTwo = () => [listOfMany(items.slice(0, middle), listOf), listOfMany(items.slice(middle), listOf)]
  return { ...listOf(items), ...(items.length > 1 && { cutInTwo }) }
}

export const batchesOf = <Item>(items: readonly Item[], size: number): (readonly Item[])[] =>
  Array.from({ length: Math.ceil(items.length / size) }, (_, index) => items.slice(index * size, (index + 1) * size))
