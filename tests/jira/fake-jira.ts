/** As much of Jira's API as the plugin asks for, over real HTTP, with its habits: https://developer.atlassian.com/cloud/jira/ */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export const USER = { username: 'ann@example.org', password: 'an-api-token-of-ann' }
export const ACCESS_TOKEN = 'a-personal-access-token'
export const SHA = '0123456789abcdef0123456789abcdef01234567'

const BASIC = `Basic ${Buffer.from(`${USER.username}:${USER.password}`).toString('base64')}`
const CLOUD = { version: '1001.0.0', versionNumbers: [1001, 0, 0], deploymentType: 'Cloud' }
const MOST_BOARDS = 50
const PROJECT = { id: '10000', key: 'SHOP', name: 'Shop' }
const ANN = { accountId: 'ann', displayName: 'Ann', active: true, avatarUrls: {} }

export interface FakeJira {
  /** The endpoint of a connection. */
  readonly url: string
  /** Paths asked for below /rest/, with query. */
  readonly requests: string[]
  readonly boards: { id: number; name: string; type: string }[]
  readonly issues: any[]
  serverInfo: object
  /** Of every board. */
  jql: string
  /** Answers to paths, instead of the usual ones. */
  readonly instead: Map<string, { status: number; body: unknown }>
  stop(): Promise<void>
}

type Answer = [status: number, body: unknown]
const NOT_FOUND: Answer = [404, { errorMessages: ['Issue does not exist or you do not have permission to see it.'] }]
const UNKNOWN_USER: Answer = [401, { message: 'Client must be authenticated to access this resource.' }]

export const issue = (number: number, fields: object = {}) => ({
  id: String(10_000 + number),
  key: `SHOP-${number}`,
  self: `https://example.atlassian.net/rest/agile/1.0/issue/${10_000 + number}`,
  fields: {
    summary: `Issue ${number}`,
    created: '2024-03-01T09:00:00.000+0000',
    updated: '2024-03-02T09:00:00.000+0000',
    issuetype: { id: '1', name: 'Story', subtask: false },
    status: { name: 'Open', statusCategory: { key: 'new' } },
    project: PROJECT,
    creator: ANN,
    ...fields,
  },
})

const page = (records: readonly unknown[], name: string, query: URLSearchParams, most = 100) => {
  const startAt = Number(query.get('startAt') ?? 0)
  const maxResults = Math.min(Number(query.get('maxResults') ?? 50), most)
  const shown = records.slice(startAt, startAt + maxResults)
  const isLast = startAt + shown.length >= records.length
  return { startAt, maxResults, total: records.length, isLast, [name]: shown }
}

export async function startFakeJira(): Promise<FakeJira> {
  const fake = {
    requests: [] as string[],
    boards: Array.from({ length: 120 }, (_, index) => ({
      id: index + 1,
      name: index === 77 ? 'Checkout board' : `Board ${index + 1}`,
      type: index % 2 ? 'kanban' : 'scrum',
    })),
    issues: [issue(1), issue(2), issue(3)] as any[],
    serverInfo: CLOUD as object,
    jql: 'project = SHOP ORDER BY Rank ASC',
    instead: new Map<string, { status: number; body: unknown }>(),
  }

  const routes: [RegExp, (query: URLSearchParams, id: string) => Answer][] = [
    [/^api\/2\/myself$/, () => [200, { ...ANN, timeZone: 'UTC' }]],
    [
      /^agile\/1\.0\/board$/,
      (query) => [200, page(boardsNamed(query.get('name') ?? ''), 'values', query, MOST_BOARDS)],
    ],
    [/^agile\/1\.0\/board\/(\d+)\/configuration$/, (_query, id) => [200, { id: Number(id), filter: { id: `9${id}` } }]],
    [/^api\/2\/filter\/(\d+)$/, (_query, id) => [200, { id, jql: fake.jql }]],
    [/^agile\/1\.0\/board\/(\d+)\/issue$/, (query) => [200, page(changedIn(query.get('jql') ?? ''), 'issues', query)]],
    [/^agile\/1\.0\/board\/(\d+)\/sprint$/, () => [400, { errorMessages: ['The board does not support sprints'] }]],
    [/^api\/2\/field$/, () => [200, [{ id: 'customfield_10016', name: 'Story Points', custom: true }]]],
    [/^api\/[23]\/issuetype$/, () => [200, [{ id: '1', name: 'Story', subtask: false }]]],
    [/^api\/2\/status$/, () => [200, [{ id: '1', name: 'Open', statusCategory: { key: 'new' } }]]],
    [/^api\/2\/project$/, () => [200, [PROJECT]]],
    [/^api\/2\/user$/, () => [200, { ...ANN, emailAddress: 'ann@example.org' }]],
    [/^api\/2\/issue\/([^/]+)\/remotelink$/, () => [200, []]],
    [/^api\/2\/issue\/([^/]+)$/, (_query, key) => [200, fake.issues.find((each) => each.key === key)]],
    [/^dev-status\/1\.0\/issue\/summary$/, (query) => [200, { errors: [], summary: { repository: hostsOf(query) } }]],
    [/^dev-status\/1\.0\/issue\/detail$/, (query) => [200, { errors: [], detail: panelOf(query) }]],
  ]
  const boardsNamed = (part: string) =>
    fake.boards
      .filter(({ name }) => name.toLowerCase().includes(part.toLowerCase()))
      .map((board) => ({ ...board, self: `${url}agile/1.0/board/${board.id}`, location: { projectId: 10_000 } }))
  const changedIn = (jql: string) => {
    const [, since] = /updated >= '([^']+)'/.exec(jql) ?? []
    const from = since ? Date.parse(`${since.replaceAll('/', '-')}Z`) : 0
    return fake.issues.filter(({ fields }) => Date.parse(fields.updated) >= from)
  }
  const hostsOf = (query: URLSearchParams) => ({
    overall: { count: 7 },
    byInstanceType:
      query.get('issueId') === '10001'
        ? { stash: { count: 1, name: 'Bitbucket' }, GitLab: { count: 6, name: 'GitLab' } }
        : {},
  })
  const commit = (number: number) => ({
    id: SHA,
    url: `https://git.example/group/shop/-/commit/${SHA}?number=${number}`,
    authorTimestamp: `2024-03-0${number}T00:00:00.000+0000`,
  })
  const panelOf = (query: URLSearchParams) =>
    query.get('applicationType') === 'GitLab'
      ? [{ repositories: [{ url: 'https://git.example/group/shop', commits: [1, 2, 3, 4, 5, 6].map(commit) }] }]
      : []

  function answerTo({ url: address = '/', headers }: IncomingMessage): Answer | undefined {
    const { pathname, searchParams } = new URL(address, 'http://fake')
    const [, path] = /^\/rest\/(.*)$/.exec(pathname) ?? []
    if (path === undefined) return undefined
    fake.requests.push(address.slice('/rest/'.length))
    const instead = fake.instead.get(path)
    if (instead) return [instead.status, instead.body]
    if (path === 'api/2/serverInfo') return [200, fake.serverInfo]
    const isKnown = headers.authorization === BASIC || headers.authorization === `Bearer ${ACCESS_TOKEN}`
    if (!isKnown) return UNKNOWN_USER
    for (const [form, answer] of routes) {
      const match = form.exec(path)
      if (!match) continue
      const found = answer(searchParams, decodeURIComponent(match[1] ?? ''))
      return found[1] === undefined ? NOT_FOUND : found
    }
    return NOT_FOUND
  }
  const server = createServer((request: IncomingMessage, response: ServerResponse) => {
    const found = answerTo(request)
    const [status, body] = found ?? [404, '<html>Oops, you have found a dead link.</html>']
    response.writeHead(status, { 'content-type': found ? 'application/json' : 'text/html', 'x-arequestid': '1' })
    response.end(found ? JSON.stringify(body) : body)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/rest/`
  return Object.assign(fake, {
    url,
    stop: () =>
      new Promise<void>((resolve) => {
        server.closeAllConnections()
        server.close(() => resolve())
      }),
  })
}
