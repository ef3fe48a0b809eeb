/** Two people who change the same thing: the second is told what the first did, and nothing is lost silently. */

import type { AnyTable, RowOf } from '../database/table.ts'
import { UserError } from '../errors.ts'
import { equalTo, type Queries, selectRows, type Where } from './store.ts'

/** Carries the record as it is now, secrets masked. */
export class ChangedError extends UserError {
  readonly data: unknown
  constructor(what: string, current: unknown) {
    super(`${what} was changed by somebody else since you read it: look at what changed, then save again.`, {
      status: 412,
    })
    this.data = current
  }
}

/** Never the same moment twice, so that two versions differ. */
export const laterThan = (moment: Date) => new Date(Math.max(Date.now(), Number(moment) + 1))

/** `seen`: when the record was last changed as far as the sender knows; undefined: it does not matter to them. */
export const isStale = (updatedAt: Date, seen: Date | undefined): boolean =>
  seen !== undefined && Number(seen) !== Number(updatedAt)

/** The row, which nobody else changes until the transaction ends. */
export async function holdRow<T extends AnyTable>(
  queries: Queries,
  table: T,
  where: Where<T>,
): Promise<RowOf<T> | undefined> {
  const [row] = await selectRows(queries, table, (query) => equalTo<T>(query, where).forUpdate())
  return row
}
