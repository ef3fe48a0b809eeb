import type { RawRecord } from '../../database/table.ts'
import type { RemoteEntry, RemoteScopes } from '../../plugin-kit/index.ts'
import { WITH_TOTAL } from './kit.ts'

const PER_PAGE = 100

const serviceEntry = ({ id, name, summary, html_url }: RawRecord): RemoteEntry => ({
  type: 'scope',
  parentId: null,
  id,
  name: name ?? summary,
  fullName: name ?? summary,
  data: { id, name: name ?? summary, url: html_url ?? '' },
})

export const remoteScopes: RemoteScopes = {
  async list({ client, signal, page = { offset: 0 } }) {
    const query = { offset: page.offset, limit: PER_PAGE, sort_by: 'name' }
    const { services, more } = (await client.send({ path: 'services', query }, signal)).body
    const children = services.map(serviceEntry)
    return { children, ...(more && { next: { offset: page.offset + services.length } }) }
  },
  async search({ client, signal, search, page, pageSize }) {
    const limit = Math.min(pageSize, PER_PAGE)
    const query = { query: search, offset: (page - 1) * limit, limit, ...WITH_TOTAL }
    const { services, total } = (await client.send({ path: 'services', query }, signal)).body
    return { children: services.map(serviceEntry), ...(typeof total === 'number' && { count: total }) }
  },
}
