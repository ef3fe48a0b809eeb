import type { RawRecord } from '../../../database/table.ts'
import { bigint, key, string } from '../../../database/table.ts'
import { accounts as domainAccounts } from '../../../domain/people.ts'
import { leftJoin, manyByKey } from '../../../plugin-kit/index.ts'
import { entity, type Repo, repoAccounts, table } from '../kit.ts'

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

const ofRepository = ({ github_id }: Pick<Repo, 'github_id'>) => ({ repo_github_id: github_id })
/** The people seen in this repository. The stored input uses DevLake's names. */
export const forEachPerson = {
  table: repoAccounts,
  isShared: true,
  where: ofRepository,
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
})

/** Everyone seen in the repository gets an account, even without a profile: people who were deleted, are hidden, or belong to an organisation. */
export const people = entity(repoAccounts, {
  label: 'Users',
  domainTypes: ['CROSS'],
  convert: {
    to: [domainAccounts],
    joins: { profile: leftJoin(accounts, { connection_id: 'connection_id', id: 'account_id' }) },
    where: ofRepository,
    originFrom: 'profile',
    follows: { named: accounts, by: [{ table: repoAccounts, column: 'account_id' }] },
    lookups: { orgs: manyByKey(accountOrgs, 'account_id', ({ account_id }) => account_id) },
    *rows({ account_id, login, profile }, { idOf, lookups }) {
      if (!account_id) return
      yield domainAccounts.row({
        id: idOf(accounts, account_id),
        email: profile?.email ?? '',
        full_name: profile?.name ?? '',
        user_name: profile?.login ?? login,
        avatar_url: profile?.avatar_url ?? '',
        organization: (lookups.orgs.get(account_id) ?? []).map(({ org_login }) => org_login).join(','),
      })
    },
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
  // A record is the whole list of organisations, so an empty one removes all.
  extract: { rows: (organisations, { read }) => organisations.map((each: RawRecord) => read(accountOrgs, each)) },
})
