import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Plugin } from '../../src/plugin-kit/spec/plugin.ts'
import { plugins } from '../../src/plugins/index.ts'
import { describeEachWithTables } from '../support/databases.ts'
import { type GeneratedRequest, generatedRequests } from './support/requests-from-description.ts'
import { startTestApi, type TestApi } from './support/test-api.ts'

/** The number of requests per engine. `tests/hostile/requests.test.ts` sends other requests. */
const REQUESTS = Number(process.env.GENERATED_REQUESTS ?? (process.env.FULL_SIZE === 'true' ? 20_000 : 4000))
const PLANTED = 'ghp_plantedplantedplantedplantedplanted'
const DEADLINE_MS = 60_000
/** Requests that are sent at once, as by several clients. */
const BATCH = 20

/** No request leaves this machine, even if it omits the endpoint. */
const askOnly = (local: string): readonly Plugin[] =>
  plugins.map((plugin) => {
    if (!plugin.source) return plugin
    const { connection } = plugin.source
    const endpoint = { ...connection.fields.endpoint, kind: 'url', label: 'Endpoint', default: local } as const
    const fields = { ...connection.fields, endpoint }
    return { ...plugin, source: { ...plugin.source, connection: { ...connection, endpoint: local, fields } } }
  })

/** A server with typical answers: pages, errors, JSON of any shape. */
async function startStranger(): Promise<Server> {
  const bodies = ['[]', '{}', 'null', '<html></html>', '{"items":[]}', '[{"id":1}]', '{"message":"no"}', '']
  let count = 0
  const server = createServer((_request, response) => {
    count++
    // Never 500, because the proxy passes the status on unchanged.
    response.writeHead([200, 200, 404, 503, 401][count % 5] as number, { 'content-type': 'application/json' })
    response.end(bodies[count % bodies.length])
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  return server
}

describeEachWithTables('generated requests', (test) => {
  let api: TestApi
  let stranger: Server
  let local: string
  beforeAll(async () => {
    stranger = await startStranger()
    local = `http://127.0.0.1:${(stranger.address() as AddressInfo).port}/`
    api = await startTestApi(test.database, { REQUESTS_PER_MINUTE: '0' }, askOnly(local))
    for (const [index, name] of ['main', 'second', 'third'].entries()) {
      const body = { name, endpoint: local, token: PLANTED, secretKey: PLANTED, username: 'u', password: PLANTED }
      for (const plugin of ['github', 'jira', 'circleci', 'webhook']) {
        await api.server.inject({ method: 'POST', url: `/plugins/${plugin}/connections`, payload: body })
      }
      // A connection with scopes cannot be deleted, so it stays available.
      const scopes = { data: [{ githubId: index + 1, name, fullName: `acme/${name}` }] }
      await api.server.inject({
        method: 'PUT',
        url: `/plugins/github/connections/${index + 1}/scopes`,
        payload: scopes,
      })
      await api.server.inject({ method: 'POST', url: '/projects', payload: { name } })
    }
  })
  afterAll(async () => {
    await api.close()
    stranger.closeAllConnections()
    stranger.close()
  })

  it(`${REQUESTS} of them: no 500, no hang, no secret in any answer`, async () => {
    const seen = new Map<number, number>()
    const requests = generatedRequests((api.server as any).swagger(), local)
    const batches = fc.array(requests, { minLength: BATCH, maxLength: BATCH })
    await fc.assert(
      fc.asyncProperty(batches, async (batch) => {
        await Promise.all(batch.map((request) => answered(request)))
      }),
      {
        numRuns: Math.ceil(REQUESTS / BATCH),
        endOnFailure: true,
        ...(process.env.SEED && { seed: Number(process.env.SEED) }),
      },
    )
    async function answered({ method, url, body, headers }: GeneratedRequest): Promise<void> {
      let timer: NodeJS.Timeout | undefined
      const deadline = new Promise<never>((_done, fail) => {
        timer = setTimeout(() => fail(new Error(`${method} ${url} was not answered`)), DEADLINE_MS)
      })
      const { status, text } = await Promise.race([api.ask(method, url, body, { headers }), deadline])
      clearTimeout(timer)
      seen.set(status, (seen.get(status) ?? 0) + 1)
      expect(text.includes(PLANTED), `${method} ${url} answered a secret: ${text}`).toBe(false)
    }
    // Not all requests are refused: the generated ones reach every part.
    for (const status of [200, 201, 400, 401, 404, 409])
      expect(seen.get(status) ?? 0, String(status)).toBeGreaterThan(0)
    expect(api.log()).not.toContain(PLANTED)
    console.log(
      `${test.engine}: ${[...seen]
        .sort()
        .map(([status, count]) => `${status}: ${count}`)
        .join(', ')}`,
    )
  }, 600_000)
})
