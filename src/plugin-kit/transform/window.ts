/** The memory of a subtask about its last success, which decides whether the next run may read only what is new. */
import { sql } from 'kysely'
import type { Database } from '../../database/database.ts'
import { among, onePiece } from '../../database/pieces.ts'
import { readTogether } from '../../database/read.ts'
import type { AnyTable } from '../../database/table.ts'
import { write } from '../../database/write.ts'
import { rawMarks, subtaskStates } from '../../system/state.ts'
import { quarantine } from '../raw/quarantine.ts'
import type { EntityTask } from '../spec/entity.ts'
import { type Lookups, wholeTablesSay } from '../spec/lookups.ts'
import type { SubtaskKey } from '../spec/subtask.ts'

interface Window {
  /** Stamp for the rows of this run. It is later than the stamps of all earlier runs of the scope, whatever clocks say. */
  readonly stamp: Date
  /** Read rows with this stamp or a later one; null: all rows. */
  readonly since: Date | null
  /** Read raw records with an id above this one; null: all records. */
  readonly rawMark: number | null
  /** Tables that already contain rows: a first load has nothing to sweep. */
  readonly earlier: ReadonlySet<AnyTable>
  /** Earlier runs have put records into quarantine. */
  readonly hasRejected: boolean
  /** Forgets the latest success. To be called before a full pass. */
  forget(): Promise<void>
  /** Stores this run as the latest success, up to this raw record. */
  succeeded(rawMark?: number): Promise<void>
}

/** The rows that a pass may have to sweep: those of these tables that were made from these raw tables. */
interface Made {
  readonly tables: readonly AnyTable[]
  readonly raws: readonly string[]
}
const NOTHING: Made = { tables: [], raws: [] }

interface Depending {
  /** Scope config fields. */
  readonly dependsOn?: readonly string[]
  readonly lookups?: Lookups
  readonly edition?: number
}

/** A text of everything, besides the rows it reads, on which the result of an extraction or conversion depends. */
export async function dependenciesOf(
  { dependsOn = [], lookups = {}, edition }: Depending,
  task: EntityTask,
): Promise<string> {
  const { database, settings, context } = task
  const values = dependsOn.map((field) => settings[field])
  const fields = JSON.stringify(edition === undefined ? values : [...values, { edition }])
  if (Object.values(lookups).every(({ of }) => of)) return fields
  return `${fields} ${await wholeTablesSay({ database, ...context }, lookups)}`
}

/** `config` is a text of everything on which the result depends besides the data. If it has changed, everything is done again. */
export async function openWindow(
  database: Database,
  { plugin, subtask, params }: SubtaskKey,
  { fullSync, config, made = NOTHING }: { fullSync: boolean; config: string; made?: Made },
): Promise<Window> {
  const isHere = sql`plugin = ${plugin} and subtask = ${subtask} and params = ${params}`
  const states = sql.table(subtaskStates.name)
  const tables = made.raws.length === 0 ? [] : [...new Set(made.tables)].filter(({ origin }) => origin >= 0)
  const { rows, values } = await readTogether(database, {
    rows: [
      { table: subtaskStates, where: { plugin, subtask, params }, isLiteral: true },
      { table: rawMarks, where: { plugin, subtask, params } },
    ],
    values: [
      sql<Date | null>`(select max(prev_started_at) from ${states} where params = ${params})`,
      sql<unknown>`exists (select 1 from ${sql.table(quarantine.name)} where ${isHere})`,
      ...tables.map(
        ({ name }) => sql<unknown>`exists (select 1 from ${sql.table(name)}
        where _raw_data_params = ${params} and ${among(sql.ref('_raw_data_table'), onePiece(made.raws))})`,
      ),
    ],
  })
  const [state, mark] = rows
  const [last, hasRejected, ...isThere] = values
  const stamp = nextStamp(last)
  const isSame = !fullSync && state?.prev_config === config
  return {
    stamp,
    since: isSame ? state.prev_started_at : null,
    rawMark: isSame && mark ? mark.raw_mark : null,
    earlier: new Set(tables.filter((_, index) => isThere[index])),
    hasRejected: Boolean(hasRejected),
    // If a full pass is interrupted, it has undone part of the last success. Only another full pass can repair that.
    forget: async () => {
      if (state?.prev_started_at) await sql`delete from ${states} where ${isHere}`.execute(database.kysely)
    },
    succeeded: (rawMark) =>
      write(database, [
        subtaskStates.row({ plugin, subtask, params, prev_config: config, prev_started_at: stamp }),
        ...(rawMark === undefined || rawMark === mark?.raw_mark
          ? []
          : [rawMarks.row({ plugin, subtask, params, raw_mark: rawMark })]),
      ]),
  }
}

/** Makes the next runs of these subtasks read everything. */
export async function forgetSuccess(
  { kysely }: Database,
  { plugin, params }: Pick<SubtaskKey, 'plugin' | 'params'>,
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
/** Returns a new stamp for the rows of a run. It is never the same twice, since sweeping depends on it. */
export function nextStamp(after: Date | null = null): Date {
  lastStamp = Math.max(Date.now(), lastStamp + 1, (after?.getTime() ?? 0) + 1)
  return new Date(lastStamp)
}
