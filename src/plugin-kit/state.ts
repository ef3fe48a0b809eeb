/** What a subtask remembers of its last success, and whether that still allows to look only at what is new. */
import { sql } from 'kysely'
import type { Database } from '../database/database.ts'
import { write } from '../database/write.ts'
import { rawMarks, subtaskStates } from '../system/state.ts'
import { type Lookups, wholeTablesSay } from './lookups.ts'
import type { Place } from './quarantine.ts'
import type { EntityTask } from './source-task.ts'

export interface Window {
  /** Marks the rows of this run; later than the marks of all earlier runs of the scope, whatever clocks say. */
  readonly stamp: Date
  /** Look at rows with this mark or a later one; null: at everything. */
  readonly since: Date | null
  /** Look at raw records after this one; null: at everything. */
  readonly rawMark: number | null
  /** Before a pass over everything: forget the latest success. */
  forget(): Promise<void>
  /** Remember this run as the latest success, up to that raw record. */
  succeeded(rawMark?: number): Promise<void>
}

interface Depending {
  /** Scope config fields. */
  readonly dependsOn?: readonly string[]
  readonly lookups?: Lookups
}

/** What the outcome of an extraction or conversion depends on besides the rows that it looks at. */
export async function dependenciesOf({ dependsOn = [], lookups = {} }: Depending, task: EntityTask): Promise<string> {
  const { database, settings, context } = task
  const fields = JSON.stringify(dependsOn.map((field) => settings[field]))
  if (Object.values(lookups).every(({ of }) => of)) return fields
  return `${fields} ${await wholeTablesSay({ database, ...context }, lookups)}`
}

/** `config` is what the outcome depends on besides the data; when it changed, everything is done anew. */
export async function openWindow(
  database: Database,
  { plugin, subtask, params }: Place,
  { fullSync, config }: { fullSync: boolean; config: string },
): Promise<Window> {
  const stateOf = <Query extends { where(column: string, operator: '=', value: string): Query }>(query: Query) =>
    query.where('plugin', '=', plugin).where('subtask', '=', subtask).where('params', '=', params)
  const state = await stateOf(database.kysely.selectFrom(subtaskStates.name).selectAll()).executeTakeFirst()
  const { rows } = await sql<{ last: Date | null }>`select max(prev_started_at) as last
    from ${sql.table(subtaskStates.name)} where params = ${params}`.execute(database.kysely)
  const stamp = nextStamp(rows[0]?.last ?? null)
  const mark = await stateOf(database.kysely.selectFrom(rawMarks.name).select('raw_mark')).executeTakeFirst()
  const isSame = !fullSync && state?.prev_config === config
  return {
    stamp,
    since: isSame ? (state?.prev_started_at ?? null) : null,
    rawMark: isSame ? (mark?.raw_mark ?? null) : null,
    // A pass over everything that is cut off has undone part of the last success: only another one can mend it.
    forget: async () => {
      if (state) await stateOf(database.kysely.deleteFrom(subtaskStates.name)).execute()
    },
    succeeded: (rawMark) =>
      write(database, [
        subtaskStates.row({ plugin, subtask, params, prev_config: config, prev_started_at: stamp }),
        ...(rawMark === undefined ? [] : [rawMarks.row({ plugin, subtask, params, raw_mark: rawMark })]),
      ]),
  }
}

/** Makes the next runs of these subtasks look at everything. */
export async function forgetSuccess(
  { kysely }: Database,
  { plugin, params }: Pick<Place, 'plugin' | 'params'>,
  subtasks: readonly string[],
): Promise<void> {
  if (subtasks.length === 0) return
  await kysely
    .deleteFrom(subtaskStates.name)
    .where('plugin', '=', plugin)
    .where('params', '=', params)
    .where('subtask', 'in', subtasks)
    .execute()
}

let lastStamp = 0
/** The moment a run marks its rows with; never the same twice, since sweeping goes by it. */
export function nextStamp(after: Date | null = null): Date {
  lastStamp = Math.max(Date.now(), lastStamp + 1, (after?.getTime() ?? 0) + 1)
  return new Date(lastStamp)
}
