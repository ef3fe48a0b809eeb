import rest, { accountOrgs, accounts, forEachPerson, profile } from '../entities/accounts.ts'
import { addressOf, entity } from '../kit.ts'
import { ask, nodesIn, overGraphql } from './kit.ts'

const PROFILE =
  '__typename databaseId login name company email avatarUrl url organizations(first: 100) { nodes { databaseId login } }'

/** Makes a query for profiles by login, with one field for each. */
export function profilesQuery(count: number): string {
  const numbers = Array.from({ length: count }, (_, number) => number)
  return `query profiles(${numbers.map((number) => `$login${number}: String!`).join(', ')}) {
    rateLimit { limit cost remaining resetAt }
    ${numbers.map((number) => `user${number}: user(login: $login${number}) { ${PROFILE} }`).join('\n    ')}
  }`
}

const isBot = ({ login }: { login: string }) => login.endsWith('[bot]')

export default overGraphql(rest, {
  raw: 'github_graphql_accounts',
  collect: {
    forEach: { ...forEachPerson, only: (person) => !isBot(person), atOnce: () => 100 },
    request: (context) => {
      const logins = context.inputs.map(({ Login }, number) => [`login${number}`, Login])
      return ask(context, profilesQuery(logins.length), Object.fromEntries(logins), true)
    },
    records: ({ data: { rateLimit: _, ...profiles } }) => Object.values(profiles).filter(Boolean),
    key: ({ databaseId }) => databaseId,
  },
  owns: [{ table: accountOrgs, by: { connection_id: 'connection_id', account_id: 'id' } }],
  *rows(user, { read, ...context }) {
    const { databaseId: id, avatarUrl: avatar_url, url: html_url, __typename: type } = user
    yield read(accounts, { ...user, id, avatar_url, html_url, type, url: addressOf(context, profile(user.login)) })
    for (const { databaseId, login } of nodesIn(user.organizations)) {
      yield read(accountOrgs, { id: databaseId, login }, { account_id: id })
    }
  },
})

/** GraphQL has no profiles of bots. */
export const bots = entity(accounts, {
  ...rest.spec,
  label: 'Bots',
  collect: {
    ...rest.spec.collect!,
    forEach: { ...forEachPerson, only: isBot },
  },
})
