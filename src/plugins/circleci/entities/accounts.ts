import { key, string } from '../../../database/table.ts'
import { accounts as domainAccounts } from '../../../domain/people.ts'
import { wholeConnection } from '../../../plugin-kit/index.ts'
import { entity, table } from '../kit.ts'

export const accounts = table('accounts', 'CircleciAccount', {
  id: key(string(100)),
  vcs_type: string(100),
  name: string(),
  avatar_url: string(),
  slug: string(),
})

export default entity(accounts, {
  label: 'Accounts',
  domainTypes: ['CROSS'],
  raw: 'circleci_api_users',
  collect: { request: () => ({ path: '/v2/me/collaborations' }) },
  convert: {
    to: [domainAccounts],
    where: wholeConnection,
    rows: (account, { idOf }) => [
      domainAccounts.row({
        id: idOf(accounts, account.id),
        full_name: account.name,
        user_name: account.slug,
        avatar_url: account.avatar_url,
      }),
    ],
  },
})
