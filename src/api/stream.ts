/** Answers that go on for as long as something happens. */
import { Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'

/** Given when the client hangs up. */
export function stopWith(reply: FastifyReply): AbortSignal {
  const stop = new AbortController()
  reply.raw.once('close', () => stop.abort())
  return stop.signal
}

/** Nobody waits longer than this for somebody else's server. */
const PATIENCE_MS = 30_000
export const patience = (signal: AbortSignal): AbortSignal =>
  AbortSignal.any([signal, AbortSignal.timeout(PATIENCE_MS)])

/** Proxies close what is silent for a minute. */
const HEARTBEAT_MS = 20_000

export function streamEvents(reply: FastifyReply, events: AsyncIterable<unknown>): FastifyReply {
  const stream = new Readable({ read() {} })
  const heartbeat = setInterval(() => stream.push(': still here\n\n'), HEARTBEAT_MS)
  const pump = async () => {
    for await (const event of events) stream.push(`data: ${JSON.stringify(event)}\n\n`)
    stream.push('event: end\ndata: {}\n\n')
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
