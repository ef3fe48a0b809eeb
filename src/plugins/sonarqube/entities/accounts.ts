import { boolean, key, string } from '../../../database/table.ts'
import { accounts as domainAccounts } from '../../../domain/people.ts'
import { wholeConnection } from '../../../plugin-kit/index.ts'
import { isCloud, organizationIn } from '../connection.ts'
import { entity, inPages, table } from '../kit.ts'

export const accounts = table('accounts', 'SonarqubeAccount', {
  login: key(string(191)),
  name: string(500),
  email: string(100),
  active: boolean(({ active }) => active ?? false),
  local: boolean(({ local }) => local ?? false),
})

export default entity(accounts, {
  label: 'Accounts',
  names: { collect: 'CollectAccounts', extract: 'ExtractAccounts' },
  domainTypes: ['CODEQUALITY', 'CROSS'],
  raw: 'sonarqube_api_accounts',
  collect: {
    request: ({ connection }) =>
      isCloud(connection.endpoint)
        ? { path: 'organizations/search_members', query: { organization: organizationIn(connection) } }
        : { path: 'users/search' },
    paging: inPages,
    records: ({ users }) => users,
    key: ({ login }) => login,
    isForAll: true,
    endsOn: [400], // after 10,000 records
  },
  convert: {
    to: [domainAccounts],
    where: wholeConnection,
    rows: (account, { idOf }) => [
      domainAccounts.row({
        id: idOf(accounts, account.login),
        email: account.email,
        full_name: account.name,
        user_name: account.login,
      }),
    ],
  },
})
