import type { Database } from '../../database/database.ts'
import { inPieces, type Piece } from '../../database/pieces.ts'
import type { TableRow } from '../../database/table.ts'
import { retrying, write } from '../../database/write.ts'
import { dropVersions, renew, type ScopeRecords } from '../raw/raw-mirror.ts'

/** A page: its records, the checkpoint that counts them, and the tags that may spare asking again. */
export interface StoredPage {
  readonly rows: readonly TableRow[]
  /** The group of raw records that is complete with this page: what was stored of it before goes. */
  readonly replaced?: string | undefined
  /** The group whose records are as they were. */
  readonly renewed?: { readonly group?: string; readonly stored: unknown } | undefined
}

/** Stores a page, or nothing of it. */
export type StorePage = (page: StoredPage) => Promise<void>

interface Waiting {
  readonly page: StoredPage
  readonly done: PromiseWithResolvers<void>
}

export interface RecordsOfRun extends ScopeRecords {
  /** Raw records up to this id were there before. */
  readonly mark: number
  /** Whether there are any. */
  readonly hasOlder: boolean
  /** Deletes records of groups, with all that hangs on it. */
  readonly removeOlder: (inside: Database, groups: Piece<string>) => Promise<unknown>
}

/** Pages that arrive while a transaction is under way share the next one: most are small, and commits are not. */
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

/** A statement by itself is stored whole, too: such as the checkpoint of a list whose parts have all come. */
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
  if (hasOlder) for (const groups of inPieces(replaced)) await records.removeOlder(inside, groups)
}

/** Keys of records that replace older versions one by one. */
function ungroupedKeys(raw: ScopeRecords['raw'], rows: readonly TableRow[]): string[] {
  const [input, record] = ['input_key', 'record_key'].map((name) => raw.names.indexOf(name)) as [number, number]
  return rows.flatMap(({ table, cells }) =>
    table === raw && cells[input] === '' && cells[record] ? [cells[record] as string] : [],
  )
}
