/** When two people change the same record, the second is told what the first changed, and nothing is lost silently. */

import type { AnyTable, RowOf } from '../database/table.ts'
import { UserError } from '../errors.ts'
import { equalTo, type Queries, selectRows, type Where } from './store.ts'

/** Carries the current record with secrets masked. */
export class ChangedError extends UserError {
  constructor(what: string, current: unknown) {
    super(`${what} was changed by somebody else since you read it: look at what changed, then save again.`, {
      status: 412,
      data: current,
    })
  }
}

/** Returns a time later than `moment`, so that two versions never have the same time. */
export const laterThan = (moment: Date) => new Date(Math.max(Date.now(), Number(moment) + 1))

/** `seen` is the time of the last change that the sender knows of. Undefined means that the sender does not care. */
export const isStale = (updatedAt: Date, seen: Date | undefined): boolean =>
  seen !== undefined && Number(seen) !== Number(updatedAt)

/** Reads and locks a row, so that nobody else changes it until the transaction ends. */
export async function holdRow<T extends AnyTable>(
  queries: Queries,
  table: T,
  where: Where<T>,
): Promise<RowOf<T> | undefined> {
  const [row] = await selectRows(queries, table, (query) => equalTo<T>(query, where).forUpdate())
  return row
}
