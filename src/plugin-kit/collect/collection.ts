import type { RawRecord } from '../../database/table.ts'
import type { ApiClient, DateWindow, HttpRequest, HttpResponse, Paging, Slots } from '../http/index.ts'
import type { Gap, StoredGap } from '../raw/gaps.ts'
import type { RawTable } from '../raw/raw-table.ts'
import type { AnyCollectContext, AnyCollectSpec, Reach } from '../spec/collect.ts'
import type { Entity } from '../spec/entity.ts'
import type { SourceTask } from '../spec/plugin.ts'
import type { SubtaskKey } from '../spec/subtask.ts'
import type { Before } from './before.ts'
import type { StorePage } from './page-store.ts'
import type { CollectRun } from './run.ts'
import type { SourceClock } from './source-clock.ts'

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
  /** It is already known that the source counts more records than it hands out. */
  readonly isCapped?: boolean
}

export interface Tally {
  received: number
  expected: number | undefined
  /** The source said that the stored records are still up to date. */
  isUnchanged: boolean
  readonly gaps: Gap[]
  /** Further sentences for the task's message. */
  readonly remarks: string[]
  /** Keys of lists that were read to their end. */
  readonly answered: Set<string>
  /** The only list was refused, or all lists so far: the run is not finished. */
  isLost: boolean
  /** A page came, or the source said that the list is unchanged. */
  hasList: boolean
  /** Groups of inputs that were asked for, and of rows that have changed and are no inputs any more. */
  readonly asked: Set<string>
  readonly unwanted: Set<string>
  /** Groups of inputs whose lists were refused: their stored records stay. */
  readonly refused: Set<string | undefined>
  /** Ids of raw records that were asked for singly and that the source does not have any more. */
  readonly gone: Set<number>
  /** The period whose records were all asked for, if the collector asks by time. */
  range: DateWindow | undefined
  /** Keys of records that came unchanged and were therefore not stored. */
  readonly known: Set<string>
  /** The name by which people know a record → the key under which it came. */
  readonly names: Map<string, string>
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
  /** Still right at the end: nothing else changes the state of this scope during the collection. */
  readonly before: Pick<Before, 'hasGaps' | 'hasEarly'>
  readonly run: CollectRun
  readonly clock: SourceClock
  /** Data that earlier runs asked for without success, and inputs of records that deliveries brought. This run asks for both. */
  readonly missing: readonly Missing[]
  readonly tally: Tally
  readonly store: StorePage
  /** A page takes a slot from its request until it is stored, so a kill loses no more pages than there are slots. */
  readonly unstored: Slots
  /** How far each numbered list is known, or a digest of the answered input (see numbered.ts), by group of raw records. */
  readonly reaches: ReadonlyMap<string, Reach>
  readonly concurrency: number
}

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
