/** Reports once how an update changed numbers that people have seen. */
import { sql } from 'kysely'
import { counted } from '../../basics/counted.ts'
import type { Database } from '../../database/database.ts'
import { numberChanges } from '../../domain/rollouts.ts'
import { fourKeys } from '../index.ts'
import type { MetricFilter } from '../metric.ts'
import type { Policy } from '../policy/policy.ts'
import { readMetric } from '../read/read.ts'
import { type CalculationRun, projectOf } from './calculation.ts'
import { storedPolicy } from './rollouts.ts'

/** One of the four key metrics before and after the update. */
export interface ChangedKey {
  readonly metric: string
  readonly title: string
  readonly unit: string
  readonly before: { readonly value: number | null; readonly counted: number }
  readonly after: { readonly value: number | null; readonly counted: number }
}

const NAME = 'rollouts'
const MONTHS = 6
const TABLE = sql.table(numberChanges.name)

/** Only for projects that existed before rollouts counted once. The update has stored a row without a moment for each of them. */
export async function noteChangedNumbers({ database, options }: CalculationRun, metric: string): Promise<number> {
  const project = projectOf(options)
  const own = sql`project_name = ${project} and name = ${NAME} and at is null`
  const { rows } = await sql`select 1 from ${TABLE} where ${own}`.execute(database.kysely)
  if (rows.length === 0) return 0
  const policy = await storedPolicy(database, project, metric)
  const now = new Date()
  const keys = policy.rollouts === 'every-row' ? [] : await changedKeys(database, { project, policy, now })
  if (keys.length === 0) {
    await sql`delete from ${TABLE} where ${own}`.execute(database.kysely)
    return 0
  }
  const [frequency] = keys
  const fewer = (frequency?.before.counted ?? 0) - (frequency?.after.counted ?? 0)
  const reason = `From here on a rollout counts once: ${counted(fewer, 'deployment')} of the last ${MONTHS} months told of rollouts that another stands for.`
  await sql`update ${TABLE} set at = ${now}, updated_at = ${now}, reason = ${reason},
    ${sql.id('keys')} = ${JSON.stringify(keys)} where ${own}`.execute(database.kysely)
  return 1
}

interface Wanted {
  readonly project: string
  readonly policy: Policy
  readonly now: Date
}

/** Returns all four metrics as soon as one of them has changed. */
async function changedKeys(database: Database, { project, policy, now }: Wanted): Promise<ChangedKey[]> {
  const from = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - MONTHS, now.getUTCDate()))
  const shared = { project, environment: 'PRODUCTION', from, to: now }
  const filters: MetricFilter[] = [
    { ...shared, policy: { ...policy, rollouts: 'every-row' } },
    { ...shared, policy },
  ]
  const keys: ChangedKey[] = []
  for (const metric of fourKeys) {
    const [before, after] = await Promise.all(filters.map((filter) => readMetric(database, metric, filter)))
    if (!before || !after) continue
    const numbers = (of: typeof before) => ({ value: of.value, counted: of.counted })
    const { name, title, unit } = metric
    keys.push({ metric: name, title, unit, before: numbers(before), after: numbers(after) })
  }
  const isSame = ({ before, after }: ChangedKey) => before.value === after.value && before.counted === after.counted
  return keys.every(isSame) ? [] : keys
}
