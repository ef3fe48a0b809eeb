import type { RawRecord } from '../../../database/table.ts'
import {
  bigint,
  boolean,
  indexed,
  key,
  string,
  type TableRow,
  text,
  timestamp,
  zeroTime,
} from '../../../database/table.ts'
import { issueChangelogs } from '../../../domain/ticket.ts'
import { type ExtractContext, innerJoin, wholeTable } from '../../../plugin-kit/index.ts'
import type { IssueInput } from '../issue.ts'
import { eachIssue, issueOfInput, issues, type OfIssue, updateOfInput } from '../issue.ts'
import type { Board } from '../kit.ts'
import { boardIssues, entity, ISSUE_SOURCES, idsIn, onBoard, startAt, table } from '../kit.ts'
import type { Rules } from '../rules.ts'
import { standardStatus } from '../rules.ts'
import { accountIdOf, accountRows, accounts, issuePeople, type Naming } from './accounts.ts'
import { fieldLookup, isUserField } from './issue-fields.ts'
import { sprints } from './sprints.ts'
import { statuses } from './statuses.ts'

export const changelogs = table('issue_changelogs', 'JiraIssueChangelogs', {
  changelog_id: key(bigint('id')),
  issue_id: indexed(bigint(issueOfInput)),
  author_account_id: string((history) => accountIdOf(history.author)),
  author_display_name: string('author.displayName'),
  author_active: boolean('author.active'),
  created: indexed(zeroTime(timestamp())),
  issue_updated: timestamp(updateOfInput),
})
/** Reads only an own property, because every object inherits a method of this name. */
const toStringOf = (item: RawRecord) => (Object.hasOwn(item, 'toString') ? item.toString : undefined)
export const changelogItems = table('issue_changelog_items', 'JiraIssueChangelogItems', {
  changelog_id: key(bigint()),
  field: key(string(191)),
  field_type: text('fieldtype'),
  field_id: text('fieldId'),
  from_value: text('from'),
  from_string: text('fromString'),
  to_value: text('to'),
  to_string: text(toStringOf),
  tmp_from_account_id: text('tmpFromAccountId'),
  tmp_to_account_id: text('tmpToAccountId'),
})

export function* changelogRows(
  history: RawRecord,
  context: Pick<ExtractContext<Board, Rules, typeof fieldLookup, IssueInput | null>, 'read' | 'lookups' | 'input'>,
  ofIssue?: OfIssue,
): Iterable<TableRow> {
  const { read, lookups, input } = context
  const naming: Naming = ofIssue
    ? { ...ofIssue, source: 'issue' }
    : { issue_id: input?.issue_id ?? 0, source: 'changelogs' }
  for (const item of history.items ?? []) {
    yield read(changelogItems, item, { changelog_id: history.id })
    if (isUserField(item.field, item.fieldId, lookups.fields)) yield* accountRows(context, peopleIn(item), naming)
  }
  yield* accountRows(context, [history.author], naming)
  yield read(changelogs, history, ofIssue)
}

/** Uses only the id: the name beside it may be an old one. The collector of accounts reads the rest. */
const peopleIn = (item: RawRecord) => [item.from, item.to].flatMap(idsIn).map((accountId) => ({ accountId }))

export default entity(changelogItems, {
  label: 'Issue Changelogs',
  domainTypes: ['TICKET'],
  raw: 'jira_api_issue_changelogs',
  collect: {
    when: ({ server }) => server.isCloud, // servers include the whole history in the issue
    forEach: eachIssue(({ changelog_total }) => changelog_total > 100),
    request: ({ input }) => ({ path: `api/3/issue/${input.issue_id}/changelog` }),
    paging: startAt(100),
    records: ({ values }) => values,
  },
  extract: { writes: [changelogs, accounts, issuePeople], lookups: fieldLookup, rows: changelogRows },
  convert: {
    to: [issueChangelogs],
    joins: {
      changelog: innerJoin(changelogs, { connection_id: 'connection_id', changelog_id: 'changelog_id' }),
      board: innerJoin(boardIssues, { connection_id: 'connection_id', issue_id: 'changelog.issue_id' }),
    },
    where: onBoard.where,
    lookups: { ...fieldLookup, statuses: wholeTable(statuses, 'id') },
    replaces: ['jira_api_issue_changelogs', ...ISSUE_SOURCES],
    isIncremental: true,
    rows({ changelog, ...item }, { idOf, lookups }) {
      const isStatus = item.field === 'status'
      const isUser = isUserField(item.field, item.field_id, lookups.fields)
      const idTable = isUser ? accounts : item.field === 'Sprint' ? sprints : undefined
      const sideOf = (value: string, words: string, temporary: string) => {
        const status = isStatus ? lookups.statuses.get(value) : undefined
        if (status) return { original: status.name, standard: standardStatus(status.status_category) }
        const ids = idsIn(value || (isUser ? temporary : ''))
        return { original: idTable ? ids.map((id) => idOf(idTable, id)).join() : words, standard: '' }
      }
      const from = sideOf(item.from_value, item.from_string, item.tmp_from_account_id)
      const to = sideOf(item.to_value, item.to_string, item.tmp_to_account_id)
      return [
        issueChangelogs.row({
          id: idOf(changelogItems, item.changelog_id, item.field),
          issue_id: idOf(issues, changelog.issue_id),
          author_id: idOf(accounts, changelog.author_account_id || null),
          author_name: changelog.author_display_name,
          field_id: item.field_id,
          field_name: item.field,
          original_from_value: from.original,
          original_to_value: to.original,
          from_value: from.standard,
          to_value: to.standard,
          created_date: changelog.created,
        }),
      ]
    },
  },
})
