/** Names and addresses of the few items that an answer shows. */
import { sql } from 'kysely'
import type { Database } from '../../database/database.ts'
import { among, readByKeys } from '../../database/pieces.ts'
import type { Sql } from '../calculate/calculation.ts'
import { changeFailureRate } from '../definitions/change-failure-rate.ts'
import type { Item } from '../metric.ts'
import { withDetails } from '../read/item-details.ts'
import type { Asked } from '../whole.ts'
import type { CountedItem } from './read-counted.ts'

export interface ItemNames {
  readonly title: string
  readonly url: string
  readonly repository: string | null
  /** Lines added and removed. */
  readonly size: number | null
  /** The incidents that are attributed to a deployment. */
  readonly incidents: readonly string[]
}

interface Named {
  readonly id: string
  readonly title: string | null
  readonly url: string | null
  readonly size: number | null
}

/** The table, the key and what is read of it. */
const PLACES: readonly (readonly [kind: Item['kind'], key: Sql, select: Sql])[] = [
  ['pull_request', sql`id`, sql`title, url, additions + deletions as size from pull_requests`],
  ['commit', sql`sha`, sql`message as title, '' as url, additions + deletions as size from commits`],
  ['incident', sql`id`, sql`title, url, null as size from incidents`],
  [
    'deployment',
    sql`cicd_deployment_id`,
    sql`coalesce(nullif(display_title, ''), name) as title, url, null as size from cicd_deployment_commits`,
  ],
]

export async function readItemNames(
  database: Database,
  filter: Asked,
  items: readonly CountedItem[],
): Promise<ReadonlyMap<CountedItem, ItemNames>> {
  const named = new Map<string, Named>()
  for (const [kind, key, select] of PLACES) {
    const ids = items.flatMap((item) => (item.kind === kind ? [item.id] : []))
    const rows = await readByKeys(ids, async (piece) => {
      const some = sql<Named>`select ${key} as id, ${select} where ${among(key, piece)}`
      return (await some.execute(database.kysely)).rows
    })
    for (const row of rows) named.set(`${kind} ${row.id}`, row)
  }
  const details = await withDetails(database, changeFailureRate, filter, items.map(asItem))
  return new Map(
    items.map((item, place) => {
      const name = named.get(`${item.kind} ${item.id}`)
      const { repositoryName = null, incidents = [] } = details[place] ?? {}
      return [
        item,
        {
          title: name?.title?.trim().split('\n')[0] ?? '',
          url: name?.url ?? '',
          repository: repositoryName,
          size: name?.size === null || name?.size === undefined ? null : Number(name.size),
          incidents: incidents.map(({ title }) => title),
        },
      ]
    }),
  )
}

const asItem = (item: CountedItem): Item => ({
  ...item,
  project: '',
  reason: null,
  title: null,
  url: null,
  account: null,
  raw_table: null,
  raw_params: null,
  raw_id: null,
})
