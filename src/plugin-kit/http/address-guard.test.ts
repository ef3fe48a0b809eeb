import dns from 'node:dns'
import { createServer } from 'node:http'
import { syncBuiltinESMExports } from 'node:module'
import { type AddressInfo, connect, createServer as createSocketServer, type Server } from 'node:net'
import { beforeEach, expect, onTestFinished, test } from 'vitest'
import { createTestClient, never } from './test-support.ts'

// Set here because the code reads it once, at the first check.
process.env.ENDPOINT_CIDR_BLACKLIST = '127.0.0.1/32,::1/128,10.9.0.0/16'
process.env.ENDPOINT_CIDR_ALLOWED = '10.9.8.7/32'

const OPEN = '127.0.0.2'
let heard: string[] = []

async function listen(server: Server, host: string): Promise<number> {
  await new Promise<void>((listening) => server.listen(0, host, listening))
  onTestFinished(() => void server.close())
  return (server.address() as AddressInfo).port
}

const startServer = (host: string) =>
  listen(
    createServer((request, response) => {
      heard.push(`${request.method} ${request.url}`)
      response.end('"answer"')
    }),
    host,
  )

/** A proxy that accepts every request. */
const startTunnel = (host: string) =>
  listen(
    createServer().on('connect', (request, socket) => {
      heard.push(`CONNECT ${request.url}`)
      const [name, port] = request.url!.split(':')
      const target = connect(Number(port), name!, () => socket.write('HTTP/1.1 200 OK\r\n\r\n'))
      socket.pipe(target).pipe(socket)
    }),
    host,
  )

beforeEach(() => {
  heard = []
})

const asked = (endpoint: string, proxy?: string) =>
  createTestClient(endpoint, { ...(proxy && { proxy }) })
    .send({ path: '/' }, never)
    .then(
      ({ body }) => body,
      (error) => error.message,
    )
const REFUSED = /leads to a blocked address/

test.each([
  'http://127.0.0.1',
  'http://localhost',
  'http://2130706433',
  'http://0x7f.1',
  'http://0.0.0.0',
  'http://[::]',
  'http://[::1]',
  'http://[::ffff:127.0.0.1]',
  'http://[64:ff9b::127.0.0.1]',
  'http://[64:ff9b:1::127.0.0.1]',
  'http://[::ffff:0:0]',
  'http://[::ffff:0:127.0.0.1]',
  'http://[::127.0.0.1]',
  'http://[2002:7f00:1::]',
  'http://[2001:0:1::80ff:fffe]',
  'http://0177.0.0.1',
  'http://127.0.0.1.',
])('%s is closed, however it is written', async (endpoint) => {
  const port = await startServer('127.0.0.1')
  expect(await asked(`${endpoint}:${port}`)).toMatch(REFUSED)
  expect(heard).toEqual([])
})

test.each(['http', 'https', 'socks5'])('a closed address is no %s proxy either', async (scheme) => {
  const port = await startServer(OPEN)
  const proxyPort = await listen(
    createSocketServer(() => heard.push('connection')),
    '127.0.0.1',
  )
  for (const host of ['127.0.0.1', 'localhost']) {
    for (const target of ['http', 'https']) {
      expect(await asked(`${target}://${OPEN}:${port}`, `${scheme}://${host}:${proxyPort}`)).toMatch(REFUSED)
    }
  }
  expect(heard).toEqual([])
})

test('no proxy is asked for what is closed', async () => {
  const port = await startServer('127.0.0.1')
  const proxy = `http://${OPEN}:${await startTunnel(OPEN)}`
  for (const host of ['127.0.0.1', 'localhost', '[::1]']) {
    for (const scheme of ['http', 'https']) expect(await asked(`${scheme}://${host}:${port}`, proxy)).toMatch(REFUSED)
  }
  expect(heard).toEqual([])
})

test('what is open is asked, directly and through proxies', async () => {
  const port = await startServer(OPEN)
  expect(await asked(`http://${OPEN}:${port}`)).toBe('answer')
  const forward = await startServer(OPEN)
  expect(await asked(`http://${OPEN}:${port}`, `http://${OPEN}:${forward}`)).toBe('answer')
  expect(heard).toEqual(['GET /', `GET http://${OPEN}:${port}/`])
})

test('a server that redirects to a closed address is not followed', async () => {
  const closed = await startServer('127.0.0.1')
  const server = createServer((_request, response) =>
    response.writeHead(302, { location: `http://localhost:${closed}/` }).end(),
  )
  const port = await listen(server, OPEN)
  expect(await asked(`http://${OPEN}:${port}`)).toMatch(/redirects to another server/)
  expect(heard).toEqual([])
})

/** A name whose addresses change: open in the first answers, blocked in all later ones. */
function rebind(name: string, openAnswers: number): void {
  const { lookup } = dns
  const { lookup: resolve } = dns.promises
  let answers = 0
  const addressOf = () => ({ address: answers++ < openAnswers ? OPEN : '127.0.0.1', family: 4 })
  onTestFinished(() => {
    Object.assign(dns, { lookup })
    Object.assign(dns.promises, { lookup: resolve })
    syncBuiltinESMExports()
  })
  const isOurs = (host: unknown) => host === name
  Object.assign(dns, {
    lookup: (host: string, options: object, found: (...answer: unknown[]) => void) =>
      isOurs(host) ? setImmediate(() => found(null, [addressOf()])) : lookup(host, options, found as never),
  })
  Object.assign(dns.promises, {
    lookup: async (host: string, options: object) => (isOurs(host) ? [addressOf()] : resolve(host, options)),
  })
  syncBuiltinESMExports()
}

test('a name that was open when it was saved is not asked where it leads to later', async () => {
  const { requireOpenEndpoint } = await import('./address-guard.ts')
  const port = await startServer('127.0.0.1')
  const address = `http://rebound.test:${port}`
  rebind('rebound.test', 1)
  await requireOpenEndpoint(address)
  // As an endpoint and target of messages, as a proxy, and as the target of a request through a proxy.
  expect(await asked(address)).toMatch(REFUSED)
  expect(await asked(`http://${OPEN}:${port}`, address)).toMatch(REFUSED)
  expect(await asked(`http://${OPEN}:${port}`, `socks5://rebound.test:${port}`)).toMatch(REFUSED)
  expect(await asked(address, `http://${OPEN}:${await startTunnel(OPEN)}`)).toMatch(REFUSED)
  expect(heard).toEqual([])
})

test('libraries that bring no client of their own are not led elsewhere by a redirect', async () => {
  const { guardedFetch } = await import('./guarded-fetch.ts')
  const closed = await startServer('127.0.0.1')
  const server = createServer((_request, response) =>
    response.writeHead(307, { location: `http://127.0.0.1:${closed}/` }).end(),
  )
  const port = await listen(server, OPEN)
  expect((await guardedFetch(`http://${OPEN}:${port}/`, {})).status).toBe(307)
  await expect(guardedFetch(`http://127.0.0.1:${closed}/`, {})).rejects.toThrow(REFUSED)
  expect(heard).toEqual([])
})

test('networks within closed ones can be opened', async () => {
  const { openAddresses } = await import('./address-guard.ts')
  await expect(openAddresses('10.9.8.6')).rejects.toThrow(REFUSED)
  await expect(openAddresses('64:ff9b::10.9.8.6')).rejects.toThrow(REFUSED)
  expect(await openAddresses('10.9.8.7')).toEqual(['10.9.8.7'])
})
