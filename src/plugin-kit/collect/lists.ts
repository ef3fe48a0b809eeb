/** The lists of a collector: one, or one for each row of a tool table or date window; and records that were not final. */
import { groupOf, numberedOf } from '../spec/collect.ts'
import { inputRows } from '../task/input-rows.ts'
import { openBorrowing } from './borrow.ts'
import { type Collection, type List, listOfMany } from './collection.ts'
import { newIn } from './new-rows.ts'
import { inputReach, isSameReach, isUpToDate } from './numbered.ts'
import { unfinishedLists } from './refetch.ts'
import { type CollectRun, inputKey } from './run.ts'
import type { LastRun } from './run-window.ts'
import { windowsOf } from './windows.ts'

export async function* listsOf(collection: Collection): AsyncGenerator<List> {
  const { spec, run } = collection
  if (spec.windows) yield* windowsOf(collection, spec.windows)
  else if (spec.forEach) yield* rowsOf(collection)
  else yield { kind: 'list', key: '', input: null, stored: null }
  if (!run.isFull) yield* unfinishedLists(collection)
}

async function* rowsOf(collection: Collection): AsyncGenerator<List> {
  const { entity, spec, task, base, run, tally, reaches } = collection
  const numbered = numberedOf(spec)
  const forEach = spec.forEach!
  const { only, input, atOnce, changedBy, tellsChange } = forEach
  // Kept as text and without the rest of their rows: hundreds of thousands of inputs may wait here for their turn.
  const inputs = new Set<string>()
  const isNew = changedBy && addsToLast(run) ? await newIn({ ...forEach, changedBy }, task, run) : undefined
  for await (const row of inputRows(task.database, task, entity, forEach, isNew)) {
    const group = groupOf(spec, input(row))
    if (only && !only(row)) tally.unwanted.add(group)
    else if (numbered?.newest && isUpToDate(numbered.newest(row), reaches.get(group), run.timeAfter))
      tally.asked.add(group)
    else if (tellsChange && isSameReach(inputReach(input(row)), reaches.get(group))) tally.asked.add(group)
    else inputs.add(JSON.stringify(input(row)))
  }
  const missing = run.isFull ? [] : await missingInputs(collection)
  const size = atOnce?.(base.server)
  if (size === undefined) for (const each of missing.flat()) inputs.add(JSON.stringify(each))
  if (size === undefined) {
    const borrow = await openBorrowing(collection)
    for (const text of inputs) {
      const each = JSON.parse(text)
      const group = groupOf(spec, each)
      tally.asked.add(group)
      if (await borrow(each, group)) continue
      yield { kind: 'list', key: inputKey(each), input: each, stored: each, group }
    }
    return
  }
  const all = [...inputs].map((text) => JSON.parse(text))
  const batches = Array.from({ length: Math.ceil(all.length / size) }, (_, index) =>
    all.slice(index * size, (index + 1) * size),
  )
  for (const some of [...batches, ...missing]) {
    yield listOfMany<unknown>(some, (items) => ({ kind: 'list', key: inputKey(items), input: items, stored: null }))
  }
}

const addsToLast = (run: CollectRun): run is CollectRun & { readonly since: Date; readonly last: LastRun } =>
  run.since !== null && run.last !== null

/** Inputs of lists that earlier runs asked for without success, if their rows still exist; one array for each list. */
async function missingInputs(collection: Collection): Promise<unknown[][]> {
  const { entity, spec, task, tally } = collection
  const { only, input } = spec.forEach!
  const lists = collection.missing.filter((gap) => gap.input !== null)
  if (lists.length === 0) return []
  const wanted = new Set(lists.flatMap((gap) => [gap.input].flat().map(orderedText)))
  const found = new Map<string, unknown>()
  for await (const row of inputRows(task.database, task, entity, spec.forEach!)) {
    const asked = input(row)
    const text = orderedText(asked)
    if (wanted.has(text) && (only?.(row) ?? true)) found.set(text, asked)
  }
  return lists.flatMap((gap) => {
    const there = [gap.input].flat().flatMap((each) => found.get(orderedText(each)) ?? [])
    // The rows that the list was about are gone, so nothing is missing any more.
    if (there.length === 0) tally.answered.add(gap.list)
    return there.length === 0 ? [] : [there]
  })
}

/** Gives the same text for the same input. A database may return the fields of stored JSON in another order. */
const orderedText = (input: unknown): string =>
  JSON.stringify(input, (_name, value) =>
    value !== null && typeof value === 'object' && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1)))
      : value,
  )
