import type { RawRecord } from '../../../database/table.ts'
import { bigint, indexed, key, optional, string, text, timestamp, zeroTime } from '../../../database/table.ts'
import {
  boardIssues,
  issueAssignees as domainIssueAssignees,
  issueLabels as domainIssueLabels,
  issues as domainIssues,
} from '../../../domain/ticket.ts'
import { innerJoin } from '../../../plugin-kit/index.ts'
import {
  BY_CHANGE,
  changedSince,
  entity,
  inProject,
  PAGE,
  projectId,
  projectIdColumn,
  projects,
  table,
} from '../kit.ts'
import { accounts } from './accounts.ts'
import { people, peopleIn } from './people.ts'

const RAW = 'gitlab_api_issues'

const labelsOf = ({ labels }: { labels?: string[] | null }): string[] => labels ?? []
/** A value that a label gives takes precedence over GitLab's own. */
const byLabel =
  (rule: 'severityOf' | 'priorityOf' | 'componentOf', field = '') =>
  (issue: RawRecord, { scopeConfig }: RawRecord) =>
    scopeConfig[rule](labelsOf(issue)) || issue[field]

export const issues = table('issues', 'GitlabIssue', {
  gitlab_id: key(bigint('id')),
  project_id: projectIdColumn(),
  number: indexed(bigint('iid')),
  state: string(),
  title: text(),
  body: text('description'),
  priority: string(byLabel('priorityOf')),
  type: string(100),
  std_type: string(
    100,
    ({ type, ...issue }, { scopeConfig }) =>
      scopeConfig.typeOfIncident(type) || scopeConfig.issueTypeOf(labelsOf(issue)) || type,
  ),
  status: string(() => ''),
  creator_id: bigint('author.id'),
  creator_name: string('author.username'),
  assignee_id: bigint('assignee.id'),
  assignee_name: string('assignee.username'),
  lead_time_minutes: optional(bigint(leadTime)),
  url: string('web_url'),
  closed_at: timestamp(),
  gitlab_created_at: zeroTime(timestamp('created_at')),
  gitlab_updated_at: indexed(zeroTime(timestamp('updated_at'))),
  severity: string(byLabel('severityOf', 'severity')),
  component: text(byLabel('componentOf')),
  // GitLab has these values in time_stats, but DevLake leaves them empty, and its tests expect that.
  time_estimate: optional(bigint(() => null)),
  total_time_spent: optional(bigint(() => null)),
})
export const issueLabels = table('issue_labels', 'GitlabIssueLabel', {
  issue_id: key(bigint()),
  label_name: key(string('name')),
})
export const issueAssignees = table('issue_assignees', 'GitlabIssueAssignee', {
  gitlab_id: key(bigint()),
  project_id: key(bigint(projectId)),
  assignee_id: key(bigint('id')),
  assignee_name: string('username'),
})

function leadTime({ created_at, closed_at }: { created_at: string; closed_at: string | null }): number | null {
  return closed_at ? Math.max(0, Math.trunc((Date.parse(closed_at) - Date.parse(created_at)) / 60_000)) : null
}

/** GitLab has incidents, and in some editions requirements, as types of issues. Bugs are recognised only by labels. */
const KNOWN_TYPES = ['REQUIREMENT', 'BUG', 'INCIDENT']
const typeOf = (type: string) => KNOWN_TYPES.find((known) => known === type.toUpperCase()) ?? ''

export default entity(issues, {
  label: 'Issues',
  domainTypes: ['TICKET'],
  raw: RAW,
  collect: {
    request: ({ scope }) => ({ path: inProject(scope, 'issues'), query: { scope: 'all', ...BY_CHANGE } }),
    paging: PAGE,
    knownBy: { path: 'iid', column: 'number' },
    incremental: { filterBy: changedSince },
  },
  extract: {
    writes: [people],
    owns: [
      { table: issueLabels, by: { connection_id: 'connection_id', issue_id: 'gitlab_id' } },
      { table: issueAssignees, by: { connection_id: 'connection_id', gitlab_id: 'gitlab_id' } },
    ],
    dependsOn: [
      'issueSeverity',
      'issuePriority',
      'issueComponent',
      'issueTypeBug',
      'issueTypeIncident',
      'issueTypeRequirement',
    ],
    edition: 2,
    *rows(issue, { read }) {
      yield read(issues, issue)
      for (const name of labelsOf(issue)) yield read(issueLabels, { name }, { issue_id: issue.id })
      for (const person of issue.assignees ?? []) yield read(issueAssignees, person, { gitlab_id: issue.id })
      yield* peopleIn([issue.author, issue.assignee, ...(issue.assignees ?? [])], { read })
    },
  },
  convert: {
    to: [domainIssues, boardIssues],
    dependsOn: ['issueTextIncident'],
    rows: (issue, { idOf, scopeConfig }) => {
      const id = idOf(issues, issue.gitlab_id)
      return [
        domainIssues.row({
          id,
          url: issue.url,
          issue_key: String(issue.number),
          title: issue.title,
          description: issue.body,
          type: scopeConfig.typeOrText(typeOf(issue.std_type), issue.title, issue.body),
          original_type: issue.type,
          status: issue.state === 'opened' ? 'TODO' : 'DONE',
          resolution_date: issue.closed_at,
          created_date: issue.gitlab_created_at,
          updated_date: issue.gitlab_updated_at,
          lead_time_minutes: issue.lead_time_minutes,
          creator_id: idOf(accounts, issue.creator_id),
          creator_name: issue.creator_name,
          assignee_id: idOf(accounts, issue.assignee_id),
          assignee_name: issue.assignee_name,
          priority: issue.priority,
          severity: issue.severity,
          component: issue.component,
        }),
        boardIssues.row({ board_id: idOf(projects, issue.project_id), issue_id: id }),
      ]
    },
  },
})

export const labels = entity(issueLabels, {
  label: 'Issue Labels',
  domainTypes: ['TICKET'],
  convert: {
    to: [domainIssueLabels],
    joins: { issue: innerJoin(issues, { connection_id: 'connection_id', gitlab_id: 'issue_id' }) },
    where: ({ gitlab_id }) => ({ 'issue.project_id': gitlab_id }),
    replaces: [RAW],
    rows: ({ issue_id, label_name }, { idOf }) => [
      domainIssueLabels.row({ issue_id: idOf(issues, issue_id), label_name }),
    ],
  },
})

export const assignees = entity(issueAssignees, {
  label: 'Issue Assignees',
  names: { convert: 'convert Issue Assignees' }, // DevLake's spelling
  domainTypes: ['TICKET'],
  convert: {
    to: [domainIssueAssignees],
    replaces: [RAW],
    rows: ({ gitlab_id, assignee_id, assignee_name }, { idOf }) => [
      domainIssueAssignees.row({
        issue_id: idOf(issues, gitlab_id),
        assignee_id: idOf(accounts, assignee_id),
        assignee_name,
      }),
    ],
  },
})
