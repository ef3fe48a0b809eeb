import type { RawRecord } from '../../../database/table.ts'
import { indexed, key, string, text, timestamp } from '../../../database/table.ts'
import { issueComments } from '../../../domain/ticket.ts'
import { ask, asSent, entity, innerList, table } from '../kit.ts'
import { accounts } from './accounts.ts'
import { issues, ofTeam } from './issues.ts'

/** DevLake calls the variable of its query `issueId` or `Id`. */
export const issueOfInput = (_record: unknown, { input }: { readonly input: RawRecord }): string =>
  input?.issueId ?? input?.Id ?? ''

export const comments = table('comments', 'LinearComment', {
  id: key(string(191)),
  issue_id: indexed(string(191, issueOfInput)),
  body: text(),
  author_id: string(191, 'user.id'),
  created_date: timestamp('createdAt'),
  updated_date: timestamp('updatedAt'),
})

/** One request for each issue that has changed. */
export const ofEachIssue = {
  forEach: { table: issues, input: ({ id }: { readonly id: string }) => ({ issueId: id }), changedBy: 'updated_date' },
} as const

const list = innerList('comments', 'id body createdAt updatedAt user { id }', 100)
export const { query } = list

export default entity(comments, {
  label: 'Comments',
  domainTypes: ['TICKET'],
  raw: 'linear_comments',
  collect: {
    ...ofEachIssue,
    request: ({ input }) => ask(query, { issue: input.issueId }),
    paging: list.completion.paging,
    records: ({ data }) => data.issue?.comments.nodes ?? [],
  },
  extract: { rows: (comment, { read }) => [read(comments, asSent(comment))] },
  convert: {
    ...ofTeam,
    to: [issueComments],
    rows: ({ id, issue_id, body, author_id, created_date, updated_date }, { idOf }) => [
      issueComments.row({
        id: idOf(comments, id),
        issue_id: idOf(issues, issue_id),
        body,
        account_id: idOf(accounts, author_id || null),
        created_date,
        updated_date,
      }),
    ],
  },
})
