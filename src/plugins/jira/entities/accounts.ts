import type { RawRecord } from '../../../database/table.ts'
import { bigint, key, string, type TableRow } from '../../../database/table.ts'
import { accounts as domainAccounts } from '../../../domain/people.ts'
import type { AnyExtractContext } from '../../../plugin-kit/index.ts'
import { entity, ISSUE_SOURCES, onBoard, table } from '../kit.ts'

/** Jira Cloud identifies people by account id, and servers identify them by key. */
export const accountIdOf = (person: RawRecord): string => person?.accountId || person?.key || person?.emailAddress || ''

export const accounts = table('accounts', 'JiraAccount', {
  account_id: key(string(100, accountIdOf)),
  account_type: string(100, 'accountType'),
  name: string('displayName'),
  email: string('emailAddress'),
  avatar_url: string('avatarUrls.48x48'),
  timezone: string('timeZone'),
})

/** People that an issue or one of its records names. Accounts are kept as long as somebody names them. */
export const issuePeople = table('issue_people', 'JiraIssuePerson', {
  issue_id: key(bigint()),
  account_id: key(string(100, accountIdOf)),
  source: key(string(20)),
})

/** The record that names people. `source` is the issue itself, or the list that continues where the issue was cut. */
export interface Naming {
  readonly issue_id: number
  readonly source: 'issue' | 'comments' | 'worklogs' | 'changelogs'
}

/** Returns the people that a record names. The collector of accounts reads the rest of their data. */
export function* accountRows(
  { read }: Pick<AnyExtractContext, 'read'>,
  people: readonly unknown[],
  naming: Naming,
): Iterable<TableRow> {
  for (const person of people) {
    if (!accountIdOf(person)) continue
    yield read(accounts, person)
    if (naming.issue_id) yield read(issuePeople, person, naming)
  }
}

export default entity(accounts, {
  label: 'Accounts',
  domainTypes: ['CROSS'],
  raw: 'jira_api_users',
  collect: {
    forEach: { table: issuePeople, ...onBoard, input: ({ account_id }) => ({ account_id }) },
    request: ({ input, server }) => ({
      path: 'api/2/user',
      query: { [server.isCloud ? 'accountId' : 'key']: input.account_id },
    }),
    records: (account) => [account],
    key: accountIdOf,
    emptyOn: [404], // deleted, or hidden from this user
  },
  convert: {
    to: [domainAccounts],
    replaces: [
      'jira_api_users',
      'jira_api_issue_changelogs',
      'jira_api_worklogs',
      'jira_api_issue_comments',
      ...ISSUE_SOURCES,
    ],
    rows: ({ account_id, email, name, avatar_url }, { idOf }) => [
      domainAccounts.row({ id: idOf(accounts, account_id), email, full_name: name, user_name: name, avatar_url }),
    ],
  },
})
