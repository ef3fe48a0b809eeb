/** What a subtask remembers of its last success, and whether that still allows to look only at what is new. */
import type { Database } from '../database/database.ts'
import { write } from '../database/write.ts'
import { subtaskStates } from '../system/state.ts'
import type { Place } from './quarantine.ts'

export interface Window {
  /** Look at what was written from then on; null: at everything. */
  readonly since: Date | null
  /** Before a pass over everything: forget the latest success. */
  forget(): Promise<void>
  /** Remember this run as the latest success. */
  succeeded(): Promise<void>
}

/** `config` is what the outcome depends on besides the data; when it changed, everything is done anew. */
export async function openWindow(
  database: Database,
  { plugin, subtask, params }: Place,
  { fullSync, config, startedAt }: { fullSync: boolean; config: string; startedAt: Date },
): Promise<Window> {
  const stateOf = <Query extends { where(column: string, operator: '=', value: string): Query }>(query: Query) =>
    query.where('plugin', '=', plugin).where('subtask', '=', subtask).where('params', '=', params)
  const state = await stateOf(database.kysely.selectFrom(subtaskStates.name).selectAll()).executeTakeFirst()
  return {
    since: !fullSync && state?.prev_config === config ? (state?.prev_started_at ?? null) : null,
    // A pass over everything that is cut off has undone part of the last success: only another one can mend it.
    forget: async () => {
      if (state) await stateOf(database.kysely.deleteFrom(subtaskStates.name)).execute()
    },
    succeeded: () =>
      write(database, [
        subtaskStates.row({ plugin, subtask, params, prev_config: config, prev_started_at: startedAt }),
      ]),
  }
}

let lastStamp = 0
/** The moment a run marks its rows with; never the same twice, since sweeping goes by it. */
export function nextStamp(): Date {
  lastStamp = Math.max(Date.now(), lastStamp + 1)
  return new Date(lastStamp)
}
