import { bigint, key, string, timestamp } from '../../../database/table.ts'
import { accounts as domainAccounts } from '../../../domain/people.ts'
import { wholeConnection } from '../../../plugin-kit/index.ts'
import { entity, inProject, PAGE, table } from '../kit.ts'

/** On gitlab.com, the field that holds the creation of an account elsewhere holds the time when a member joined. */
const isCloud = (endpoint: string) => endpoint.startsWith('https://gitlab.com')

export const accounts = table('accounts', 'GitlabAccount', {
  gitlab_id: key(bigint('id')),
  username: string(),
  email: string(),
  name: string(),
  state: string(),
  membership_state: string(),
  avatar_url: string(),
  web_url: string(),
  created_user_at: timestamp((user, { connection }) => (isCloud(connection.endpoint) ? null : user.created_at)),
})

export default entity(accounts, {
  label: 'Users',
  domainTypes: ['CROSS'],
  raw: 'gitlab_api_users',
  collect: { request: ({ scope }) => ({ path: inProject(scope, 'members/all') }), paging: PAGE },
  convert: {
    to: [domainAccounts],
    where: wholeConnection,
    rows: (account, { idOf }) => [
      domainAccounts.row({
        id: idOf(accounts, account.gitlab_id),
        email: account.email,
        full_name: account.name,
        user_name: account.username,
        avatar_url: account.avatar_url,
        created_date: account.created_user_at,
      }),
    ],
  },
})
