import { indexed, key, string, timestamp } from '../../../database/table.ts'
import { issueChangelogs } from '../../../domain/ticket.ts'
import { ask, asSent, entity, innerList, table } from '../kit.ts'
import { accounts } from './accounts.ts'
import { issueOfInput, ofEachIssue } from './comments.ts'
import { issues, ofTeam, statusOf } from './issues.ts'

const issueHistory = table('issue_history', 'LinearIssueHistory', {
  id: key(string(191)),
  issue_id: indexed(string(191, issueOfInput)),
  actor_id: string(191, 'actor.id'),
  from_state_id: string(191, 'fromState.id'),
  from_state_name: string('fromState.name'),
  from_state_type: string(100, 'fromState.type'),
  to_state_id: string(191, 'toState.id'),
  to_state_name: string('toState.name'),
  to_state_type: string(100, 'toState.type'),
  created_date: timestamp('createdAt'),
})

const list = innerList('history', 'id createdAt actor { id } fromState { id name type } toState { id name type }', 100)
export const { query } = list

export default entity(issueHistory, {
  label: 'Issue History',
  domainTypes: ['TICKET'],
  raw: 'linear_issue_history',
  collect: {
    ...ofEachIssue,
    request: ({ input }) => ask(query, { issue: input.issueId }),
    paging: list.completion.paging,
    records: ({ data }) => data.issue?.history.nodes ?? [],
  },
  extract: {
    *rows(record, { read }) {
      const entry = asSent(record)
      // Entries about other fields than the state.
      if (entry.fromState || entry.toState) yield read(issueHistory, entry)
    },
  },
  convert: {
    ...ofTeam,
    to: [issueChangelogs],
    rows: (entry, { idOf }) => [
      issueChangelogs.row({
        id: idOf(issueHistory, entry.id),
        issue_id: idOf(issues, entry.issue_id),
        author_id: idOf(accounts, entry.actor_id || null),
        field_id: 'state',
        field_name: 'status',
        original_from_value: entry.from_state_name,
        original_to_value: entry.to_state_name,
        from_value: entry.from_state_id && statusOf(entry.from_state_type),
        to_value: entry.to_state_id && statusOf(entry.to_state_type),
        created_date: entry.created_date,
      }),
    ],
  },
})
