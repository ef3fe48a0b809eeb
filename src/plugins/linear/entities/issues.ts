import type { RawRecord } from '../../../database/table.ts'
import { bigint, double, key, optional, string, text, timestamp } from '../../../database/table.ts'
import { classify } from '../../../domain/classify.ts'
import {
  boardIssues,
  issueLabels as domainIssueLabels,
  issues as domainIssues,
  issueAssignees,
  issueRelationships,
} from '../../../domain/ticket.ts'
import { innerJoin, manyByKey, wholeTable } from '../../../plugin-kit/index.ts'
import { asSent, entity, innerList, type Team, table, teamIdColumn, teamList, teams } from '../kit.ts'
import { accounts } from './accounts.ts'

const PRIORITIES = ['No priority', 'Urgent', 'High', 'Medium', 'Low']

export const issues = table('issues', 'LinearIssue', {
  id: key(string(191)),
  team_id: teamIdColumn(),
  identifier: string(),
  number: bigint(),
  title: text(),
  description: text(),
  url: text(),
  priority: bigint(),
  priority_label: string(100, ({ priority }) => PRIORITIES[priority ?? 0] ?? 'No priority'),
  estimate: optional(double()),
  state_id: string(191, 'state.id'),
  state_name: string('state.name'),
  state_type: string(100, 'state.type'),
  creator_id: string(191, 'creator.id'),
  assignee_id: string(191, 'assignee.id'),
  cycle_id: string(191, 'cycle.id'),
  parent_id: string(191, 'parent.id'),
  due_date: timestamp('dueDate'),
  started_at: timestamp('startedAt'),
  completed_at: timestamp('completedAt'),
  canceled_at: timestamp('canceledAt'),
  // DevLake keeps these in created_at and updated_at, which say when the row was written.
  created_date: timestamp('createdAt'),
  updated_date: timestamp('updatedAt'),
})
export const issueLabels = table('issue_labels', 'LinearIssueLabel', {
  issue_id: key(string(191)),
  label_name: key(string('name')),
})
export const issueRelations = table('issue_relations', 'LinearIssueRelation', {
  issue_id: key(string(191)),
  related_issue_id: key(string(191, 'relatedIssue.id')),
  type: key(string(100)),
})

/** Rows that belong to an issue of the team. */
export const ofTeam = {
  joins: { issue: innerJoin(issues, { connection_id: 'connection_id', id: 'issue_id' }) },
  where: ({ team_id }: Team) => ({ 'issue.team_id': team_id }),
}

// Linear weighs queries, and refuses one that weighs too much: lists inside issues are short here, and completed where needed.
const labels = innerList('labels', 'id name', 20)
const relations = innerList('relations', 'id type relatedIssue { id }', 10)

/** A deleted issue is in the trash for some weeks, and then gone. Archived issues are issues like others. */
const list = teamList('issues', {
  fields: `id identifier number title description url priority estimate dueDate trashed createdAt updatedAt startedAt
    completedAt canceledAt state { id name type } assignee { id } creator { id } cycle { id } parent { id }
    ${labels.selection} ${relations.selection}`,
  filter: ', orderBy: updatedAt, includeArchived: true',
})
export const queries = [list.query, labels.query, relations.query]

const STATUS = {
  TODO: ['triage', 'backlog', 'unstarted'],
  IN_PROGRESS: ['started'],
  DONE: ['completed', 'canceled', 'duplicate'],
}
export const statusOf = (type: string) => classify(type, STATUS, 'OTHER')

/** Domain addresses have 255 characters. Linear ignores the words at the end of an address. */
const LONGEST_URL = 255

function minutesBetween(from: Date | null, to: Date | null): number | null {
  const minutes = from && to ? Math.floor((to.getTime() - from.getTime()) / 60_000) : 0
  return from && to && to > from ? minutes : null
}

export default entity(issues, {
  label: 'Issues',
  domainTypes: ['TICKET'],
  raw: 'linear_issues',
  collect: {
    ...list.collect,
    incremental: { newestFirstBy: 'updatedAt' },
    completes: [labels.completion, relations.completion],
  },
  extract: {
    owns: [issueLabels, issueRelations].map((owned) => ({
      table: owned,
      by: { connection_id: 'connection_id', issue_id: 'id' },
    })),
    *rows(record, { read }) {
      const issue = asSent(record)
      if (issue.trashed) return
      yield read(issues, issue)
      const within = { issue_id: issue.id }
      for (const label of issue.labels?.nodes ?? []) yield read(issueLabels, label, within)
      for (const relation of issue.relations?.nodes ?? []) {
        if (relation.relatedIssue?.id) yield read(issueRelations, relation, within)
      }
    },
  },
  convert: {
    to: [domainIssues, boardIssues, issueAssignees],
    owns: [{ table: issueAssignees, by: { issue_id: 'id' } }],
    lookups: {
      people: wholeTable(accounts, 'id'),
      labels: manyByKey(issueLabels, 'issue_id', ({ id }) => id),
    },
    *rows(issue, { idOf, lookups, scopeConfig }) {
      const id = idOf(issues, issue.id)
      const nameOf = (account: string) => {
        const person = lookups.people.get(account)
        return person ? person.display_name || person.name : ''
      }
      const assignee_id = idOf(accounts, issue.assignee_id || null)
      const assignee_name = nameOf(issue.assignee_id)
      const resolution_date = issue.completed_at ?? issue.canceled_at
      const names = lookups.labels.get(issue.id)?.map(({ label_name }: RawRecord) => label_name) ?? []
      yield domainIssues.row({
        id,
        url: issue.url.slice(0, LONGEST_URL),
        issue_key: issue.identifier,
        title: issue.title,
        description: issue.description,
        type: scopeConfig.typeOf(names, issue.title, issue.description),
        status: statusOf(issue.state_type),
        original_status: issue.state_name,
        story_point: issue.estimate,
        priority: issue.priority_label,
        resolution_date,
        lead_time_minutes: minutesBetween(issue.created_date, resolution_date),
        created_date: issue.created_date,
        updated_date: issue.updated_date,
        due_date: issue.due_date,
        creator_id: idOf(accounts, issue.creator_id || null),
        creator_name: nameOf(issue.creator_id),
        assignee_id,
        assignee_name,
        parent_issue_id: idOf(issues, issue.parent_id || null),
        is_subtask: issue.parent_id !== '',
      })
      yield boardIssues.row({ board_id: idOf(teams, issue.team_id), issue_id: id })
      if (assignee_id) yield issueAssignees.row({ issue_id: id, assignee_id, assignee_name })
    },
  },
})

export const labelEntity = entity(issueLabels, {
  label: 'Issue Labels',
  domainTypes: ['TICKET'],
  convert: {
    ...ofTeam,
    to: [domainIssueLabels],
    rows: ({ issue_id, label_name }, { idOf }) => [
      domainIssueLabels.row({ issue_id: idOf(issues, issue_id), label_name }),
    ],
  },
})

export const relationEntity = entity(issueRelations, {
  label: 'Issue Relations',
  domainTypes: ['TICKET'],
  convert: {
    ...ofTeam,
    to: [issueRelationships],
    rows: ({ issue_id, related_issue_id, type }, { idOf }) => [
      issueRelationships.row({
        source_issue_id: idOf(issues, issue_id),
        target_issue_id: idOf(issues, related_issue_id),
        original_type: type,
      }),
    ],
  },
})
