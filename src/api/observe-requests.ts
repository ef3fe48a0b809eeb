/** Gives every request an id, counts it, and records a span if tracing is on. */
import { randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { FastifyRequest } from 'fastify'
import type { OpenSpan } from '../telemetry/events/span.ts'
import { currentTracer } from '../telemetry/events/tracing.ts'
import type { Measures } from '../telemetry/prometheus/measures.ts'
import type { Api } from './api.ts'

const REQUEST_ID = 'x-request-id'
/** Ids that a proxy has chosen are kept if they are harmless in a header and a log. */
const HARMLESS = /^[\w.:-]{1,100}$/

export function requestId({ headers }: Pick<IncomingMessage, 'headers'>): string {
  const known = headers[REQUEST_ID]
  return typeof known === 'string' && HARMLESS.test(known) ? known : randomUUID()
}

/** Unknown addresses count as one route: an address that the sender chose must not become a label. */
const routeOf = ({ is404, routeOptions }: FastifyRequest) => (is404 ? 'unknown' : (routeOptions.url ?? 'unknown'))

export function observeRequests(api: Api, measures: Measures): void {
  const spans = new WeakMap<FastifyRequest, OpenSpan>()
  api.addHook('onRequest', (request, reply, done) => {
    void reply.header(REQUEST_ID, request.id)
    const tracer = currentTracer()
    if (!tracer) return done()
    const { method, headers } = request
    const attributes = { 'http.request.method': method, 'http.route': routeOf(request), 'weir.request': request.id }
    const parent = typeof headers.traceparent === 'string' ? headers.traceparent : ''
    const span = tracer.begin(`${method} ${routeOf(request)}`, 'server', attributes, parent)
    spans.set(request, span)
    span.within(done)
  })
  api.addHook('onResponse', async (request, reply) => {
    const { method } = request
    const { statusCode: status, elapsedTime } = reply
    measures.countRequest({ method, route: routeOf(request), status, seconds: elapsedTime / 1000 })
    const span = spans.get(request)
    span?.set({ 'http.response.status_code': status })
    span?.end(status >= 500 ? new Error(`status ${status}`) : undefined)
    request.log.debug({ method, route: routeOf(request), status, ms: Math.round(elapsedTime) }, 'answered')
  })
}
