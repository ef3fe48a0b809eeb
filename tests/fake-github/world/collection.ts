import { CHILD_SPAN } from './ids.ts'
import type { Item } from './records.ts'

/** The source of a collection's records: indexes are enumerated, records are built on demand, and only some are kept. */
export interface Source<T extends Item> {
  readonly parents: () => Iterable<number>
  readonly indexes: (parent: number) => Iterable<number>
  /** Whether `indexes` contains this one, without walking through them. */
  readonly holds: (index: number) => boolean
  /** Whether the parent of the record still exists. */
  readonly belongs: (index: number) => boolean
  /** Returns the index for a record that is added later. */
  readonly next: (parent: number) => number
  readonly build: (index: number) => T
}

/** Counts changes in a repository, so that cached selections know when they are outdated. */
export interface Revision {
  value: number
}

export interface Selection<T extends Item> {
  readonly key: (item: T) => string
  readonly direction: 'asc' | 'desc'
  readonly where?: ((item: T) => boolean) | undefined
  /** Identifies the three fields above: selections with the same name are computed once until something changes. */
  readonly name: string
}
/** A position in a list, sorted by key and then index. It stays comparable when records are added or removed. */
export interface Place {
  readonly key: string
  readonly index: number
}

export interface Collection<T extends Item> extends Iterable<T> {
  readonly size: number
  has(index: number): boolean
  indexes(): Iterable<number>
  get(index: number): T | undefined
  /** The record as it was generated, without later edits. Records below it are generated from it and therefore do not change. */
  made(index: number): T | undefined
  childrenOf(parent: number): T[]
  countOf(parent: number): number
  select(selection: Selection<T>): readonly Place[]
  add(parent: number, values: Partial<T>): T
  edit(index: number, values: Partial<T>): T
  remove(index: number): void
}

const SELECTIONS_KEPT = 64
/** Children ask for their parent again and again. */
const RECORDS_KEPT = 1000

export function collection<T extends Item>(source: Source<T>, revision: Revision): Collection<T> {
  const edits = new Map<number, Partial<T>>()
  const added = new Map<number, number[]>()
  const addedIndexes = new Set<number>()
  const removed = new Set<number>()
  const originals = new Map<number, T>()
  const selections = new Map<string, readonly Place[]>()
  const records = new Map<number, T>()
  let selectionsOf = revision.value
  let recordsOf = revision.value

  const exists = (index: number): boolean =>
    !removed.has(index) && (addedIndexes.has(index) ? source.belongs(index) : source.holds(index))
  const build = (index: number): T => {
    if (recordsOf !== revision.value || records.size >= RECORDS_KEPT) records.clear()
    recordsOf = revision.value
    const known = records.get(index)
    if (known !== undefined) return known
    const changes = edits.get(index)
    const record = changes === undefined ? source.build(index) : { ...source.build(index), ...changes }
    records.set(index, record)
    return record
  }
  function* indexesOf(parent: number): Generator<number> {
    for (const index of source.indexes(parent)) if (!removed.has(index)) yield index
    for (const index of added.get(parent) ?? []) if (!removed.has(index)) yield index
  }
  function* indexes(): Generator<number> {
    for (const parent of source.parents()) yield* indexesOf(parent)
  }
  const requireExisting = (index: number): void => {
    if (!exists(index)) throw new Error(`there is nothing at index ${index} to change`)
  }

  return {
    get size() {
      return length(indexes())
    },
    has: exists,
    indexes,
    get: (index) => (exists(index) ? build(index) : undefined),
    made: (index) => originals.get(index) ?? (exists(index) ? build(index) : undefined),
    childrenOf: (parent) => Array.from(indexesOf(parent), build),
    countOf: (parent) => length(indexesOf(parent)),
    *[Symbol.iterator]() {
      for (const index of indexes()) yield build(index)
    },
    select({ key, direction, where, name }) {
      if (selectionsOf !== revision.value || selections.size >= SELECTIONS_KEPT) selections.clear()
      selectionsOf = revision.value
      const known = selections.get(name)
      if (known !== undefined) return known
      const places: Place[] = []
      for (const index of indexes()) {
        const item = build(index)
        if (where === undefined || where(item)) places.push({ key: key(item), index })
      }
      places.sort(comparePlaces)
      if (direction === 'desc') places.reverse()
      selections.set(name, places)
      return places
    },
    add(parent, values) {
      const index = source.next(parent)
      added.set(parent, [...(added.get(parent) ?? []), index])
      addedIndexes.add(index)
      edits.set(index, values)
      revision.value++
      return build(index)
    },
    edit(index, values) {
      requireExisting(index)
      if (!originals.has(index)) originals.set(index, build(index))
      edits.set(index, { ...edits.get(index), ...values } as Partial<T>)
      revision.value++
      return build(index)
    },
    remove(index) {
      requireExisting(index)
      removed.add(index)
      revision.value++
    },
  }
}

function length(items: Iterable<unknown>): number {
  let count = 0
  for (const _ of items) count++
  return count
}

export const comparePlaces = (a: Place, b: Place): number =>
  a.key < b.key ? -1 : a.key > b.key ? 1 : a.index - b.index

/** A source without parents: records 1 to `count`. */
export function listSource<T extends Item>(count: number, build: (index: number) => T): Source<T> {
  let last = count
  return {
    parents: () => [0],
    indexes: function* () {
      for (let index = 1; index <= count; index++) yield index
    },
    holds: (index) => Number.isInteger(index) && index >= 1 && index <= count,
    belongs: () => true,
    next: () => ++last,
    build,
  }
}

/** A source whose records belong to records of other collections. Each parent has `count(parent)` of them. */
export function childSource<T extends Item>(
  parents: readonly Collection<Item>[],
  count: (parent: number) => number,
  build: (index: number, parent: number, ordinal: number) => T,
): Source<T> {
  const addedTo = new Map<number, number>()
  const belongs = (index: number): boolean => {
    const parent = Math.floor(index / CHILD_SPAN)
    return parents.some((collection) => collection.has(parent))
  }
  return {
    parents: function* () {
      for (const collection of parents) yield* collection.indexes()
    },
    indexes: function* (parent) {
      for (let ordinal = 0; ordinal < count(parent); ordinal++) yield parent * CHILD_SPAN + ordinal
    },
    holds: (index) => {
      return index % CHILD_SPAN < count(Math.floor(index / CHILD_SPAN)) && belongs(index)
    },
    belongs,
    next: (parent) => {
      const extra = addedTo.get(parent) ?? 0
      addedTo.set(parent, extra + 1)
      return parent * CHILD_SPAN + count(parent) + extra
    },
    build: (index) => build(index, Math.floor(index / CHILD_SPAN), index % CHILD_SPAN),
  }
}
