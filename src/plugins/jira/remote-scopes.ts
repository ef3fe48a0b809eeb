/** Lists the scopes that Jira offers: every board that the account may see, in one flat list. */
import type { RawRecord } from '../../database/table.ts'
import type { RemoteEntry, RemoteQuestion, RemoteScopes } from '../../plugin-kit/index.ts'

/** The largest number of boards that Jira returns at once. */
const PAGE_SIZE = 50

const boardEntry = ({ id, name, self, type, location }: RawRecord): RemoteEntry => ({
  type: 'scope',
  parentId: null,
  id: String(id),
  name,
  fullName: name,
  data: { boardId: id, projectId: location?.projectId ?? 0, name, self, type },
})

// https://developer.atlassian.com/cloud/jira/software/rest/api-group-board/#api-rest-agile-1-0-board-get
async function askBoards({ client, signal }: RemoteQuestion, query: Record<string, string | number>) {
  const { values, isLast, total } = (await client.send({ path: 'agile/1.0/board', query }, signal)).body
  return { children: values.map(boardEntry) as RemoteEntry[], isLast, total }
}

export const remoteScopes: RemoteScopes = {
  async list({ page, ...question }) {
    const { startAt = 0, maxResults = PAGE_SIZE } = page ?? {}
    const { children, isLast, total } = await askBoards(question, { startAt, maxResults })
    const next = startAt + children.length
    // Jira may leave out the total.
    const isEnd = children.length === 0 || (isLast ?? next >= total)
    return { children, ...(!isEnd && { next: { maxResults, startAt: next } }) }
  },
  async search({ search, page, pageSize, ...question }) {
    const maxResults = Math.min(pageSize, PAGE_SIZE)
    const query = { name: search, startAt: (page - 1) * maxResults, maxResults }
    const { children, total } = await askBoards(question, query)
    return { children, ...(total !== undefined && { count: total }) }
  },
}
