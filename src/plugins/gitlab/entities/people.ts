import type { RawRecord } from '../../../database/table.ts'
import { bigint, key, string } from '../../../database/table.ts'
import { accounts as domainAccounts } from '../../../domain/people.ts'
import { type AnyExtractContext, leftJoin } from '../../../plugin-kit/index.ts'
import { entity, table } from '../kit.ts'
import { accounts } from './accounts.ts'

/** As issues, merge requests, comments and releases name them. Not all are members: people of forks, of the public, who left. */
export const people = table('people', 'GitlabPerson', {
  gitlab_id: key(bigint('id')),
  username: string(),
  name: string(),
  state: string(),
  avatar_url: string(),
  web_url: string(),
})

/** One row for each person of a record; what has no author names nobody. */
export const peopleIn = (named: readonly RawRecord[], { read }: Pick<AnyExtractContext, 'read'>) =>
  named.filter((person) => person?.id).map((person) => read(people, person))

/** Of members their list tells more. */
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
