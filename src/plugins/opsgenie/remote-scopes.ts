import type { RawRecord } from '../../database/table.ts'
import type { RemoteEntry, RemoteQuestion, RemoteScopes } from '../../plugin-kit/index.ts'

const PER_PAGE = 100

const serviceEntry = ({ id, name, teamId, links }: RawRecord): RemoteEntry => ({
  type: 'scope',
  parentId: null,
  id,
  name,
  fullName: name,
  data: { id, name, url: links?.web ?? '', teamId: teamId ?? '' },
})

async function pageOf({ client, signal }: RemoteQuestion, offset: number): Promise<RawRecord[]> {
  return (await client.send({ path: 'v1/services', query: { limit: PER_PAGE, offset } }, signal)).body.data
}

export const remoteScopes: RemoteScopes = {
  async list({ page = { offset: 0 }, ...question }) {
    const found = await pageOf(question, page.offset)
    const isLast = found.length < PER_PAGE
    return { children: found.map(serviceEntry), ...(!isLast && { next: { offset: page.offset + found.length } }) }
  },
  /** Opsgenie searches only for whole words, so all services are read to find a part of a name. */
  async search({ search, page, pageSize, ...question }) {
    const wanted = search.toLowerCase()
    const matching: RawRecord[] = []
    for (let offset = 0, isLast = false; !isLast; offset += PER_PAGE) {
      const found = await pageOf(question, offset)
      matching.push(...found.filter(({ name }) => name.toLowerCase().includes(wanted)))
      isLast = found.length < PER_PAGE
    }
    const start = (page - 1) * pageSize
    return { children: matching.slice(start, start + pageSize).map(serviceEntry), count: matching.length }
  },
}
