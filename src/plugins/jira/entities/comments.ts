import type { RawRecord } from '../../../database/table.ts'
import { bigint, key, string, type TableRow, text, timestamp, zeroTime } from '../../../database/table.ts'
import { issueComments } from '../../../domain/ticket.ts'
import type { ExtractContext, Lookups } from '../../../plugin-kit/index.ts'
import type { IssueInput } from '../issue.ts'
import { eachIssue, issueOfInput, issues, type OfIssue, updateOfInput } from '../issue.ts'
import type { Board } from '../kit.ts'
import { entity, ISSUE_SOURCES, onBoard, startAt, table } from '../kit.ts'
import { plainText } from '../plain-text.ts'
import type { Rules } from '../rules.ts'
import { accountIdOf, accountRows, accounts, issuePeople, type Naming } from './accounts.ts'

export const comments = table('issue_comments', 'JiraIssueComment', {
  issue_id: key(bigint(issueOfInput)),
  coment_id: key(string(191, 'id')),
  self: string(),
  body: text((comment) => plainText(comment.body)),
  creator_account_id: string((comment) => accountIdOf(comment.author)),
  creator_display_name: string('author.displayName'),
  created: zeroTime(timestamp()),
  updated: zeroTime(timestamp()),
  issue_updated: timestamp(updateOfInput),
})

export function* commentRows(
  comment: RawRecord,
  context: Pick<ExtractContext<Board, Rules, Lookups, IssueInput | null>, 'read' | 'input'>,
  ofIssue?: OfIssue,
): Iterable<TableRow> {
  const { input } = context
  const naming: Naming = ofIssue
    ? { ...ofIssue, source: 'issue' }
    : { issue_id: input?.issue_id ?? 0, source: 'comments' }
  yield* accountRows(context, [comment.author], naming)
  yield context.read(comments, comment, ofIssue)
}

export default entity(comments, {
  label: 'Issue Comments',
  names: { convert: 'ConvertIssueComments' },
  domainTypes: ['TICKET'],
  off: ['collect', 'extract', 'convert'],
  raw: 'jira_api_issue_comments',
  collect: {
    forEach: eachIssue(({ comment_total }) => comment_total > 100), // an issue includes its first 100
    request: ({ input }) => ({ path: `api/3/issue/${input.issue_id}/comment` }),
    paging: startAt(100),
    records: (body) => body.comments,
  },
  extract: { writes: [accounts, issuePeople], rows: commentRows },
  convert: {
    ...onBoard,
    to: [issueComments],
    replaces: ['jira_api_issue_comments', ...ISSUE_SOURCES],
    rows: (comment, { idOf }) => [
      issueComments.row({
        // DevLake uses the id of the issue, so that only one comment of each issue is kept.
        id: idOf(comments, comment.issue_id, comment.coment_id),
        issue_id: idOf(issues, comment.issue_id),
        body: comment.body,
        account_id: idOf(accounts, comment.creator_account_id || null),
        created_date: comment.created,
        updated_date: comment.updated,
      }),
    ],
  },
})
