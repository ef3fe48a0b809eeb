/** Whether users see a page of their own work. An admin can switch it off. */
import type { Database } from '../../database/database.ts'
import { retrying } from '../../database/write.ts'
import { UserError } from '../../errors.ts'
import { personalViews } from '../../system/groups.ts'
import { type Actor, recordChange } from '../audit/record.ts'
import { findRow, insertRow, updateRows } from '../store.ts'

const ID = 'all'

export async function arePersonalViewsOn({ kysely }: Pick<Database, 'kysely'>): Promise<boolean> {
  return (await findRow(kysely, personalViews, { id: ID }))?.is_on ?? true
}

export async function requirePersonalViews(database: Database): Promise<void> {
  if (await arePersonalViewsOn(database)) return
  const message = 'An admin has switched personal views off: ask one to switch them on in Settings, People.'
  throw new UserError(message, { status: 403 })
}

export const switchPersonalViews = (database: Database, isOn: boolean, actor: Actor): Promise<void> =>
  retrying(database, () =>
    database.transaction(async (inside) => {
      const { kysely } = inside
      const before = await arePersonalViewsOn(inside)
      if (before === isOn) return
      const changed = await updateRows(kysely, personalViews, { id: ID }, { is_on: isOn })
      if (changed === 0) await insertRow(kysely, personalViews, { id: ID, is_on: isOn })
      await recordChange(kysely, actor, {
        action: 'update',
        subject: 'personal views',
        key: ID,
        before: { isOn: before },
        after: { isOn },
      })
    }),
  )
