import { sql } from 'kysely'
import type { Database } from '../../database/database.ts'
import type { Metric, MetricFilter } from '../metric.ts'
import { canRead } from '../parts.ts'
import { DEFAULT_POLICY, type NamedPolicy } from '../policy/policy.ts'
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
  filter: MetricFilter,
  policies: readonly NamedPolicy[],
  read: (filter: MetricFilter) => Promise<Explanation>,
): Promise<PolicyValue[]> {
  const compared: PolicyValue[] = []
  // The choice of incidents for the service report is not a repair of DevLake's rules, so it stays as the project has it.
  const { issueCategories, component } = filter.policy
  for (const { name, meaning, policy } of policies) {
    const under = { ...filter, policy: { ...policy, issueCategories, component } }
    const { leftOut: _, frequency: __, ...own } = await read(under)
    const differing = await countDiffering(database, metric, under)
    compared.push({ policy: name, meaning, ...own, differing })
  }
  return compared
}

async function countDiffering(database: Database, metric: Metric, filter: MetricFilter): Promise<number> {
  if (!(await canRead(database, metric, filter))) return 0
  const counted = (policy: MetricFilter['policy']) =>
    sql`select kind, id, value from (${itemsOf(database, metric, { ...filter, policy })}) item where reason is null`
  const { issueCategories, component } = filter.policy
  const standard = { ...DEFAULT_POLICY, issueCategories, component }
  const { rows } = await sql<{ count: number }>`select count(*) as count from (
      select kind, id from (${counted(standard)} union all ${counted(filter.policy)}) both_sides
      group by kind, id having count(*) = 1 or min(value) <> max(value)
    ) differing`.execute(database.kysely)
  return Number(rows[0]?.count ?? 0)
}
