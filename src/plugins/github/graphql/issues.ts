import type { RawRecord } from '../../../database/table.ts'
import { wholeTable } from '../../../plugin-kit/index.ts'
import rest from '../entities/issues.ts'
import { milestones } from '../entities/milestones.ts'
import { nodesIn, ofItsRepository, overGraphql, personOf, reconciled, repositoryList, rowsOf } from './kit.ts'

// GitHub allows at most 100 labels and 10 assignees.
const ISSUES = {
  size: 100,
  order: 'UPDATED_AT',
  fields: `id fullDatabaseId number repository { databaseId } state title body url createdAt updatedAt closedAt
    author { ...person } assignees(first: 10) { nodes { ...person } } labels(first: 100) { nodes { name } }
    milestone { number }`,
}
export const { query, ...list } = repositoryList('issues', ISSUES)
export const { queries, reconcile } = reconciled('issues', 'Issue', ISSUES)

export default overGraphql(rest, {
  raw: 'github_graphql_issues',
  collect: { ...list, ...ofItsRepository, incremental: { newestFirstBy: 'updatedAt' }, reconcile },
  // GraphQL does not return the id of a milestone.
  lookups: { milestones: wholeTable(milestones, 'number', ({ github_id }) => ({ repo_id: github_id })) },
  rows(node, context) {
    const assignees = nodesIn(node.assignees).flatMap((each: RawRecord) => personOf(each) ?? [])
    const milestone = context.lookups.milestones.get(node.milestone?.number)
    const issue = { ...ticketOf(node), assignees, assignee: assignees[0], milestone: { id: milestone?.milestone_id } }
    return rowsOf(rest)(issue, context)
  },
})

/** The fields that issues and pull requests share, in the shape of REST. */
export const ticketOf = (node: RawRecord) => ({
  id: node.fullDatabaseId,
  number: node.number,
  state: node.state === 'OPEN' ? 'open' : 'closed',
  title: node.title,
  body: node.body,
  html_url: node.url,
  created_at: node.createdAt,
  updated_at: node.updatedAt,
  closed_at: node.closedAt,
  user: personOf(node.author),
  labels: nodesIn(node.labels),
})
