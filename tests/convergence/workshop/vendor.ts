/** The made-up vendor's server, over real HTTP. */
import { createHash } from 'node:crypto'
import { type Respond, startFaultyServer } from '../support/faults.ts'
import type { VendorUnderTest } from '../support/vendor-under-test.ts'
import { workshopAnnex } from './annex.ts'
import { workshop, workshopQuery } from './plugin.ts'
import { BOARDS, CHANGES, type Item, type Run, startDate, World } from './world.ts'

type Answer = { readonly body: unknown; readonly headers?: Record<string, string> }
type Route = readonly [
  pattern: RegExp,
  answer: (world: World, id: number, query: URLSearchParams, path: string) => Answer | undefined,
]

const iso = (time: number | null) => (time === null ? null : new Date(time).toISOString().replace('.000', ''))
const person = ({ people }: World, id: number | null) => (id === null ? null : { id, name: people.get(id) })

const itemOf = (world: World, { comments: _, boards: __, createdAt, updatedAt, ...item }: Item) => ({
  ...item,
  kind_id: item.kind,
  reporter: person(world, item.reporter),
  assignee: person(world, item.assignee),
  created_at: iso(createdAt),
  updated_at: iso(updatedAt),
})
const buildOf = ({ id, status, sha, startedAt, finishedAt }: Run) => ({
  id,
  status,
  sha,
  started_at: iso(startedAt),
  finished_at: iso(finishedAt),
})
const deployOf = ({ id, status, startedAt }: Run) => ({ id, status, created_at: iso(startedAt) })

const itemsOn = ({ items }: World, id: number, query: URLSearchParams) => {
  const since = Date.parse(query.get('since') ?? '') || 0
  const ids = query.getAll('id').map(Number)
  return items.filter(
    ({ id: own, boards, updatedAt }) => boards.has(id) && updatedAt >= since && (ids.length === 0 || ids.includes(own)),
  )
}
const nodesOf = (list: readonly unknown[], query: URLSearchParams) => {
  const start = Number(query.get('after') ?? 0)
  const end = start + Number(query.get('first') ?? 2)
  return {
    nodes: list.slice(start, end),
    pageInfo: { hasNextPage: end < list.length, endCursor: String(Math.min(end, list.length)) },
  }
}
const graph = (names: readonly string[], query: URLSearchParams) =>
  nodesOf(
    names.map((name) => ({ name })),
    query,
  )
const found = <Thing>(thing: Thing | undefined, body: (thing: Thing) => unknown): Answer | undefined =>
  thing && { body: body(thing) }

const ROUTES: readonly Route[] = [
  [
    /^\/boards\/(\d+)\/items$/,
    (world, id, query) => {
      const all = itemsOn(world, id, query)
      const start = Number(query.get('offset'))
      const page = all.slice(start, start + Number(query.get('limit')))
      return { body: { total: all.length, items: page.map((item) => itemOf(world, item)) } }
    },
  ],
  [
    /^\/boards\/(\d+)\/names$/,
    (world, id, query) => {
      const all = itemsOn(world, id, query).map((item) => ({ id: item.id, updated_at: iso(item.updatedAt) }))
      const start = Number(query.get('offset'))
      return { body: { total: all.length, names: all.slice(start, start + Number(query.get('limit'))) } }
    },
  ],
  [
    /^\/query\/boards\/(\d+)\/items$/,
    (world, id, query) => {
      const firstLabels = new URLSearchParams({ first: '2' })
      const newestFirst = itemsOn(world, id, query).toSorted((one, other) => other.updatedAt - one.updatedAt)
      const all = newestFirst.map((item) => ({
        ...itemOf(world, item),
        labels: graph(item.labels, firstLabels),
      }))
      return { body: nodesOf(all, query) }
    },
  ],
  [
    /^\/query\/items\/(\d+)\/labels$/,
    ({ items }, id, query) =>
      found(
        items.find((item) => item.id === id),
        ({ labels }) => graph(labels, query),
      ),
  ],
  [
    /^\/items\/(\d+)\/comments$/,
    (world, id, query) =>
      found(
        world.items.find((item) => item.id === id),
        ({ comments }) =>
          nodesOf(
            comments.map(({ id, body, author, createdAt }) => ({
              id,
              body,
              author: person(world, author),
              created_at: iso(createdAt),
            })),
            query,
          ),
      ),
  ],
  [
    /^\/boards\/(\d+)\/builds$/,
    ({ builds }, id, query, path) => {
      const [page, size] = [Number(query.get('page') ?? 1), Number(query.get('per_page'))]
      const all = builds.filter(({ board }) => board === id)
      const last = Math.ceil(all.length / size)
      const link = (relation: string, number: number) =>
        `<http://workshop${path}?per_page=${size}&page=${number}>; rel="${relation}"`
      const links = page < last ? [link('next', page + 1), link('last', last)] : []
      return { body: all.slice((page - 1) * size, page * size).map(buildOf), headers: { link: links.join(', ') } }
    },
  ],
  [
    /^\/builds\/(\d+)$/,
    ({ builds }, id) =>
      found(
        builds.find((build) => build.id === id),
        buildOf,
      ),
  ],
  [
    /^\/boards\/(\d+)\/deploys$/,
    ({ deploys }, id, query) => {
      const [from, to] = [Date.parse(query.get('from') ?? ''), Date.parse(query.get('to') ?? '')]
      const all = deploys.filter(({ board, startedAt }) => board === id && startedAt >= from && startedAt <= to)
      const [page, size] = [Number(query.get('page') ?? 1), Number(query.get('per_page'))]
      return { body: { total: all.length, deploys: all.slice((page - 1) * size, page * size).map(deployOf) } }
    },
  ],
  [
    /^\/deploys\/(\d+)$/,
    ({ deploys }, id) =>
      found(
        deploys.find((deploy) => deploy.id === id),
        deployOf,
      ),
  ],
  [
    /^\/commits$/,
    (world, _id, query) => ({
      body: query.getAll('sha').map((sha) => ({
        sha,
        message: `Commit ${sha}`,
        author: person(world, (sha.charCodeAt(0) % world.people.size) + 1),
      })),
    }),
  ],
  [/^\/kinds$/, ({ kinds }) => ({ body: [...kinds].map(([id, name]) => ({ id, name })) })],
]

const respondFor =
  (world: () => World, now: () => number): Respond =>
  (request, _body, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://workshop')
    const date = new Date(now()).toUTCString()
    for (const [pattern, answer] of ROUTES) {
      const [, id] = pattern.exec(pathname) ?? []
      if (!pattern.test(pathname)) continue
      const made = answer(world(), Number(id), searchParams, pathname)
      if (!made) break
      const text = JSON.stringify(made.body)
      const etag = `"${createHash('sha1').update(text).digest('hex')}"`
      const isKnown = request.headers['if-none-match'] === etag
      response.writeHead(isKnown ? 304 : 200, { 'content-type': 'application/json', date, etag, ...made.headers })
      response.end(isKnown ? undefined : text)
      return
    }
    response.writeHead(404, { 'content-type': 'application/json', date })
    response.end('{"message":"not found"}')
  }

export const workshopVendor: VendorUnderTest = {
  name: 'workshop',
  interfaces: [workshop, workshopQuery],
  neighbour: workshopAnnex,
  module: 'tests/convergence/workshop/plugin.ts',
  scopes: BOARDS.map((id) => ({ options: { boardId: id }, row: { id, name: `Board ${id}` } })),
  rules: [
    { hot_label: 'hot', incident_kind: 'fire' },
    { hot_label: 'red', incident_kind: 'fire' },
    { hot_label: 'hot', incident_kind: 'task' },
  ],
  lists: [
    '/items',
    '/names',
    '/comments',
    '/builds',
    '/deploys',
    '/commits',
    '/kinds',
    '/labels',
    'boards/1/',
    'boards/2/',
  ],
  changes: CHANGES,
  startDate,
  async start(now) {
    let world = new World(now)
    const server = await startFaultyServer(respondFor(() => world, now))
    return {
      server,
      connection: { endpoint: server.url, token: 'a-token' },
      reset: async () => {
        world = new World(now)
      },
      change: (name, parameters) => world.changes[name as keyof typeof CHANGES](...(parameters as number[])),
      stop: server.stop,
    }
  },
}
