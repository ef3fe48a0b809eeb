import { bigint, indexed, key, optional, string, text, timestamp, zeroTime } from '../../../database/table.ts'
import {
  boardIssues,
  issueAssignees as domainIssueAssignees,
  issueLabels as domainIssueLabels,
  issues as domainIssues,
} from '../../../domain/ticket.ts'
import { innerJoin } from '../../../plugin-kit/index.ts'
import {
  BY_NUMBER,
  entity,
  inRepo,
  isAtRepo,
  LONG_LIST_BY_CHANGE,
  labelNames,
  peopleIn,
  REST_PAGE,
  repoAccounts,
  repoId,
  repoIdColumn,
  repos,
  table,
  withoutGhosts,
} from '../kit.ts'
import { accounts } from './accounts.ts'

const RAW = ['github_api_issues', 'github_graphql_issues']

export const issues = table('issues', 'GithubIssue', {
  github_id: key(bigint('id')),
  repo_id: repoIdColumn(),
  number: indexed(bigint()),
  state: string(),
  title: text(),
  body: text(),
  priority: string((issue, { scopeConfig }) => scopeConfig.priorityOf(labelNames(issue))),
  type: string(500, (issue) => labelNames(issue).join(',')),
  std_type: string(100, (issue, { scopeConfig }) => scopeConfig.issueTypeOf(labelNames(issue))),
  author_id: bigint('user.id'),
  author_name: string('user.login'),
  assignee_id: bigint('assignee.id'),
  assignee_name: string('assignee.login'),
  milestone_id: indexed(bigint('milestone.id')),
  lead_time_minutes: optional(bigint(leadTime)),
  url: string('html_url'),
  closed_at: timestamp(),
  github_created_at: zeroTime(timestamp('created_at')),
  github_updated_at: indexed(zeroTime(timestamp('updated_at'))),
  severity: string((issue, { scopeConfig }) => scopeConfig.severityOf(labelNames(issue))),
  component: text((issue, { scopeConfig }) => scopeConfig.componentOf(labelNames(issue))),
})
const ofIssue = { connection_id: 'connection_id', issue_id: 'github_id' }
const joinIssue = { issue: innerJoin(issues, { connection_id: 'connection_id', github_id: 'issue_id' }) }

export const issueLabels = table('issue_labels', 'GithubIssueLabel', {
  issue_id: key(bigint()),
  label_name: key(string('name')),
})
export const issueAssignees = table('issue_assignees', 'GithubIssueAssignee', {
  issue_id: key(bigint()),
  repo_id: key(bigint(repoId)),
  assignee_id: key(bigint('id')),
  assignee_name: string('login'),
})

function leadTime({ created_at, closed_at }: { created_at: string; closed_at: string | null }): number | null {
  return closed_at ? Math.max(0, Math.trunc((Date.parse(closed_at) - Date.parse(created_at)) / 60_000)) : null
}

export default entity(issues, {
  label: 'Issues',
  domainTypes: ['TICKET'],
  raw: 'github_api_issues',
  collect: {
    request: ({ scope }) => ({
      path: inRepo(scope, 'issues'),
      query: { state: 'all', sort: 'updated', direction: 'desc' },
    }),
    paging: REST_PAGE,
    isOwn: ({ repository_url }, { scope }, address) => isAtRepo(repository_url, scope, address),
    knownBy: BY_NUMBER,
    incremental: { filterBy: (since) => ({ since: since.toISOString() }) },
    longList: LONG_LIST_BY_CHANGE,
    emptyOn: [410], // issues are switched off
    canBeSwitchedOff: true,
  },
  extract: {
    writes: [repoAccounts],
    owns: [
      { table: issueLabels, by: ofIssue },
      { table: issueAssignees, by: ofIssue },
    ],
    dependsOn: [
      'issueSeverity',
      'issuePriority',
      'issueComponent',
      'issueTypeBug',
      'issueTypeIncident',
      'issueTypeRequirement',
    ],
    *rows(given, context) {
      const issue = withoutGhosts(given, 'user')
      // REST lists pull requests among the issues.
      if (issue.pull_request?.url) return
      yield context.read(issues, issue)
      for (const label of issue.labels ?? []) yield context.read(issueLabels, label, { issue_id: issue.id })
      for (const person of issue.assignees ?? []) yield context.read(issueAssignees, person, { issue_id: issue.id })
      yield* peopleIn([issue.user, ...(issue.assignees ?? [])], context)
    },
  },
  convert: {
    to: [domainIssues, boardIssues],
    replaces: RAW,
    dependsOn: ['issueTextIncident'],
    rows: (issue, { idOf, scopeConfig }) => {
      const id = idOf(issues, issue.github_id)
      return [
        domainIssues.row({
          id,
          url: issue.url,
          issue_key: String(issue.number),
          title: issue.title,
          description: issue.body,
          type: scopeConfig.typeOrText(issue.std_type, issue.title, issue.body),
          original_type: issue.type,
          status: issue.state.toLowerCase() === 'closed' ? 'DONE' : 'TODO',
          original_status: issue.state,
          resolution_date: issue.closed_at,
          created_date: issue.github_created_at,
          updated_date: issue.github_updated_at,
          lead_time_minutes: issue.lead_time_minutes,
          creator_id: idOf(accounts, issue.author_id || null),
          creator_name: issue.author_name,
          assignee_id: idOf(accounts, issue.assignee_id || null),
          assignee_name: issue.assignee_name,
          priority: issue.priority,
          severity: issue.severity,
          component: issue.component,
        }),
        boardIssues.row({ board_id: idOf(repos, issue.repo_id), issue_id: id }),
      ]
    },
  },
})

export const labels = entity(issueLabels, {
  label: 'Issue Labels',
  domainTypes: ['TICKET'],
  convert: {
    to: [domainIssueLabels],
    joins: joinIssue,
    where: ({ github_id }) => ({ 'issue.repo_id': github_id }),
    replaces: RAW,
    rows: ({ issue_id, label_name }, { idOf }) => [
      domainIssueLabels.row({ issue_id: idOf(issues, issue_id), label_name }),
    ],
  },
})

export const assignees = entity(issueAssignees, {
  label: 'Issue Assignees',
  domainTypes: ['TICKET'],
  convert: {
    to: [domainIssueAssignees],
    replaces: RAW,
    rows: ({ issue_id, assignee_id, assignee_name }, { idOf }) => [
      domainIssueAssignees.row({
        issue_id: idOf(issues, issue_id),
        assignee_id: idOf(accounts, assignee_id),
        assignee_name,
      }),
    ],
  },
})
