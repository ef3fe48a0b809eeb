import type { RawRecord } from '../../../database/table.ts'
import { bigint, key, string } from '../../../database/table.ts'
import { accounts as domainAccounts } from '../../../domain/people.ts'
import { type AnyExtractContext, leftJoin } from '../../../plugin-kit/index.ts'
import { entity, table } from '../kit.ts'
import { accounts } from './accounts.ts'

/** People whom issues, merge requests, comments and releases name. Some are not members: authors from forks or the public, and former members. */
export const people = table('people', 'GitlabPerson', {
  gitlab_id: key(bigint('id')),
  username: string(),
  name: string(),
  state: string(),
  avatar_url: string(),
  web_url: string(),
})

/** Returns one row for each person of a record. Missing entries, such as that of a record without an author, are left out. */
export const peopleIn = (named: readonly RawRecord[], { read }: Pick<AnyExtractContext, 'read'>) =>
  named.filter((person) => person?.id).map((person) => read(people, person))

/** For members, the list of members adds further data. */
export default entity(people, {
  label: 'People',
  domainTypes: ['CROSS'],
  convert: {
    to: [domainAccounts],
    joins: { member: leftJoin(accounts, { connection_id: 'connection_id', gitlab_id: 'gitlab_id' }) },
    follows: {
      named: accounts,
      by: [
        { table: people, column: 'gitlab_id' },
        { table: accounts, column: 'gitlab_id' },
      ],
    },
    *rows({ gitlab_id, username, name, avatar_url, member }, { idOf }) {
      if (member) return
      yield domainAccounts.row({
        id: idOf(accounts, gitlab_id),
        full_name: name,
        user_name: username,
        avatar_url,
      })
    },
  },
})
