/** Exports the audit log for other systems: one JSON object per line, oldest first. */

import type { Database } from '../../database/database.ts'
import type { RowOf } from '../../database/table.ts'
import { auditEntries } from '../../system/access.ts'
import { publicRow, type QueryOf, selectRows } from '../store.ts'

interface AuditFilter {
  readonly actorId?: string | undefined
  readonly action?: string | undefined
  readonly subject?: string | undefined
  readonly subjectKey?: string | undefined
}
const COLUMNS = {
  actorId: 'actor_id',
  action: 'action',
  subject: 'subject',
  subjectKey: 'subject_key',
} as const satisfies Record<keyof AuditFilter, keyof RowOf<typeof auditEntries>>

export const chosen =
  (filter: AuditFilter) =>
  (query: QueryOf<typeof auditEntries>): QueryOf<typeof auditEntries> =>
    (Object.keys(COLUMNS) as (keyof AuditFilter)[]).reduce(
      (narrowed, name) => (filter[name] === undefined ? narrowed : narrowed.where(COLUMNS[name], '=', filter[name])),
      query,
    )

/** Entries read at once. Few, because one entry may have hundreds of kilobytes. */
const AT_ONCE = 50

/** Reads in pages by id, so that a slow reader holds no database connection. */
export async function* auditLines(database: Database, filter: AuditFilter = {}, after = 0): AsyncGenerator<string> {
  for (let last = after; ; ) {
    const rows = await selectRows(database.kysely, auditEntries, (query) =>
      chosen(filter)(query).where('id', '>', last).orderBy('id').limit(AT_ONCE),
    )
    for (const row of rows) yield `${JSON.stringify(publicRow(auditEntries, row))}\n`
    if (rows.length < AT_ONCE) return
    last = (rows.at(-1) as { id: number }).id
  }
}
