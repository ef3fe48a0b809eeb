/** Helpers for GraphQL. Only requests and the shape of answers differ from REST; tables and conversions are the same. */

import type { AnyTable, RawRecord, TableRow } from '../../../database/table.ts'
import type { AnyExtractContext, Joins } from '../../../plugin-kit/index.ts'
import {
  type CollectContext,
  type CollectSpec,
  camelKeys,
  type Entity,
  type ExtractSpec,
  graphql,
  graphqlRequest,
  type HttpRequest,
  type Lookups,
  singlePage,
} from '../../../plugin-kit/index.ts'
import { BY_NUMBER, isOfRepo, type Repo } from '../kit.ts'
import type { Rules } from '../rules.ts'

type Asking = Pick<CollectContext<Repo, Rules>, 'connection'>

/** GitHub Enterprise Server has REST under /api/v3 and GraphQL under /api. */
function graphqlPath(endpoint: string): string {
  const { origin, pathname } = new URL(endpoint)
  return /\/api\/v3\/?$/.test(pathname) ? `${origin}/api/graphql` : '/graphql'
}

export const ask = (
  { connection }: Asking,
  query: string,
  variables: Record<string, unknown>,
  tolerateMissing = false,
): HttpRequest => graphqlRequest(query, variables, { path: graphqlPath(connection.endpoint), tolerateMissing })

const LIMIT = 'rateLimit { limit cost remaining resetAt }'
const PAGE = 'pageInfo { hasNextPage endCursor }'

/** Returns what `collect` needs to read a list of a repository, page by page. */
export function repositoryList(name: string, options: { size: number; order: string; fields: string }) {
  const query = `query ${name}($owner: String!, $name: String!, $pageSize: Int!, $cursor: String) {
    ${LIMIT}
    repository(owner: $owner, name: $name) {
      ${name}(first: $pageSize, after: $cursor, orderBy: { field: ${options.order}, direction: DESC }) {
        totalCount ${PAGE} nodes { ${options.fields} }
      }
    }
  }${fragmentsIn(options.fields)}`
  return {
    query,
    paging: graphql({ size: options.size, connection: (data) => data.repository?.[name] }),
    // Records of the list, or nodes that were requested by their ids.
    records: ({ data }: RawRecord): readonly RawRecord[] => nodesIn(data.nodes ? data : data.repository[name]),
    request: inRepository(query),
  }
}

/** For issues and pull requests, whose queries include `repository { databaseId }`, which costs nothing. */
export const ofItsRepository = {
  isOwn: ({ repository }: RawRecord, { scope }: { readonly scope: Repo }) => isOfRepo(repository?.databaseId, scope),
  knownBy: BY_NUMBER,
}

const inRepository = (query: string) => (context: CollectContext<Repo, Rules>) => {
  const [owner, repo] = context.scope.full_name.split('/')
  return ask(context, query, { owner, name: repo })
}

/** Finds deleted and transferred records, which a list by time of change does not show. It compares all ids with the stored ones. */
export function reconciled(name: string, type: string, { size, fields }: { size: number; fields: string }) {
  const query = `query ${name}Ids($owner: String!, $name: String!, $pageSize: Int!, $cursor: String) {
    ${LIMIT}
    repository(owner: $owner, name: $name) {
      ${name}(first: $pageSize, after: $cursor, orderBy: { field: CREATED_AT, direction: DESC }) {
        totalCount ${PAGE} nodes { id updatedAt }
      }
    }
  }`
  const some = nodesQuery(type, fields)
  return {
    queries: [query, some],
    reconcile: {
      request: inRepository(query),
      paging: graphql({ size: 100, connection: (data) => data.repository?.[name] }),
      by: 'updatedAt',
      named: {
        atOnce: size,
        request: (ids: readonly string[], context: Asking) => ask(context, some, { ids }, true),
        paging: singlePage,
      },
    },
  }
}

/** Makes a query for records by their node ids. */
export const nodesQuery = (type: string, fields: string): string =>
  `query some${type}($ids: [ID!]!) { ${LIMIT} nodes(ids: $ids) { ... on ${type} { ${fields} } } }${fragmentsIn(fields)}`

/** Selects the first 100 of a list inside a record, with the fields that `completion` needs to continue. */
export const innerList = (name: string, fields: string, filter = ''): string =>
  `${name}(first: 100${filter}) { totalCount ${PAGE} nodes { ${fields} } }`

/** Describes how to read the rest of a list inside a record of `type`. */
export function completion(type: string, name: string, fields: string, filter = '') {
  const query = `query ${name}Of${type}($id: ID!, $pageSize: Int!, $cursor: String) {
    ${LIMIT}
    node(id: $id) {
      ... on ${type} { ${name}(first: $pageSize, after: $cursor${filter}) { totalCount ${PAGE} nodes { ${fields} } } }
    }
  }${fragmentsIn(fields)}`
  return {
    query,
    list: (record: RawRecord) => record[name],
    // The record may have been deleted meanwhile.
    request: (record: RawRecord, context: Asking) => ask(context, query, { id: record.id }, true),
    paging: graphql({ size: 100, connection: (data) => data.node?.[name] }),
  }
}

const PERSON = `fragment person on Actor {
  __typename login
  ... on User { databaseId } ... on Bot { databaseId } ... on Mannequin { databaseId } ... on Organization { databaseId }
}`
const fragmentsIn = (fields: string): string => (fields.includes('...person') ? `\n${PERSON}` : '')

/** Returns a person in the shape of REST, which appends [bot] to the names of bots. Null for a deleted account. */
export const personOf = (actor: RawRecord) =>
  actor?.databaseId
    ? { id: actor.databaseId, login: actor.__typename === 'Bot' ? `${actor.login}[bot]` : actor.login }
    : null

/** Returns the nodes of a list. Those that the token may not see are null, and left out. */
export const nodesIn = (list: RawRecord): RawRecord[] => (list?.nodes ?? []).filter(Boolean)

/** Returns the function with which an entity makes rows of a record in the shape of REST. */
export const rowsOf = ({
  table,
  spec,
}: Entity): ((record: RawRecord, context: AnyExtractContext) => Iterable<TableRow>) =>
  spec.extract?.rows ?? ((record, context) => [context.read(table, record)])

interface OverGraphql<L extends Lookups, F extends AnyTable, J extends Joins, Input>
  extends ExtractSpec<Repo, Rules, L, Input> {
  readonly raw: string
  readonly collect: CollectSpec<Repo, Rules, unknown, AnyTable, F, J, Input>
}

/** Makes an entity for GraphQL from the one for REST. */
export const overGraphql = <
  const L extends Lookups = Record<never, never>,
  F extends AnyTable = AnyTable,
  const J extends Joins = Record<never, never>,
  Input = null,
>(
  rest: Entity,
  { raw, collect, rows = rowsOf(rest), ...extract }: OverGraphql<L, F, J, Input>,
): Entity => ({
  ...rest,
  spec: {
    ...rest.spec,
    raw,
    collect,
    extract: { ...rest.spec.extract, ...extract, rows: (record, context) => rows(camelKeys(record), context) },
  },
})
