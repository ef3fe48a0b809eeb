import type { RawRecord, TableRow } from '../../../database/table.ts'
import { boardIssues as domainBoardIssues, issues as domainIssues, issueAssignees } from '../../../domain/ticket.ts'
import { type ExtractContext, wholeTable } from '../../../plugin-kit/index.ts'
import { issues } from '../issue.ts'
import { type Board, boardIssues, boards, entity, ISSUE_SOURCES, onBoard, startAt } from '../kit.ts'
import type { Rules } from '../rules.ts'
import { accountRows, accounts, issuePeople } from './accounts.ts'
import { changelogItems, changelogRows, changelogs } from './changelogs.ts'
import { commentRows, comments } from './comments.ts'
import { fieldLookup } from './issue-fields.ts'
import { issueTypes } from './issue-types.ts'
import { labels } from './labels.ts'
import { relationships } from './relationships.ts'
import { sprintIssues } from './sprint-issues.ts'
import { worklogRows, worklogs } from './worklogs.ts'

const lookups = { types: wholeTable(issueTypes, 'id'), ...fieldLookup }

/** An issue includes its first comments, worklogs and changes. Epics are extracted in the same way. */
export const extractIssue = {
  lookups,
  writes: [boardIssues, comments, worklogs, changelogs, changelogItems, accounts, issuePeople],
  owns: [labels, relationships, sprintIssues].map((table) => ({
    table,
    by: { connection_id: 'connection_id', issue_id: 'issue_id' },
  })),
  dependsOn: ['typeMappings', 'storyPointField', 'dueDateField'],
  *rows(issue: RawRecord, context: ExtractContext<Board, Rules, typeof lookups, RawRecord>): Iterable<TableRow> {
    const { fields = {}, changelog } = issue
    if (!fields.created) return
    const { read } = context
    yield read(issues, issue)
    yield read(boardIssues, issue)
    for (const { id } of [fields.sprint, ...(fields.closedSprints ?? [])].filter(Boolean)) {
      yield read(sprintIssues, issue, { sprint_id: id })
    }
    for (const label_name of fields.labels ?? []) yield read(labels, issue, { label_name })
    for (const link of fields.issuelinks ?? []) {
      yield read(relationships, link, { issue_id: issue.id, issue_key: issue.key })
    }
    const ofIssue = { issue_id: issue.id, issue_updated: fields.updated }
    for (const each of fields.comment?.comments ?? []) yield* commentRows(each, context, ofIssue)
    for (const each of fields.worklog?.worklogs ?? []) yield* worklogRows(each, context, ofIssue)
    for (const each of changelog?.histories ?? []) yield* changelogRows(each, context, ofIssue)
    yield* accountRows(context, [fields.creator, fields.reporter, fields.assignee], {
      issue_id: issue.id,
      source: 'issue',
    })
  },
}

const OLDEST_FIRST = 'ORDER BY created ASC'
const DAY = 24 * 60 * 60 * 1000
/**
 * Writes a time for JQL, which has a precision of minutes and uses the time zone of the user. If that zone is not known, a day is
 * subtracted, which is enough for any zone.
 */
function jqlMinute(since: Date, timeZone: string | undefined): string {
  const moment = timeZone ? since : new Date(since.getTime() - DAY)
  const local = moment.toLocaleString('sv-SE', { timeZone: timeZone ?? 'UTC', dateStyle: 'short', timeStyle: 'short' })
  return local.replaceAll('-', '/')
}

const boardIssuesPath = ({ board_id }: Pick<Board, 'board_id'>) => `agile/1.0/board/${board_id}/issue`
const LARGEST_PAGE = 100
/** The page size for lists of ids only. A server may return that many at once, and otherwise its answer says how many it returned. */
const NAMES_AT_ONCE = 1000
/** Returns the page size. A task may ask for smaller pages if a server cannot handle large ones. */
const pageSizeOf = (wanted: unknown): number =>
  Math.min(LARGEST_PAGE, Math.max(0, Math.trunc(Number(wanted))) || LARGEST_PAGE)

export default entity(issues, {
  label: 'Issues',
  domainTypes: ['TICKET', 'CROSS'],
  raw: 'jira_api_issues',
  collect: {
    request: ({ scope }) => ({
      path: boardIssuesPath(scope),
      query: { expand: 'changelog', jql: OLDEST_FIRST },
    }),
    paging: (_server, { pageSize }) => startAt(pageSizeOf(pageSize)),
    records: (body) => body.issues,
    incremental: {
      filterBy: (since, { server }) => ({
        jql: `updated >= '${jqlMinute(since, server.timeZone)}' ${OLDEST_FIRST}`,
      }),
    },
    // Deleted issues leave no trace, and issues enter and leave a board without being updated.
    reconcile: {
      request: ({ scope }) => ({ path: boardIssuesPath(scope), query: { fields: 'id', jql: OLDEST_FIRST } }),
      paging: startAt(NAMES_AT_ONCE),
      records: (body) => body.issues,
      named: {
        atOnce: LARGEST_PAGE,
        request: (ids, { scope }) => ({
          path: boardIssuesPath(scope),
          query: { expand: 'changelog', jql: `issue in (${ids.join()}) ${OLDEST_FIRST}` },
        }),
      },
      // An issue that moves to another project gets a new key, which its links, children and subtasks then use.
      renamed: { column: 'issue_key', of: ({ key }) => key },
      referring: [
        { table: relationships, columns: ['inward_issue_id', 'outward_issue_id'], key: 'issue_id' },
        { table: issues, columns: ['parent_id'], key: 'issue_id' },
        { table: issues, columns: ['epic_key'], key: 'issue_id', by: 'issue_key' },
      ],
    },
  },
  extract: extractIssue,
  convert: {
    ...onBoard,
    to: [domainIssues, domainBoardIssues, issueAssignees],
    owns: [{ table: issueAssignees, by: { issue_id: 'id' } }],
    replaces: ISSUE_SOURCES,
    isIncremental: true,
    dependsOn: ['typeMappings', 'issueTextIncident'],
    edition: 2,
    *rows(issue, { idOf, scope, scopeConfig }) {
      const id = idOf(issues, issue.issue_id)
      const assignee_id = idOf(accounts, issue.assignee_account_id || null)
      yield domainIssues.row({
        id,
        url: browseUrl(issue.self, issue.issue_key),
        icon_url: issue.icon_url,
        issue_key: issue.issue_key,
        title: issue.summary,
        description: issue.description,
        epic_key: issue.epic_key,
        type: scopeConfig.typeOrText(
          issue.subtask && !scopeConfig.isMapped(issue.type) ? 'SUBTASK' : issue.std_type,
          issue.summary,
          issue.description,
        ),
        original_type: issue.type,
        status: issue.std_status,
        original_status: issue.status_name,
        story_point: issue.story_point,
        resolution_date: issue.resolution_date,
        created_date: issue.created,
        updated_date: issue.updated,
        lead_time_minutes: issue.lead_time_minutes,
        original_estimate_minutes: issue.original_estimate_minutes,
        time_spent_minutes: issue.spent_minutes,
        time_remaining_minutes: issue.remaining_estimate_minutes,
        creator_id: idOf(accounts, issue.creator_account_id || null),
        creator_name: issue.creator_display_name,
        assignee_id,
        assignee_name: issue.assignee_display_name,
        parent_issue_id: idOf(issues, issue.parent_id || null),
        priority: issue.priority_name,
        component: issue.components,
        original_project: issue.project_name,
        is_subtask: issue.subtask,
        due_date: issue.due_date,
        fix_versions: issue.fix_versions,
      })
      yield domainBoardIssues.row({ board_id: idOf(boards, scope.board_id), issue_id: id })
      if (assignee_id)
        yield issueAssignees.row({ issue_id: id, assignee_id, assignee_name: issue.assignee_display_name })
    },
  },
})

/** Returns the web page of the issue. The server may be installed below a path. */
const browseUrl = (self: string, key: string): string => `${self.split('/rest/', 1)[0]}/browse/${key}`
