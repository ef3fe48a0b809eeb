import { sql } from 'kysely'
import type { Database } from '../../database/database.ts'
import { readAll } from '../../database/read.ts'
import { write } from '../../database/write.ts'
import { subtaskStates } from '../../system/state.ts'
import type { SubtaskKey } from '../spec/subtask.ts'

/** A text that a subtask stores for its next run, if the time of the last success alone is not enough. */
interface RememberedText {
  read(): Promise<string | null>
  write(text: string): Promise<void>
  forget(): Promise<void>
}

export function openRememberedText(database: Database, { plugin, subtask, params }: SubtaskKey): RememberedText {
  const subtaskKey = { plugin, subtask, params }
  const startedAt = new Date()
  return {
    read: async () => (await readAll(database, { table: subtaskStates, where: subtaskKey }))[0]?.prev_config ?? null,
    write: (text) =>
      write(database, [subtaskStates.row({ ...subtaskKey, prev_config: text, prev_started_at: startedAt })]),
    async forget() {
      let query = database.kysely.deleteFrom(subtaskStates.name)
      for (const [column, value] of Object.entries(subtaskKey)) query = query.where(sql.ref(column), '=', value)
      await query.execute()
    },
  }
}
