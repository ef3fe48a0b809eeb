/** A TCP proxy that can be cut or held up. A client that connects through it sees the server as away or silent. */
import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { Transform } from 'node:stream'

export interface Gateway {
  /** The address of the server, through this gateway. */
  readonly url: string
  /** Ends all connections, and ends new ones at once, like a server that is just starting. */
  breakOff(): Promise<void>
  /** Stops listening. */
  stop(): Promise<void>
  start(): Promise<void>
  /** Delays everything that passes by this time in each direction. 0 ends the delay. */
  delay(milliseconds: number): void
  /** Accepts new connections without answering. `waiting` tells how many connections wait. */
  hold(): { waiting(): number; release(): void }
  close(): Promise<void>
}

export async function openGateway(url: string): Promise<Gateway> {
  const behind = new URL(url)
  const sockets = new Set<Socket>()
  let isBroken = false
  let held: (() => void)[] | undefined
  let delayMs = 0
  /** Delays chunks, but keeps their order. */
  const late = () =>
    new Transform({
      transform(chunk, _encoding, done) {
        if (delayMs === 0) done(null, chunk)
        else setTimeout(done, delayMs, null, chunk)
      },
    })
  const server = createServer((client) => {
    if (isBroken) return client.destroy()
    client.on('error', () => {})
    if (held) held.push(() => join(client))
    else join(client)
  })
  function join(client: Socket) {
    const target = connect(Number(behind.port), behind.hostname)
    for (const [one, other] of [
      [client, target],
      [target, client],
    ] as const) {
      sockets.add(one)
      one.on('error', () => {})
      one.once('close', () => {
        sockets.delete(one)
        other.destroy()
      })
      one.pipe(late()).pipe(other)
    }
  }
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  const cut = () => {
    for (const socket of sockets) socket.destroy()
  }
  const stop = async () => {
    const stopped = server.listening && once(server, 'close')
    if (stopped) server.close()
    cut()
    await stopped
  }
  const own = new URL(url)
  own.host = `127.0.0.1:${port}`
  return {
    url: own.href,
    async breakOff() {
      isBroken = true
      cut()
    },
    stop,
    delay(milliseconds) {
      delayMs = milliseconds
    },
    async start() {
      isBroken = false
      if (server.listening) return
      server.listen(port, '127.0.0.1')
      await once(server, 'listening')
    },
    hold() {
      const mine: (() => void)[] = []
      held = mine
      return {
        waiting: () => mine.length,
        release() {
          held = undefined
          for (const go of mine) go()
        },
      }
    },
    close: stop,
  }
}
