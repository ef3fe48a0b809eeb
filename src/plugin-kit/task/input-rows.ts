import type { RawBuilder } from 'kysely'
import type { Database } from '../../database/database.ts'
import { readRows } from '../../database/read.ts'
import type { AnyRow } from '../../database/table.ts'
import type { AnyForEach } from '../spec/collect.ts'
import type { Entity } from '../spec/entity.ts'
import type { SourceTask } from '../spec/plugin.ts'

/** The rows of the scope that a collector iterates over (`forEach`), also those that `only` leaves out. */
export function inputRows(
  database: Database,
  { context: { connectionId, scope } }: SourceTask,
  { scopeWhere }: Entity,
  { table, joins, where }: AnyForEach,
  condition?: RawBuilder<unknown>,
): AsyncIterable<AnyRow> {
  return readRows(database, {
    table,
    ...(joins && { joins }),
    where: { connection_id: connectionId, ...(where?.(scope) ?? scopeWhere(table, scope)) },
    ...(condition && { condition }),
  }) as AsyncIterable<AnyRow>
}
