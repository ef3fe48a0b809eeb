/** Reads the rows of panels, with the values that a reader chose. */
import { sql } from 'kysely'
import type { Database } from '../database/database.ts'
import { isTooSlow } from '../database/explain.ts'
import { UnavailableError, UserError } from '../errors.ts'
import type { Sql } from '../metrics/calculate/calculation.ts'
import type { Policy } from '../metrics/policy/policy.ts'
import { checkRange } from '../metrics/read/read.ts'
import { ALL, type Dashboard, type Panel, type PanelQuery, type Variable } from './dashboard.ts'

export interface Choice {
  readonly from: Date
  readonly to: Date
  /** Values by the name of the variable. */
  readonly values: ReadonlyMap<string, readonly string[]>
  readonly policy: Policy
}

const LONGEST_SECONDS = 20
/** More rows would not make a chart clearer. */
const MOST_ROWS = 5000

interface PanelRows {
  readonly rows: readonly (readonly unknown[])[]
  /** True if there are more rows. */
  readonly isCut: boolean
}

export async function readPanel(
  database: Database,
  dashboard: Dashboard,
  panel: Panel,
  choice: Choice,
): Promise<PanelRows> {
  checkRange(choice)
  const found = await readInTime(database, panel.statement(queryOf(database, dashboard, choice)))
  const names = Object.keys(panel.columns)
  const rows = found.slice(0, MOST_ROWS).map((row) => names.map((name) => cellOf(row[name])))
  return { rows, isCut: found.length > MOST_ROWS }
}

interface Option {
  readonly value: string
  readonly label: string
}

export async function readOptions(
  database: Database,
  dashboard: Dashboard,
  variable: Variable,
  choice: Choice,
): Promise<Option[]> {
  if (variable.options) return variable.options.map((value) => ({ value, label: value }))
  if (!variable.statement) return []
  const rows = await readInTime(database, variable.statement(queryOf(database, dashboard, choice)))
  return rows.slice(0, MOST_ROWS).map(({ value, label }) => ({ value: String(value), label: String(label) }))
}

/** Runs a statement that cannot write. If it takes too long, it ends with a message. */
export async function readInTime(database: Database, statement: Sql): Promise<Record<string, unknown>[]> {
  try {
    const { rows } = await database.reading(LONGEST_SECONDS, (inside) =>
      statement.$castTo<Record<string, unknown>>().execute(inside.kysely),
    )
    return rows
  } catch (error) {
    if (!isTooSlow(error)) throw error
    const message = `The database took longer than ${LONGEST_SECONDS} seconds. Choose a shorter range, or ask again when it is less busy.`
    throw new UnavailableError(message, { publicMessage: message, cause: error })
  }
}

/** Makes a query whose values are bound and never written into the text. */
function queryOf(database: Database, { variables }: Dashboard, { from, to, values, policy }: Choice): PanelQuery {
  const { dialect } = database
  return {
    dialect,
    from: sql.raw(dialect.moment(from)),
    to: sql.raw(dialect.moment(to)),
    policy,
    variable(name) {
      const variable = variables.find((each) => each.name === name)
      const chosen = values.get(name) ?? standardOf(variable)
      if (chosen.length === 0) throw new UserError(`${name} is missing: choose one.`)
      return sql.join(chosen.map((value) => sql`${value}`))
    },
  }
}

const standardOf = (variable: Variable | undefined): readonly string[] =>
  variable?.isList ? [ALL] : (variable?.options?.slice(0, 1) ?? [])

/** Charts do not need integers that are too large for an exact number. */
const cellOf = (value: unknown): unknown => (typeof value === 'bigint' ? Number(value) : (value ?? null))
