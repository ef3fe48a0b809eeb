import { sql } from 'kysely'
import type { Database } from '../../database/database.ts'
import type { Metric } from '../metric.ts'
import { DEFAULT_POLICY, type NamedPolicy, type Policy } from '../policy/policy.ts'
import { type Asked, readable, withPolicy } from '../whole.ts'
import type { Explanation, MetricValue } from './read.ts'
import { itemsOf } from './stacked.ts'

interface PolicyValue extends Omit<MetricValue, 'frequency'> {
  readonly policy: string
  readonly meaning: string
  /** The number of items that count under only one of the two policies, or count with another value than under the default policy. */
  readonly differing: number
}

/** Reads the value under each policy, and how many items differ from those under the default policy. */
export async function comparePolicies(
  database: Database,
  metric: Metric,
  filter: Asked,
  policies: readonly NamedPolicy[],
  read: (filter: Asked) => Promise<Explanation>,
): Promise<PolicyValue[]> {
  const compared: PolicyValue[] = []
  for (const { name, meaning, policy } of policies) {
    const under = byPolicy(filter, policy)
    const { leftOut: _, frequency: __, ...own } = await read(under)
    const differing = await countDiffering(database, metric, under)
    compared.push({ policy: name, meaning, ...own, differing })
  }
  return compared
}

/** The choice of incidents for the service report is not a repair of DevLake's rules, so it stays as each project has it. */
const byPolicy = (asked: Asked, policy: Policy): Asked =>
  withPolicy(asked, ({ issueCategories, component }) => ({ ...policy, issueCategories, component }))

async function countDiffering(database: Database, metric: Metric, asked: Asked): Promise<number> {
  const own = await readable(database, metric, asked)
  const standard = await readable(database, metric, byPolicy(asked, DEFAULT_POLICY))
  if (!own || !standard) return 0
  const counted = (filter: Asked) =>
    sql`select kind, id, value from (${itemsOf(database, metric, filter)}) item where reason is null`
  const { rows } = await sql<{ count: number }>`select count(*) as count from (
      select kind, id from (${counted(standard)} union all ${counted(own)}) both_sides
      group by kind, id having count(*) = 1 or min(value) <> max(value)
    ) differing`.execute(database.kysely)
  return Number(rows[0]?.count ?? 0)
}
