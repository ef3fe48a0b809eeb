import { sql } from 'kysely'
import type { Metric } from '../metric.ts'
import { mergedItems } from './merged-items.ts'

export const pullRequestSize: Metric = {
  name: 'pull-request-size',
  title: 'Pull request size',
  definition:
    'Mean number of lines that merged pull requests add and delete. If the tool does not report it, the merge commit is used.',
  unit: 'lines',
  better: 'lower',
  summary: 'mean',
  madeOf: ['pull requests'],
  items: (query) =>
    mergedItems(
      query,
      sql`coalesce(nullif(coalesce(pr.additions, 0) + coalesce(pr.deletions, 0), 0), merge.additions + merge.deletions)`,
      sql`left join commits merge on merge.sha = pr.merge_commit_sha`,
    ),
}
