import type { Table } from '../../database/table.ts'
import type { Referred } from '../../plugin-kit/plugin.ts'
import { accounts } from './entities/accounts.ts'
import { changelogItems, changelogs } from './entities/changelogs.ts'
import { comments } from './entities/comments.ts'
import { worklogs } from './entities/worklogs.ts'
import { issues } from './issue.ts'

const person = (table: Table<any>, column: string) => ({ table, columns: { account_id: column } })
/** Of a field with several people. */
const people = (column: string) => ({ ...person(changelogItems, column), isList: true })

/** People are named by many records, and stay as long as one of these names them. */
export const referred: readonly Referred[] = [
  {
    table: accounts,
    by: [
      person(issues, 'creator_account_id'),
      person(issues, 'reporter_account_id'),
      person(issues, 'assignee_account_id'),
      person(comments, 'creator_account_id'),
      person(worklogs, 'author_id'),
      person(worklogs, 'update_author_id'),
      person(changelogs, 'author_account_id'),
      people('from_value'),
      people('to_value'),
    ],
  },
]
