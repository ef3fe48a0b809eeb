import type { RawRecord } from '../../../database/table.ts'
import { bigint, indexed, key, optional, string, text, timestamp, zeroTime } from '../../../database/table.ts'
import {
  boardIssues,
  issueComments as domainComments,
  issues as domainIssues,
  issueAssignees,
} from '../../../domain/ticket.ts'
import {
  accounts,
  BY_CHANGE,
  changedSince,
  entity,
  inRepo,
  pages,
  paramsOf,
  peopleIn,
  repoId,
  repos,
  table,
  values,
} from '../kit.ts'

export const issues = table('issues', 'BitbucketIssue', {
  repo_id: key(string(repoId)),
  bitbucket_id: key(bigint('id')),
  number: indexed(bigint('id')),
  state: string(),
  std_state: string((issue, { scopeConfig }) => scopeConfig.statusOf(issue.state ?? '')),
  title: string(),
  body: text('content.raw'),
  priority: string(),
  type: string(100), // as in DevLake, the kind of the record, which is always `issue`
  author_id: string('reporter.account_id'),
  author_name: string('reporter.display_name'),
  assignee_id: string('assignee.account_id'),
  assignee_name: string('assignee.display_name'),
  milestone_id: indexed(bigint('milestone.id')),
  lead_time_minutes: optional(bigint(() => null)),
  url: string('links.self.href'),
  closed_at: timestamp(() => null), // Bitbucket has no such value
  bitbucket_created_at: zeroTime(timestamp('created_on')),
  bitbucket_updated_at: indexed(zeroTime(timestamp('updated_on'))),
  severity: string(() => ''),
  component: text('component.name'),
})
/** As in DevLake, these rows have no repository. It is known only from their origin. */
export const comments = table('issue_comments', 'BitbucketIssueComment', {
  bitbucket_id: key(bigint('id')),
  issue_id: indexed(bigint(({ issue }: RawRecord, { input }: RawRecord) => issue?.id ?? input.BitbucketId)),
  author_name: string('user.display_name'),
  author_id: string('user.account_id'),
  bitbucket_created_at: zeroTime(timestamp('created_on')),
  bitbucket_updated_at: timestamp('updated_on'),
  type: text(),
  body: text('content.raw'),
})

const NO_TRACKER = [404]

export default entity(issues, {
  label: 'Issues',
  domainTypes: ['TICKET'],
  raw: 'bitbucket_api_issues',
  collect: {
    request: ({ scope }) => ({ path: inRepo(scope, 'issues'), query: BY_CHANGE }),
    paging: pages(100),
    records: values,
    // The key is an address, because numbers start again in every repository.
    key: ({ id, links }) => links?.self?.href ?? id,
    incremental: { filterBy: changedSince },
    emptyOn: NO_TRACKER,
    canBeSwitchedOff: true,
  },
  extract: {
    writes: [accounts],
    dependsOn: ['issueStatusTodo', 'issueStatusInProgress', 'issueStatusDone', 'issueStatusOther'],
    *rows(issue, context) {
      yield context.read(issues, issue)
      yield* peopleIn([issue.reporter, issue.assignee], context)
    },
  },
  convert: {
    to: [domainIssues, boardIssues, issueAssignees],
    owns: [{ table: issueAssignees, by: { issue_id: 'id' } }],
    dependsOn: ['issueTextIncident'],
    *rows(issue, { idOf, scopeConfig }) {
      const id = idOf(issues, issue.repo_id, issue.bitbucket_id)
      const assignee_id = idOf(accounts, issue.assignee_id || null)
      yield domainIssues.row({
        id,
        url: issue.url,
        issue_key: String(issue.number),
        title: issue.title,
        description: issue.body,
        type: scopeConfig.typeOrText(issue.type, issue.title, issue.body),
        original_type: issue.type,
        status: issue.std_state,
        original_status: issue.state,
        created_date: issue.bitbucket_created_at,
        updated_date: issue.bitbucket_updated_at,
        creator_id: idOf(accounts, issue.author_id || null),
        creator_name: issue.author_name,
        assignee_id,
        assignee_name: issue.assignee_name,
        priority: issue.priority,
        severity: issue.severity,
        component: issue.component,
      })
      yield boardIssues.row({ board_id: idOf(repos, issue.repo_id), issue_id: id })
      if (assignee_id) yield issueAssignees.row({ issue_id: id, assignee_id, assignee_name: issue.assignee_name })
    },
  },
})

export const commentsEntity = entity(comments, {
  label: 'Issue Comments',
  domainTypes: ['TICKET'],
  raw: 'bitbucket_api_issue_comments',
  collect: {
    forEach: {
      table: issues,
      input: ({ bitbucket_id, repo_id }) => ({ BitbucketId: bitbucket_id, RepoId: repo_id }),
      changedBy: 'bitbucket_updated_at',
    },
    request: ({ scope, input }) => ({ path: inRepo(scope, `issues/${input.BitbucketId}/comments`) }),
    paging: pages(100),
    records: values,
    emptyOn: NO_TRACKER,
  },
  extract: {
    writes: [accounts],
    *rows(comment, context) {
      yield context.read(comments, comment)
      yield* peopleIn([comment.user], context)
    },
  },
  convert: {
    to: [domainComments],
    where: (scope) => ({ _raw_data_params: JSON.stringify(paramsOf(scope.connection_id, scope)) }),
    rows: (comment, { idOf, scope }) => [
      domainComments.row({
        id: idOf(comments, comment.bitbucket_id),
        issue_id: idOf(issues, scope.bitbucket_id, comment.issue_id),
        body: comment.body,
        account_id: idOf(accounts, comment.author_id || null),
        created_date: comment.bitbucket_created_at,
        updated_date: comment.bitbucket_updated_at,
      }),
    ],
  },
})
