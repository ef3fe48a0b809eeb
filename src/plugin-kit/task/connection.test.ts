import { afterEach, expect, test, vi } from 'vitest'
import { startServer } from '../http/test-support.ts'
import type { PluginSpec } from '../spec/plugin.ts'
import { openAwaitedClient, openClient } from './connection.ts'

afterEach(() => vi.unstubAllEnvs())

/** Counts the requests that a connection sends before it waits. */
async function sentAtOnce(limits: PluginSpec['connection']['limits'], settings: Record<string, unknown>) {
  const server = await startServer(() => ({ body: {} }))
  const spec = { name: 'some', title: 'Some', connection: { fields: {}, limits } } as unknown as PluginSpec
  const abort = new AbortController()
  const onEvent = () => abort.abort(new Error('it waits'))
  const client = openClient(spec, { endpoint: server.endpoint, ...settings }, onEvent)
  for (let count = 0; count < 4; count++) await client.send({ path: '/' }, abort.signal).catch(() => {})
  await client.close()
  return server.received.length
}

test('the first that is there limits a connection: its own number, the quota that the source tells, the environment', async () => {
  const telling = { quota: () => undefined }
  expect(await sentAtOnce(undefined, {})).toBe(4)
  vi.stubEnv('API_REQUESTS_PER_HOUR', '120')
  expect(await sentAtOnce(undefined, {})).toBe(2)
  expect(await sentAtOnce(telling, {})).toBe(4)
  expect(await sentAtOnce(undefined, { rateLimitPerHour: 180 })).toBe(3)
  expect(await sentAtOnce(telling, { rateLimitPerHour: 60 })).toBe(1)
})

test('what somebody waits for is small: more is refused before it is parsed', async () => {
  const server = await startServer(({ url }) => ({
    text: url.pathname === '/long' ? `"${'x'.repeat(9_000_000)}"` : `[${'{},'.repeat(300_000)}{}]`,
  }))
  const spec = { name: 'some', title: 'Some', connection: { fields: {} } } as unknown as PluginSpec
  const client = openAwaitedClient(spec, { endpoint: server.endpoint })
  const { signal } = new AbortController()
  await expect(client.send({ path: '/long' }, signal)).rejects.toThrow(/larger than \d+ bytes/)
  await expect(client.send({ path: '/many' }, signal)).rejects.toThrow(/more than 200000 names and list items/)
  await client.close()
})
