/** Previews which deployments another rule would count as rework. */
import { sql } from 'kysely'
import type { Database } from '../../database/database.ts'
import { among, readByKeys } from '../../database/pieces.ts'
import { readCounted } from '../answer/read-counted.ts'
import { reworkRate } from '../definitions/rework-rate.ts'
import { type MetricFilter, TABLE_OF } from '../metric.ts'
import { MOST_SAMPLES, type RuleEffect } from './preview-rules.ts'

/** The effect has the name of the setting that says what rework is. */
const RULE = 'reworkSigns'

export async function reworkEffect(
  database: Database,
  filter: MetricFilter,
  policy: MetricFilter['policy'],
): Promise<RuleEffect> {
  const read = await readCounted(database, reworkRate, [filter, { ...filter, policy }])
  const [before = [], after = []] = read.map(({ items }) => items.flatMap(({ id, value }) => (value === 1 ? [id] : [])))
  const [was, is] = [new Set(before), new Set(after)]
  const starting = [...is.difference(was)]
  const stopping = [...was.difference(is)]
  const names = await namesOf(database, [...starting, ...stopping])
  const samplesOf = (ids: readonly string[]) =>
    ids
      .toReversed()
      .slice(0, MOST_SAMPLES)
      .map((id) => ({ table: TABLE_OF.deployment, id, name: names.get(id) || id }))
  return {
    rule: RULE,
    matching: after.length,
    starting: starting.length,
    stopping: stopping.length,
    samples: { starting: samplesOf(starting), stopping: samplesOf(stopping) },
  }
}

async function namesOf({ kysely }: Database, ids: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const rows = await readByKeys(ids, async (piece) => {
    const some = sql<{ id: string; name: string | null }>`select cicd_deployment_id as id, max(name) as name
      from cicd_deployment_commits where ${among(sql`cicd_deployment_id`, piece)} group by cicd_deployment_id`
    return (await some.execute(kysely)).rows
  })
  return new Map(rows.map(({ id, name }) => [id, name ?? '']))
}
