import { once } from 'node:events'
import { createServer } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { limitWaiting } from './sockets.ts'

const MOST = 5
/** More than operating systems buffer for a client that does not read. */
const LARGE = Buffer.alloc(30_000_000)

async function start(): Promise<number> {
  const server = createServer((request, response) => response.end(request.url === '/large' ? LARGE : 'small'))
  server.maxConnections = MOST
  limitWaiting(server, { unused: MOST, all: MOST })
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return (server.address() as AddressInfo).port
}

async function open(port: number, path: string): Promise<Socket> {
  const socket = connect(port, '127.0.0.1').on('error', () => {})
  onTestFinished(() => void socket.destroy())
  await once(socket, 'connect')
  socket.write(`GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n`)
  return socket
}

const answerAt = (port: number) =>
  fetch(`http://127.0.0.1:${port}/small`, { headers: { connection: 'close' } }).then(
    (answer) => answer.text(),
    () => 'none',
  )

test.each(['/large', '/small'])('connections that asked for %s and hold their places make room', async (path) => {
  const port = await start()
  for (let count = 0; count < MOST; count++) await open(port, path)
  await expect.poll(() => answerAt(port), { timeout: 5000 }).toBe('small')
})

test('what is read keeps its place while others come', async () => {
  const port = await start()
  const socket = await open(port, '/large')
  let size = 0
  socket.on('data', (piece) => (size += piece.length))
  for (let count = 0; count < 2 * MOST; count++) expect(await answerAt(port)).toBe('small')
  await expect.poll(() => size, { timeout: 5000 }).toBeGreaterThan(LARGE.length)
})
