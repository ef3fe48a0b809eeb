/** Copies an answer that another scope of the connection has just received. Many repositories ask about the same people. */
import { sql } from 'kysely'
import { collectCheckpoints, collectEtags } from '../../raw/collect-tables.ts'
import type { Collection } from '../collection.ts'
import { inputKey } from '../run/run.ts'

/** Answers older than this are not copied, even for a scope that never asked. */
const FRESH = 24 * 3_600_000

/** Copies the answer about an input; false: it has to be asked for. */
type Borrow = (input: unknown, group: string) => Promise<boolean>

export async function openBorrowing(collection: Collection): Promise<Borrow> {
  const { spec, task, raw, run } = collection
  if (!spec.forEach?.isShared || task.fullSync) return async () => false
  // A scope that has asked before needs an answer that is newer than its own.
  const from = new Date(Math.max(run.last?.startedAt?.getTime() ?? 0, run.startedAt.getTime() - FRESH))
  const { rows } = await sql<{ input_key: string; params: string }>`select input_key, params
    from ${sql.table(collectEtags.name)} where raw_table = ${raw.name} and params <> ${task.params} and updated_at >= ${from}
    order by updated_at`.execute(task.database.kysely)
  const { connectionId } = task.context
  const own = rows.filter(({ params }) => JSON.parse(params).ConnectionId === connectionId)
  const lenders = new Map(own.map(({ input_key, params }) => [input_key, params]))
  return async (input, group) => {
    const key = inputKey(input)
    const lender = lenders.get(key)
    if (lender === undefined || run.checkpoints.get(key)?.is_done) return false
    return takeOver(collection, { input, group, key, lender })
  }
}

interface Loan {
  readonly input: unknown
  readonly group: string
  readonly key: string
  /** Params of the scope whose answer is copied. */
  readonly lender: string
}

async function takeOver(collection: Collection, { input, group, key, lender }: Loan): Promise<boolean> {
  const { task, raw, store, tally } = collection
  const { params, database } = task
  const { rows } = await sql<{ data: Buffer; url: string; record_key: string }>`select data, url, record_key
    from ${sql.table(raw.name)} where params = ${lender} and input_key = ${group} order by id`.execute(database.kysely)
  if (rows.length === 0) return false
  const taken = rows.map((row) =>
    raw.row({ id: null as never, params, input, input_key: group, created_at: new Date(), ...row } as never),
  )
  const counts = { page: null, is_done: true, received: rows.length, expected: null }
  const checkpoint = collectCheckpoints.row({ ...collection.key, input_key: key, ...counts })
  await store({ rows: [...taken, checkpoint], replaced: group })
  tally.received += rows.length
  return true
}
