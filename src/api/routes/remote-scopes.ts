import { z } from 'zod'
import { UserError } from '../../errors.ts'
import type { ApiClient } from '../../plugin-kit/http/index.ts'
import type { PluginSpec } from '../../plugin-kit/spec/plugin.ts'
import type { Api, ApiContext } from '../api.ts'
import { askSource } from '../ask-source.ts'
import { answers, paging, passedOn, REMOTE_FAILURES } from '../contract/common.ts'
import { patience, stopWith } from '../stream.ts'
import { connectionParameter } from './connections.ts'

export const remoteEntry = z
  .object({
    type: z.enum(['group', 'scope']),
    parentId: z.string().nullable(),
    id: z.string(),
    name: z.string(),
    fullName: z.string(),
    data: z.any().nullable(),
    archived: z.boolean().optional(),
    topics: z.array(z.string()).optional(),
  })
  .meta({ id: 'RemoteScope', description: 'What a source offers: a scope, or a group of them.' })

/** Throws if an entry lacks a field: another server may send something unusual. */
function understood<Found extends { readonly children: readonly unknown[] }>(found: Found): Found {
  if (found.children.every((each) => remoteEntry.safeParse(each).success)) return found
  throw new TypeError('an entry lacks what every entry has')
}

/** Opaque to clients: whatever the plugin needs to find the next page. */
const writeToken = (next: unknown) => (next === undefined ? '' : Buffer.from(JSON.stringify(next)).toString('base64'))
function readToken(token: string): unknown {
  try {
    const page = JSON.parse(Buffer.from(token, 'base64').toString())
    if (page !== null && typeof page === 'object' && !Array.isArray(page)) return page
  } catch {
    // Reported below, like any other token that we did not make.
  }
  throw new UserError('pageToken is not valid: start again without it.')
}

/** Lists what the source of a connection offers for collection, and passes other requests on to it. */
export function remoteScopeRoutes(api: Api, source: PluginSpec, { services }: ApiContext): void {
  const { name: plugin, title, scope } = source
  const tags = [plugin]
  const base = `/plugins/${plugin}/connections/:connectionId`
  const params = connectionParameter

  const { remote } = scope
  if (remote) {
    const listed = z.object({ children: z.array(remoteEntry), nextPageToken: z.string() })
    api.get(
      `${base}/remote-scopes`,
      {
        config: { least: 'admin', reach: 'everywhere', size: 'none', cost: 'light' },
        schema: {
          tags,
          summary: `What ${title} offers: groups, and scopes in them`,
          params,
          querystring: z.object({ groupId: z.string().optional(), pageToken: z.string().optional() }),
          response: answers(200, listed, 404, ...REMOTE_FAILURES),
        },
      },
      async (request, reply) => {
        const { groupId, pageToken } = request.query
        const page = pageToken ? { page: readToken(pageToken) } : {}
        const group = groupId && groupId !== 'null' ? { group: groupId } : {}
        const { children, next } = await askSource(
          source,
          services,
          request.params.connectionId,
          async (client, settings) =>
            understood(await remote.list({ client, settings, signal: patience(stopWith(reply)), ...group, ...page })),
        )
        return { children, nextPageToken: writeToken(next) }
      },
    )
  }
  const search = remote?.search
  if (search) {
    api.get(
      `${base}/search-remote-scopes`,
      {
        config: { least: 'admin', reach: 'everywhere', size: 'none', cost: 'light' },
        schema: {
          tags,
          summary: `Scopes of ${title} by name`,
          params,
          querystring: z.object({ search: z.string().min(1), ...paging }),
          response: answers(
            200,
            z.object({ children: z.array(remoteEntry), page: z.int(), pageSize: z.int(), count: z.int().optional() }),
            404,
            ...REMOTE_FAILURES,
          ),
        },
      },
      async (request, reply) => {
        const { page, pageSize } = request.query
        const found = await askSource(source, services, request.params.connectionId, async (client, settings) =>
          understood(await search({ client, settings, signal: patience(stopWith(reply)), ...request.query })),
        )
        return { ...found, page, pageSize }
      },
    )
  }
  api.get(
    `${base}/proxy/rest/*`,
    {
      config: { least: 'admin', reach: 'everywhere', size: 'none', cost: 'light' },
      schema: {
        tags,
        summary: `A GET request to ${title} itself, signed by the connection`,
        params: z.object({ ...params.shape, '*': z.string().meta({ description: 'Path below the endpoint' }) }),
        querystring: z.looseObject({}).catchall(z.any()),
        response: passedOn(404, ...REMOTE_FAILURES),
      },
    },
    async (request, reply) => {
      const { connectionId } = request.params
      const path = pathOf(request.url)
      const every = Array.from({ length: 500 }, (_, index) => 100 + index)
      const answer = await askSource(source, services, connectionId, async (client) => {
        const question = { path, query: request.query, accept: every }
        const { status, headers, body } = await client.send(question, patience(stopWith(reply)))
        const own = Object.entries(headers).filter(([name]) => name.startsWith('x-'))
        return { status, headers: quoted(client, Object.fromEntries(own)), body: quoted(client, body) }
      })
      if (answer.body === undefined) {
        throw new UserError(`${title} did not answer with JSON.`, { status: 502 })
      }
      return reply.code(answer.status).headers(answer.headers).send(answer.body)
    },
  )
}

/** Masks secrets: some servers repeat what they were sent, and users of this route may not know the secrets. */
function quoted<Value>(client: ApiClient, value: Value): Value {
  const text = JSON.stringify(value) ?? ''
  const clean = client.redact(text)
  return clean === text ? value : JSON.parse(clean)
}

const PLACE = '/proxy/rest/'

/** The path as it was sent, since a name with an encoded slash must stay one part. Where it leads is checked when the request is sent. */
function pathOf(url: string): string {
  const [path = ''] = url.slice(url.indexOf(PLACE) + PLACE.length).split(/[?#]/)
  if (/^[a-z][a-z0-9+.-]*(?::|%3a)/i.test(path) || path.startsWith('/')) {
    throw new UserError('The path must lie below the endpoint of the connection.')
  }
  return path
}
