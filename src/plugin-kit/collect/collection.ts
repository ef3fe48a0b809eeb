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

/** What is asked for in one go, page after page: a collector has one, or one for each of its inputs. */
export interface List {
  /** A list, a part of one by time, or one record asked for again. */
  readonly kind: 'list' | 'window' | 'refetch'
  /** Names its checkpoint. */
  readonly key: string
  /** What the request is made from. */
  readonly input: RawRecord
  /** What is stored with the records. */
  readonly stored: RawRecord
  /** Names the raw records that it replaces as a whole; absent: they are replaced one by one. */
  readonly group?: string
  /** It brings some of them, and the others stay. */
  readonly isPart?: boolean
  /** Instead of what the collector's spec says. */
  readonly request?: HttpRequest
  readonly paging?: Paging
  readonly records?: (body: RawRecord) => readonly unknown[]
  /** Its only page, where counting already brought it. */
  readonly answer?: HttpResponse
  /** The same as two lists, where it asks for many things by name and the server finds them too many. */
  readonly cutInTwo?: () => readonly List[]
  /** Where a part by time begins. */
  readonly since?: Date
  /** It comes newest first, and what is older is not wanted. */
  readonly reachesTo?: Date
  /** The raw record that is asked for again: where the source has it no more, it goes. */
  readonly record?: number
  /** The source counts more than it hands out, and that is known already. */
  readonly isCapped?: boolean
}

export interface Tally {
  received: number
  expected: number | undefined
  /** The source said that what is stored is still right. */
  isUnchanged: boolean
  readonly gaps: Gap[]
  /** What else the task's message should tell. */
  readonly remarks: string[]
  /** Lists that came to their end, by their keys. */
  readonly answered: Set<string>
  /** The only list was refused, or all that were asked for: the run is not at its end. */
  isLost: boolean
  /** A page of the only list came, or the source said that it is unchanged. */
  hasList: boolean
  /** Inputs that were asked for, and those that changed and are none any more, by the group of their raw records. */
  readonly asked: Set<string>
  readonly unwanted: Set<string>
  /** Inputs whose lists were refused: what is stored of them stays. */
  readonly refused: Set<string | undefined>
  /** Records that the source was asked for by themselves and has no more, by their ids. */
  readonly gone: Set<number>
  /** The time whose records were all asked for, where they are asked for by time. */
  range: DateWindow | undefined
  /** Keys of records that came and were not stored, being as they were. */
  readonly known: Set<string>
  /** What people know records by → the key under which they came. */
  readonly names: Map<string, string>
}

export type Missing = Pick<StoredGap, 'kind' | 'list' | 'input' | 'since'>

/** One collection under way. */
export interface Collection {
  readonly entity: Entity
  readonly spec: AnyCollectSpec
  readonly task: SourceTask
  readonly subtaskKey: SubtaskKey
  readonly client: ApiClient
  readonly base: Omit<AnyCollectContext, 'input' | 'inputs'>
  readonly raw: RawTable
  /** Nobody else changes what is known of the scope meanwhile. */
  readonly before: Pick<Before, 'hasGaps' | 'hasEarly'>
  readonly run: CollectRun
  readonly clock: SourceClock
  /** What earlier runs asked for in vain, and this one asks for again; besides, what came before it was asked for. */
  readonly missing: readonly Missing[]
  readonly tally: Tally
  readonly store: StorePage
  /** A page takes a slot from when it is asked for until it is stored: so many at most are lost when we are killed. */
  readonly unstored: Slots
  /** Of numbered lists what is known of them, by the group of their raw records. */
  readonly reaches: ReadonlyMap<string, Reach>
  readonly concurrency: number
}

/** What a request is made from; an input that is a list stands for many at once. */
export const contextOf = ({ base }: Pick<Collection, 'base'>, input: unknown): AnyCollectContext => ({
  ...base,
  ...(Array.isArray(input) ? { input: null, inputs: input } : { input, inputs: input === null ? [] : [input] }),
})

/** A list about many things, which can be asked for as two lists when the server finds them too many. */
export function listOfMany<Item>(items: readonly Item[], listOf: (items: readonly Item[]) => List): List {
  const middle = Math.ceil(items.length / 2)
  const cutInTwo = () => [listOfMany(items.slice(0, middle), listOf), listOfMany(items.slice(middle), listOf)]
  return { ...listOf(items), ...(items.length > 1 && { cutInTwo }) }
}
