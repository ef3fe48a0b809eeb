/** Streams answers that continue for as long as something happens. */
import { Readable } from 'node:stream'
import { setImmediate as othersFirst } from 'node:timers/promises'
import type { FastifyReply } from 'fastify'
import { UserError } from '../errors.ts'

/** Aborts when the client hangs up. */
export function stopWith(reply: FastifyReply): AbortSignal {
  const stop = new AbortController()
  reply.raw.once('close', () => stop.abort())
  return stop.signal
}

/** The server works this long at one answer before others get their turn. */
const TURN_MS = 20

/** Streams the pieces, however many there are and however fast they come, and lets other requests run in between. */
export const inTurns = (pieces: AsyncIterable<string | Uint8Array>): Readable => Readable.from(takingTurns(pieces))

async function* takingTurns<Piece>(pieces: AsyncIterable<Piece>): AsyncGenerator<Piece> {
  let began = performance.now()
  for await (const piece of pieces) {
    yield piece
    if (performance.now() - began < TURN_MS) continue
    await othersFirst()
    began = performance.now()
  }
}

/** Nobody waits longer than this for another server. */
const PATIENCE_MS = 30_000
export const patience = (signal: AbortSignal): AbortSignal =>
  AbortSignal.any([signal, AbortSignal.timeout(PATIENCE_MS)])

/** Proxies close a connection that is silent for a minute. */
const HEARTBEAT_MS = 20_000
/** A client that is this far behind does not read. */
const MOST_UNREAD = 1_000_000

/** Counts answers that continue, and refuses one too many. The signal aborts when the client is gone. */
export type AdmitStream = (reply: FastifyReply) => AbortSignal

export function streamLimit(most: number): AdmitStream {
  let open = 0
  return (reply) => {
    if (open >= most) {
      void reply.header('retry-after', '10')
      const message = `${most} streams of events or logs are open, which is the limit: close one, or try again later.`
      throw new UserError(message, { status: 503 })
    }
    open++
    reply.raw.once('close', () => open--)
    return stopWith(reply)
  }
}

export function streamEvents(reply: FastifyReply, events: AsyncIterable<unknown>): FastifyReply {
  const stream = new Readable({ read() {} })
  const push = (text: string) => {
    stream.push(text)
    if (stream.readableLength > MOST_UNREAD) reply.raw.destroy()
  }
  const heartbeat = setInterval(() => push(': still here\n\n'), HEARTBEAT_MS)
  const pump = async () => {
    for await (const event of events) push(`data: ${JSON.stringify(event)}\n\n`)
    push('event: end\ndata: {}\n\n')
  }
  pump()
    .catch((error) => {
      if (error?.name !== 'AbortError') reply.log.error({ err: error }, 'an event stream ended early')
    })
    .finally(() => {
      clearInterval(heartbeat)
      stream.push(null)
    })
  return reply
    .type('text/event-stream; charset=utf-8')
    .header('cache-control', 'no-cache, no-transform')
    .header('x-accel-buffering', 'no')
    .send(stream)
}
