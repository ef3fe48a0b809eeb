import { bigint, key, string, type TableRow, timestamp, zeroTime } from '../../../database/table.ts'
import { issueWorklogs } from '../../../domain/ticket.ts'
import type { ExtractContext } from '../../../plugin-kit/entity.ts'
import { eachIssue, issues, type OfIssue, updateOfInput } from '../issue.ts'
import { entity, ISSUE_SOURCES, onBoard, startAt, table } from '../kit.ts'
import { accountIdOf, accountRows, accounts, issuePeople, type Naming } from './accounts.ts'

export const worklogs = table('worklogs', 'JiraWorklog', {
  issue_id: key(bigint('issueId')),
  worklog_id: key(string('id')),
  author_id: string((worklog) => accountIdOf(worklog.author)),
  update_author_id: string((worklog) => accountIdOf(worklog.updateAuthor)),
  time_spent: string('timeSpent'),
  time_spent_seconds: bigint('timeSpentSeconds'),
  updated: zeroTime(timestamp()),
  started: zeroTime(timestamp()),
  issue_updated: timestamp(updateOfInput),
})

export function* worklogRows(
  worklog: any,
  context: Pick<ExtractContext<any, any, any>, 'read' | 'input'>,
  ofIssue?: OfIssue,
): Iterable<TableRow> {
  const { input } = context
  const naming: Naming = ofIssue ? { ...ofIssue, source: 'issue' } : { issue_id: input?.issue_id, source: 'worklogs' }
  yield* accountRows(context, [worklog.author, worklog.updateAuthor], naming)
  yield context.read(worklogs, worklog, ofIssue)
}

export default entity(worklogs, {
  label: 'Worklogs',
  domainTypes: ['TICKET'],
  raw: 'jira_api_worklogs',
  collect: {
    forEach: eachIssue(({ worklog_total }) => worklog_total > 20), // an issue brings its first 20 with it
    request: ({ input }) => ({ path: `api/2/issue/${input.issue_id}/worklog` }),
    paging: startAt(50),
    records: (body) => body.worklogs,
  },
  extract: { writes: [accounts, issuePeople], rows: worklogRows },
  convert: {
    ...onBoard,
    to: [issueWorklogs],
    replaces: ['jira_api_worklogs', ...ISSUE_SOURCES],
    rows: (worklog, { idOf }) => [
      issueWorklogs.row({
        id: idOf(worklogs, worklog.issue_id, worklog.worklog_id),
        issue_id: idOf(issues, worklog.issue_id),
        author_id: idOf(accounts, worklog.author_id || null),
        time_spent_minutes: Math.trunc(worklog.time_spent_seconds / 60),
        logged_date: worklog.updated,
        started_date: worklog.started,
      }),
    ],
  },
})
