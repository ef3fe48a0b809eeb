import { sql } from 'kysely'
import type { Metric } from '../metric.ts'
import { mergedItems } from './merged-items.ts'

export const reviewDepth: Metric = {
  name: 'review-depth',
  title: 'Review depth',
  definition: 'Mean number of comments and reviews by others on the pull requests merged in the range.',
  unit: 'comments',
  better: 'higher',
  summary: 'mean',
  madeOf: ['pull requests'],
  items: (query) =>
    mergedItems(
      query,
      sql`(select count(*) from pull_request_comments c where c.pull_request_id = pr.id
        and (coalesce(pr.author_id, '') = '' or coalesce(c.account_id, '') <> pr.author_id))`,
    ),
}
