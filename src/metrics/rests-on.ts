/** How much a number rests on: said beside it, so that a median of two incidents is not taken for one of two hundred. */
import { sql } from 'kysely'
import { counted } from '../counted.ts'
import type { Database } from '../database/database.ts'
import { mapping } from './calculate/calculation.ts'
import type { Material, Metric, MetricFilter, Reason } from './metric.ts'
import type { Explanation } from './read.ts'

/** What could count if more were known. All other reasons leave out what the question is not about. */
const COULD_COUNT: ReadonlySet<Reason> = new Set([
  ...(['not_calculated', 'no_merge_commit', 'merge_commit_in_no_deployment', 'only_in_first_deployment'] as const),
  ...(['only_in_other_environment', 'no_deployments', 'not_finished', 'no_deployment_before_incident'] as const),
  ...(['not_resolved', 'no_duration', 'clock_backwards', 'no_result'] as const),
])

const nounOf = (metric: Metric, { policy }: Pick<MetricFilter, 'policy'>): string => {
  const what = metric.counts ?? (metric.madeOf[0] as Material)
  // Pull requests, and commits that came without one.
  if (what === 'pull requests' && policy.countTrunkCommits && metric.madeOf.includes('history')) return 'change'
  return what.replace(/s$/, '')
}

/** `2 incidents`, `50 of 168 pull requests`; empty where nothing counts. */
export function restsOn(metric: Metric, filter: Pick<MetricFilter, 'policy'>, explained: Explanation): string {
  const noun = nounOf(metric, filter)
  const missing = explained.leftOut.reduce((sum, { reason, count }) => sum + (COULD_COUNT.has(reason) ? count : 0), 0)
  if (explained.counted === 0) return ''
  if (missing === 0) return counted(explained.counted, noun)
  return `${explained.counted.toLocaleString('en')} of ${counted(explained.counted + missing, noun)}`
}

/**
 * Of `r`, a repository: it has merged pull requests and no commit. Git could not be read, so nothing tells which deployment
 * brought them. A repository without an address is none that could be cloned.
 */
export const isWithoutHistory = sql`coalesce(r.url, '') <> ''
  and exists (select 1 from pull_requests pr where pr.base_repo_id = r.id and pr.merged_date is not null)
  and not exists (select 1 from repo_commits c where c.repo_id = r.id)`

export async function withoutHistory({ kysely }: Database, project: string): Promise<string[]> {
  const repo = mapping('repo', 'repos', project)
  const { rows } = await sql<{ name: string }>`select r.name from ${repo.from} inner join repos r on r.id = repo.row_id
    where ${repo.where} and ${isWithoutHistory} order by r.name`.execute(kysely)
  return rows.map(({ name }) => name)
}
