import { sql } from 'kysely'
import type { Database } from '../../../database/database.ts'
import { inPieces } from '../../../database/pieces.ts'
import type { TableRow } from '../../../database/table.ts'
import { retrying, write } from '../../../database/write.ts'
import {
  type Descendants,
  dropVersions,
  ofInputs,
  removeRecordsWithin,
  renew,
  type ScopeRecords,
} from '../../raw/raw-mirror.ts'
import type { StoredPage, StorePage } from '../collection.ts'

interface Waiting {
  readonly page: StoredPage
  readonly done: PromiseWithResolvers<void>
}

interface RecordsOfRun extends ScopeRecords {
  /** Raw records up to this id were stored before the run. */
  readonly mark: number
  /** True if this scope has such records. */
  readonly hasOlder: boolean
  readonly descendants: Descendants
}

/** Pages that arrive during a transaction share the next one: most pages are small, and commits are expensive. */
export function createPageStore(records: RecordsOfRun): StorePage {
  const { database } = records
  let waiting: Waiting[] = []
  let isWriting = false

  async function drain() {
    isWriting = true
    while (waiting.length > 0) {
      const group = waiting
      waiting = []
      try {
        const pages = group.map(({ page }) => page)
        await (isOneRow(records, pages)
          ? write(
              database,
              pages.flatMap(({ rows }) => rows),
            )
          : retrying(database, () => database.transaction((inside) => storePages(records, inside, pages))))
        for (const { done } of group) done.resolve()
      } catch (error) {
        for (const { done } of group) done.reject(error)
      }
    }
    isWriting = false
  }

  return (page) => {
    const done = Promise.withResolvers<void>()
    waiting.push({ page, done })
    if (!isWriting) void drain()
    return done.promise
  }
}

/** A single statement needs no transaction. Example: the checkpoint of a list whose parts have all come. */
const isOneRow = ({ raw }: RecordsOfRun, [page, ...more]: readonly StoredPage[]): boolean =>
  more.length === 0 &&
  page?.rows.length === 1 &&
  page.rows[0]?.table !== raw &&
  page.replaced === undefined &&
  !page.renewed

async function storePages(records: RecordsOfRun, inside: Database, pages: readonly StoredPage[]): Promise<void> {
  const { raw, mark, hasOlder } = records
  const rows = pages.flatMap((page) => page.rows)
  const own = { ...records, database: inside }
  if (hasOlder) {
    await dropVersions(own, '', ungroupedKeys(raw, rows))
    for (const { renewed } of pages) if (renewed?.group) await renew(own, renewed.group, renewed.stored, mark)
  }
  await write(inside, rows)
  const replaced = pages.flatMap((page) => page.replaced ?? [])
  if (hasOlder)
    for (const groups of inPieces(replaced))
      await removeRecordsWithin(own, records.descendants, sql`id <= ${mark} and ${ofInputs(groups)}`)
}

/** Keys of records without a group: they replace their older versions one by one. */
function ungroupedKeys(raw: ScopeRecords['raw'], rows: readonly TableRow[]): string[] {
  const [input, record] = ['input_key', 'record_key'].map((name) => raw.names.indexOf(name)) as [number, number]
  return rows.flatMap(({ table, cells }) =>
    table === raw && cells[input] === '' && cells[record] ? [cells[record] as string] : [],
  )
}
