import { createServer, request as forward } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import { type AddressInfo, connect, createServer as createSocketServer, type Server, type Socket } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { UserError } from '../../errors.ts'
import { createCertificate } from './test-certificate.ts'
import { createTestClient, never, startServer } from './test-support.ts'

async function listen(server: Server): Promise<number> {
  const sockets = new Set<Socket>()
  server.on('connection', (socket) => sockets.add(socket))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(async () => {
    for (const socket of sockets) socket.destroy()
    await new Promise((resolve) => server.close(resolve))
  })
  return (server.address() as AddressInfo).port
}

function pipe(one: Socket, other: Socket) {
  one.pipe(other).on('error', () => one.destroy())
  other.pipe(one).on('error', () => other.destroy())
}

/** Forwards plain requests and tunnels CONNECT, for those who know the password. */
async function startProxy(password?: string) {
  const seen: string[] = []
  const expected = password && `Basic ${Buffer.from(`me:${password}`).toString('base64')}`
  const server = createServer((request, response) => {
    seen.push(`${request.method} ${request.url}`)
    if (expected && request.headers['proxy-authorization'] !== expected) return response.writeHead(407).end()
    const { 'proxy-authorization': _, ...headers } = request.headers
    forward(request.url!, { method: request.method, headers }, (answer) => {
      response.writeHead(answer.statusCode!, answer.headers)
      answer.pipe(response)
    }).end()
  })
  server.on('connect', (request, socket: Socket) => {
    seen.push(`CONNECT ${request.url}`)
    if (expected && request.headers['proxy-authorization'] !== expected) {
      return socket.end('HTTP/1.1 407 Proxy Authentication Required\r\n\r\n')
    }
    const [host, port] = request.url!.split(':')
    const target = connect(Number(port), host, () => {
      socket.write('HTTP/1.1 200 Connection Established\r\n\r\n')
      pipe(socket, target)
    })
  })
  return { port: await listen(server), seen }
}

async function startSecureServer() {
  const { key, certificate } = createCertificate()
  const server = createTlsServer({ key, cert: certificate }, (_request, response) => response.end('"secure"'))
  return { endpoint: `https://127.0.0.1:${await listen(server)}`, certificate }
}

test('https goes through a CONNECT tunnel, with user and password', async () => {
  const server = await startSecureServer()
  const proxy = await startProxy('pass word')
  const client = createTestClient(server.endpoint, {
    proxy: `http://me:pass%20word@127.0.0.1:${proxy.port}`,
    certificates: server.certificate,
  })
  expect((await client.send({ path: '/' }, never)).body).toBe('secure')
  expect(proxy.seen).toEqual([`CONNECT ${new URL(server.endpoint).host}`])
})

test('http is forwarded by the proxy', async () => {
  const server = await startServer(({ headers }) => ({ body: headers['proxy-authorization'] ?? 'none' }))
  const proxy = await startProxy()
  const client = createTestClient(server.endpoint, { proxy: `http://127.0.0.1:${proxy.port}` })
  expect((await client.send({ path: '/a?b=1' }, never)).body).toBe('none')
  expect(proxy.seen).toEqual([`GET ${server.endpoint}/a?b=1`])
})

test('socks5 is spoken too', async () => {
  const server = await startServer(() => ({ body: 'through socks' }))
  const asked: number[] = []
  const proxy = createSocketServer((socket) => {
    socket.once('data', () => {
      socket.write(Buffer.from([5, 0])) // no authentication
      socket.once('data', (wanted) => {
        // version, connect, reserved, IPv4 (1) or name (3), address, port
        const port = wanted.readUInt16BE(wanted.length - 2)
        asked.push(port)
        const target = connect(port, '127.0.0.1', () => {
          socket.write(Buffer.from([5, 0, 0, 1, 127, 0, 0, 1, 0, 0]))
          pipe(socket, target)
        })
      })
    })
  })
  const client = createTestClient(server.endpoint, { proxy: `socks5://127.0.0.1:${await listen(proxy)}` })
  expect((await client.send({ path: '/' }, never)).body).toBe('through socks')
  expect(asked).toEqual([Number(new URL(server.endpoint).port)])
})

test('a proxy that wants another password is named, its password is not', async () => {
  const secure = await startSecureServer()
  const plain = await startServer(() => ({ body: {} }))
  const proxy = await startProxy('right')
  for (const endpoint of [secure.endpoint, plain.endpoint]) {
    const client = createTestClient(endpoint, { proxy: `http://me:wrong-one@127.0.0.1:${proxy.port}` })
    const error = await client.send({ path: '/' }, never).catch((reason) => reason)
    expect(error).toBeInstanceOf(UserError)
    expect(error.message).toMatch(/^Connection "acme": The proxy asks for a user and password \(407\)/)
    expect(`${error.message} ${JSON.stringify(client.events)}`).not.toContain('wrong-one')
  }
  expect(plain.received).toEqual([])
})

test('a certificate that is not trusted is the user’s to fix, and not tried again', async () => {
  const server = await startSecureServer()
  const client = createTestClient(server.endpoint)
  const error = await client.send({ path: '/' }, never).catch((reason) => reason)
  expect(error).toBeInstanceOf(UserError)
  expect(error.message).toMatch(/certificate of https:\/\/127.0.0.1:\d+\/? is not trusted .*NODE_EXTRA_CA_CERTS/)
  expect(client.usage.requests).toBe(1)
})

test('any certificate is trusted where that is asked for', async () => {
  const { endpoint } = await startSecureServer()
  const client = createTestClient(endpoint, { trustsAnyCertificate: true })
  expect((await client.send({ path: '/' }, never)).body).toBe('secure')
})

test.each(['ftp://proxy.example', 'proxy.example:8080', 'me:secret@proxy'])('%s is no proxy', (proxy) => {
  expect(() => createTestClient('http://127.0.0.1:1', { proxy })).toThrow(
    'Connection "acme": the proxy must be a URL that starts with http://, https:// or socks5://',
  )
})
