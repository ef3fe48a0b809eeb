import type { RawRecord } from '../../../database/table.ts'
import { bigint, key, string, type TableRow, timestamp, zeroTime } from '../../../database/table.ts'
import { issueWorklogs } from '../../../domain/ticket.ts'
import type { ExtractContext, Lookups } from '../../../plugin-kit/index.ts'
import type { IssueInput } from '../issue.ts'
import { eachIssue, issues, type OfIssue, updateOfInput } from '../issue.ts'
import type { Board } from '../kit.ts'
import { entity, ISSUE_SOURCES, onBoard, startAt, table } from '../kit.ts'
import type { Rules } from '../rules.ts'
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
  worklog: RawRecord,
  context: Pick<ExtractContext<Board, Rules, Lookups, IssueInput | null>, 'read' | 'input'>,
  ofIssue?: OfIssue,
): Iterable<TableRow> {
  const { input } = context
  const naming: Naming = ofIssue
    ? { ...ofIssue, source: 'issue' }
    : { issue_id: input?.issue_id ?? 0, source: 'worklogs' }
  yield* accountRows(context, [worklog.author, worklog.updateAuthor], naming)
  yield context.read(worklogs, worklog, ofIssue)
}

export default entity(worklogs, {
  label: 'Worklogs',
  domainTypes: ['TICKET'],
  raw: 'jira_api_worklogs',
  collect: {
    forEach: eachIssue(({ worklog_total }) => worklog_total > 20), // an issue includes its first 20
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
