import type { RawRecord } from '../../database/table.ts'
import type { RemoteEntry, RemoteQuestion, RemoteScopes } from '../../plugin-kit/index.ts'
import { ofOrganization } from './connection.ts'

const PAGE_SIZE = 100

interface Asked {
  readonly p: number
  readonly ps: number
  readonly filter?: string
}
async function find({ client, settings, signal }: RemoteQuestion, asked: Asked) {
  const query = { ...asked, f: 'analysisDate', s: 'name', ...ofOrganization(settings) }
  const { body } = await client.send({ path: 'components/search_projects', query }, signal)
  return { children: body.components.map(entryOf) as RemoteEntry[], count: body.paging.total as number }
}

/** SonarQube has no groups of projects. */
export const remoteScopes: RemoteScopes = {
  async list({ page, ...question }) {
    const { p = 1, ps = PAGE_SIZE } = page ?? {}
    const { children, count } = await find(question, { p, ps })
    return { children, ...(p * ps < count && { next: { p: p + 1, ps } }) }
  },
  search: ({ search, page, pageSize, ...question }) =>
    // Quotation marks are removed, because the filter has no way to escape them.
    find(question, { p: page, ps: pageSize, filter: `query = "${search.replaceAll('"', '')}"` }),
}

const entryOf = ({ key, name, qualifier = 'TRK', visibility = '', analysisDate = null }: RawRecord): RemoteEntry => ({
  type: 'scope',
  parentId: null,
  id: key,
  name,
  fullName: name,
  data: { projectKey: key, name, qualifier, visibility, lastAnalysisDate: analysisDate, revision: '' },
})
