import type { RawRecord } from '../../database/table.ts'
import { bigint, key, type RowOf, string, text } from '../../database/table.ts'
import { camelKeys, graphql, graphqlRequest, type HttpRequest, pluginKit } from '../../plugin-kit/index.ts'
import type { Rules } from './rules.ts'

const kit = pluginKit('linear')

export const teams = kit.table('teams', 'LinearTeam', {
  team_id: key(string(191)),
  scope_config_id: bigint(() => 0),
  name: string(),
  key: string(),
  description: text(),
})
export type Team = RowOf<typeof teams>

export const table = kit.tableMaker<Team, Rules>()
export const entity = kit.entityMaker<Team, Rules>((each, { team_id }) =>
  'team_id' in each.columns ? { team_id } : {},
)
export const teamIdColumn = () => string(191, (_record, { scope }: { readonly scope: Team }) => scope.team_id)

/** Linear has one address, which is the endpoint. */
export const ask = (query: string, variables: Readonly<Record<string, unknown>> = {}): HttpRequest =>
  graphqlRequest(query, variables, { path: '' })

const PAGE = 'pageInfo { hasNextPage endCursor }'
const SIZE = 100

interface ListOptions {
  /** The fields of a record. */
  readonly fields: string
  /** Further arguments of the list. */
  readonly filter?: string
}

/** Returns what `collect` needs to read a list of the workspace. */
export function workspaceList(name: string, { fields, filter = '' }: ListOptions) {
  const query = `query ${name}($pageSize: Int!, $cursor: String) {
    ${name}(first: $pageSize, after: $cursor${filter}) { ${PAGE} nodes { ${fields} } }
  }`
  return {
    query,
    collect: {
      request: () => ask(query),
      paging: graphql({ size: SIZE, connection: (data) => data[name] }),
      records: ({ data }: RawRecord): readonly RawRecord[] => data[name].nodes,
    },
  }
}

/** The same for a list of a team. */
export function teamList(name: string, { fields, filter = '' }: ListOptions) {
  const query = `query ${name}($team: String!, $pageSize: Int!, $cursor: String) {
    team(id: $team) { ${name}(first: $pageSize, after: $cursor${filter}) { ${PAGE} nodes { ${fields} } } }
  }`
  return {
    query,
    collect: {
      request: ({ scope }: { readonly scope: Team }) => ask(query, { team: scope.team_id }),
      paging: graphql({ size: SIZE, connection: (data) => data.team?.[name] }),
      records: ({ data }: RawRecord): readonly RawRecord[] => data.team[name].nodes,
    },
  }
}

/** Selects the beginning of a list inside an issue, and tells how to ask for the rest. */
export function innerList(name: string, fields: string, size: number) {
  const query = `query ${name}OfIssue($issue: String!, $pageSize: Int!, $cursor: String) {
    issue(id: $issue) { ${name}(first: $pageSize, after: $cursor) { ${PAGE} nodes { ${fields} } } }
  }`
  return {
    query,
    selection: `${name}(first: ${size}) { ${PAGE} nodes { ${fields} } }`,
    completion: {
      list: (record: RawRecord) => record[name],
      request: ({ id }: RawRecord) => ask(query, { issue: id }),
      paging: graphql({ size: SIZE, connection: (data) => data.issue?.[name] }),
    },
  }
}

/** Records that DevLake collected have names as in Go (`CreatedAt`); ours have those of Linear. */
export const asSent: (record: RawRecord) => RawRecord = camelKeys
