import type { RawRecord } from '../../../database/table.ts'
import { bigint, key, string } from '../../../database/table.ts'
import { accounts as domainAccounts } from '../../../domain/people.ts'
import { innerJoin, manyByKey } from '../../../plugin-kit/index.ts'
import { entity, repoAccounts, table } from '../kit.ts'

export const accounts = table('accounts', 'GithubAccount', {
  id: key(bigint()),
  login: string(),
  name: string(),
  company: string(),
  email: string(),
  avatar_url: string(),
  url: string(),
  html_url: string(),
  type: string(),
})
export const accountOrgs = table('account_orgs', 'GithubAccountOrg', {
  account_id: key(bigint((_org, { input }: { input: { AccountId: number } }) => input.AccountId)),
  org_id: key(bigint('id')),
  org_login: string('login'),
})

/** The people seen in this repository; DevLake's names stand in the stored input. */
export const forEachPerson = {
  table: repoAccounts,
  isShared: true,
  where: ({ github_id }: { github_id: number }) => ({ repo_github_id: github_id }),
  input: ({ account_id, login }: { account_id: number; login: string }) => ({ Login: login, AccountId: account_id }),
}
export const profile = (login: string) => `/users/${encodeURIComponent(login)}`

export default entity(accounts, {
  label: 'Users',
  domainTypes: ['CROSS'],
  raw: 'github_api_accounts',
  collect: {
    forEach: forEachPerson,
    request: ({ input }) => ({ path: profile(input.Login) }),
    records: (user) => [user],
    emptyOn: [404], // deleted since
  },
  convert: {
    to: [domainAccounts],
    joins: { seen: innerJoin(repoAccounts, { connection_id: 'connection_id', account_id: 'id' }) },
    where: ({ github_id }) => ({ 'seen.repo_github_id': github_id }),
    replaces: ['github_api_accounts', 'github_graphql_accounts'],
    lookups: { orgs: manyByKey(accountOrgs, 'account_id', ({ id }) => id) },
    rows: (account, { idOf, lookups }) => [
      domainAccounts.row({
        id: idOf(accounts, account.id),
        email: account.email,
        full_name: account.name,
        user_name: account.login,
        avatar_url: account.avatar_url,
        organization: (lookups.orgs.get(account.id) ?? []).map(({ org_login }) => org_login).join(','),
      }),
    ],
  },
})

export const organisations = entity(accountOrgs, {
  label: 'User Org',
  domainTypes: ['CROSS'],
  raw: 'github_api_account_orgs',
  collect: {
    forEach: forEachPerson,
    request: ({ input }) => ({ path: `${profile(input.Login)}/orgs`, query: { per_page: 100 } }),
    records: (organisations) => [organisations],
    emptyOn: [404],
  },
  // A record is the whole list; an empty one clears what was there.
  extract: { rows: (organisations, { read }) => organisations.map((each: RawRecord) => read(accountOrgs, each)) },
})
