/**
 * The part of Jira's API that the plugin uses, over real HTTP, with its particularities:
 * https://developer.atlassian.com/cloud/jira/ The world changes while it runs, by the operations of jira-world.ts:
 * `fake.createIssue({ boards: [5, 6] })`, `fake.setEpic('SHOP-2', 'SHOP-1')`, `fake.moveToProject('SHOP-1', 'PAY')`,
 * `fake.now = () => …` for its clock.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { matching, shownIssue, shownSprint } from './jira-answers.ts'
import { ANN, createJiraWorld, issue, type JiraWorld } from './jira-world.ts'

export { issue }

export const USER = { username: 'ann@example.org', password: 'an-api-token-of-ann' }
export const ACCESS_TOKEN = 'a-personal-access-token'
export const SHA = '0123456789abcdef0123456789abcdef01234567'

const BASIC = `Basic ${Buffer.from(`${USER.username}:${USER.password}`).toString('base64')}`
const CLOUD = { version: '1001.0.0', versionNumbers: [1001, 0, 0], deploymentType: 'Cloud' }
const MOST_BOARDS = 50

export interface FakeJira extends JiraWorld {
  /** The endpoint of a connection. */
  readonly url: string
  /** The requested paths below /rest/, with their queries. */
  readonly requests: string[]
  readonly boards: { id: number; name: string; type: string }[]
  serverInfo: object
  /** Fields of issues besides the usual ones. */
  readonly fields: { id: string; name: string; custom: boolean }[]
  /** The time zone of the requesting user, in which Jira reads JQL. */
  timeZone: string
  /** The filter of every board. */
  jql: string
  /** Answers that replace the usual ones for these paths. */
  readonly instead: Map<string, { status: number; body: unknown }>
  stop(): Promise<void>
}

type Answer = [status: number, body: unknown]
const NOT_FOUND: Answer = [404, { errorMessages: ['Issue does not exist or you do not have permission to see it.'] }]
const UNKNOWN_USER: Answer = [401, { message: 'Client must be authenticated to access this resource.' }]

const page = (records: readonly unknown[], name: string, query: URLSearchParams, most = 100) => {
  const startAt = Number(query.get('startAt') ?? 0)
  const maxResults = Math.min(Number(query.get('maxResults') ?? 50), most)
  const shown = records.slice(startAt, startAt + maxResults)
  const isLast = startAt + shown.length >= records.length
  return { startAt, maxResults, total: records.length, isLast, [name]: shown }
}

export async function startFakeJira(): Promise<FakeJira> {
  const world = createJiraWorld()
  const fake = Object.assign(world, {
    requests: [] as string[],
    boards: Array.from({ length: 120 }, (_, index) => ({
      id: index + 1,
      name: index === 77 ? 'Checkout board' : `Board ${index + 1}`,
      type: index % 2 ? 'kanban' : 'scrum',
    })),
    serverInfo: CLOUD as object,
    fields: [{ id: 'customfield_10016', name: 'Story Points', custom: true }],
    timeZone: 'UTC',
    jql: 'project = SHOP ORDER BY Rank ASC',
    instead: new Map<string, { status: number; body: unknown }>(),
  })

  const routes: [RegExp, (query: URLSearchParams, id: string) => Answer][] = [
    [/^api\/2\/myself$/, () => [200, { ...ANN, timeZone: fake.timeZone }]],
    [
      /^agile\/1\.0\/board$/,
      (query) => [200, page(boardsNamed(query.get('name') ?? ''), 'values', query, MOST_BOARDS)],
    ],
    [/^agile\/1\.0\/board\/(\d+)\/configuration$/, (_query, id) => [200, { id: Number(id), filter: { id: `9${id}` } }]],
    [/^api\/2\/filter\/(\d+)$/, (_query, id) => [200, { id, jql: fake.jql }]],
    [/^agile\/1\.0\/board\/(\d+)\/issue$/, (query, id) => [200, issuePage(onBoard(Number(id)), query)]],
    [/^agile\/1\.0\/board\/(\d+)\/sprint$/, (query, id) => sprintsOf(Number(id), query)],
    [/^api\/2\/search$/, (query) => [200, issuePage(world.issues, query)]],
    [/^api\/3\/search\/jql$/, (query) => [200, tokenPage(query)]],
    [/^api\/2\/field$/, () => [200, fake.fields]],
    [/^api\/[23]\/issuetype$/, () => [200, world.types]],
    [/^api\/2\/status$/, () => [200, world.statuses]],
    [/^api\/2\/project$/, () => [200, world.projects]],
    [/^api\/2\/user$/, (query) => [200, world.people.get(query.get('accountId') ?? query.get('key') ?? '')]],
    [/^api\/2\/issue\/([^/]+)\/remotelink$/, (_query, name) => [200, found(name) && remoteLinksOf(name)]],
    [/^api\/[23]\/issue\/([^/]+)\/comment$/, (query, name) => [200, listOf(name, 'comments', query)]],
    [/^api\/[23]\/issue\/([^/]+)\/worklog$/, (query, name) => [200, listOf(name, 'worklogs', query)]],
    [/^api\/[23]\/issue\/([^/]+)\/changelog$/, (query, name) => [200, listOf(name, 'values', query)]],
    [/^api\/[23]\/issue\/([^/]+)$/, (query, name) => [200, found(name) && shown(query)(found(name))]],
    [/^dev-status\/1\.0\/issue\/summary$/, (query) => [200, { errors: [], summary: { repository: hostsOf(query) } }]],
    [/^dev-status\/1\.0\/issue\/detail$/, (query) => [200, { errors: [], detail: panelOf(query) }]],
  ]
  const boardsNamed = (part: string) =>
    fake.boards
      .filter(({ name }) => name.toLowerCase().includes(part.toLowerCase()))
      .map((board) => ({ ...board, self: `${url}agile/1.0/board/${board.id}`, location: { projectId: 10_000 } }))
  const found = (name: string) => world.issues.find(({ id, key }) => id === name || key === name)
  const onBoard = (board: number) => world.issues.filter(({ id }) => world.onBoards.get(id)?.has(board) ?? true)
  const asked = (query: URLSearchParams) => (query.get('fields') ?? '').split(',').filter(Boolean)
  const shown = (query: URLSearchParams) => (each: any) => shownIssue(world, each, asked(query))
  const issuePage = (issues: readonly any[], query: URLSearchParams) => {
    const { issues: some, ...rest } = page(matching(issues, query.get('jql') ?? '', fake.timeZone), 'issues', query)
    return { ...rest, issues: (some as any[]).map(shown(query)) }
  }
  /** Without a total, because Cloud's newer search does not return it. */
  const tokenPage = (query: URLSearchParams) => {
    const startAt = query.get('nextPageToken')?.replace('from-', '') ?? '0'
    const {
      total,
      issues: some,
      isLast,
    } = issuePage(world.issues, new URLSearchParams([...query, ['startAt', startAt]]))
    const next = Number(startAt) + some.length
    return { issues: some, isLast, ...(next < total && { nextPageToken: `from-${next}` }) }
  }
  const sprintsOf = (board: number, query: URLSearchParams): Answer => {
    const sprints = world.sprints.filter(({ boards }) => boards.includes(board)).map(shownSprint)
    return sprints.length > 0
      ? [200, page(sprints, 'values', query, 50)]
      : [400, { errorMessages: ['The board does not support sprints'] }]
  }
  const remoteLinksOf = (name: string) => world.remoteLinks.get(found(name).id) ?? []
  const listOf = (name: string, list: 'comments' | 'worklogs' | 'values', query: URLSearchParams) => {
    const { fields, changelog } = found(name) ?? {}
    const lists = {
      comments: fields?.comment?.comments,
      worklogs: fields?.worklog?.worklogs,
      values: changelog?.histories,
    }
    return fields && page(lists[list] ?? [], list, query, list === 'worklogs' ? 5000 : 100)
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
    const type = found ? 'application/json' : 'text/html'
    response.writeHead(status, { 'content-type': type, 'x-arequestid': '1', date: world.now().toUTCString() })
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
