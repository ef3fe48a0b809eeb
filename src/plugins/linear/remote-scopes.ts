import type { RawRecord } from '../../database/table.ts'
import type { RemoteScopes } from '../../plugin-kit/index.ts'
import { ask } from './kit.ts'

export const query = `query teams($pageSize: Int!, $cursor: String, $filter: TeamFilter) {
  teams(first: $pageSize, after: $cursor, filter: $filter) {
    pageInfo { hasNextPage endCursor } nodes { id name key description }
  }
}`

const entryOf = ({ id, name, key, description }: RawRecord) => ({
  type: 'scope' as const,
  parentId: null,
  id,
  name,
  fullName: name,
  data: { teamId: id, name, key, description: description ?? '' },
})

export const remoteScopes: RemoteScopes = {
  async list({ client, signal, page = { cursor: null } }) {
    const request = ask(query, { pageSize: 100, cursor: page.cursor, filter: {} })
    const { nodes, pageInfo } = (await client.send(request, signal)).body.data.teams
    return { children: nodes.map(entryOf), ...(pageInfo.hasNextPage && { next: { cursor: pageInfo.endCursor } }) }
  },
  async search({ client, signal, search, page, pageSize }) {
    // Teams are few, and Linear has no page numbers: what precedes the page is read too.
    const filter = { or: [{ name: { containsIgnoreCase: search } }, { key: { eqIgnoreCase: search } }] }
    const request = ask(query, { pageSize: Math.min(page * pageSize, 250), cursor: null, filter })
    const { nodes } = (await client.send(request, signal)).body.data.teams
    return { children: nodes.slice((page - 1) * pageSize, page * pageSize).map(entryOf) }
  },
}
