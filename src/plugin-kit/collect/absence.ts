/** Decides whether an answer that there is nothing may be believed. If it is, the stored records are deleted. */
import { HttpFatalError } from '../http/index.ts'
import { extractedTables } from '../raw/descendants.ts'
import { storedGaps } from '../raw/gaps.ts'
import { rawTable } from '../raw/raw-table.ts'
import type { Collection, List } from './collection.ts'
import { requireScope } from './scope-check.ts'

interface Answer {
  readonly status: number
  readonly address: string
}

const KEPT = 'What was collected of it is kept.'

/** Throws if the stored records must be kept. */
export async function requireAbsence(collection: Collection, list: List, { status, address }: Answer): Promise<void> {
  const { spec, task, client, run } = collection
  const isWhole = list.key === ''
  // The whole scope may be gone. Then none of its lists may be treated as empty.
  if (isWhole || run.hasRecords) await requireScope(task, client, status)
  if (!run.hasRecords) return
  const fail = (reason: string) =>
    new HttpFatalError(`${address} answers ${status}: ${reason} ${KEPT}`, { address, status })
  if (isWhole && spec.canBeSwitchedOff) throw fail('it was switched off, or is not there any more.')
  if (!isWhole && (await isParentLost(collection))) throw fail('so did the list that names it.')
}

const known = new WeakMap<Collection, Promise<boolean>>()

/** True if the source also refused the list that the inputs come from. */
function isParentLost(collection: Collection): Promise<boolean> {
  const answer = known.get(collection) ?? askParents(collection)
  known.set(collection, answer)
  return answer
}

async function askParents({ spec, task }: Collection): Promise<boolean> {
  const { database, plugin, params } = task
  const parent = spec.forEach?.table
  for (const entity of parent ? plugin.entities : []) {
    if (!entity.spec.raw || !extractedTables(entity).includes(parent)) continue
    const gaps = await storedGaps(database, { raw_table: rawTable(entity.spec.raw).name, params })
    if (gaps.some(({ list, kind }) => list === '' && kind === 'lost')) return true
  }
  return false
}
