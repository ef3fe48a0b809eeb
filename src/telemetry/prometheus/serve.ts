/** A separate port for Prometheus: for servers where people have to sign in, and for processes that have no other port. */
import { createServer } from 'node:http'
import { messageOf, UserError } from '../../errors.ts'
import type { Logger } from '../../log.ts'
import type { Measures } from './measures.ts'

interface MeasuresServer {
  stop(): Promise<void>
}

export function serveMeasures(measures: Measures, host: string, port: number, log: Logger): Promise<MeasuresServer> {
  const server = createServer((request, response) => {
    const path = request.url?.split('?')[0]
    // A worker has no other port that could show that it is alive.
    if (path === '/ping') return response.writeHead(200).end()
    if (request.method !== 'GET' || path !== '/metrics') return response.writeHead(404).end()
    measures.read().then(
      (text) => response.writeHead(200, { 'content-type': measures.contentType }).end(text),
      (error) => {
        log.error({ err: error }, 'metrics could not be read')
        response.writeHead(500).end()
      },
    )
  })
  return new Promise((done, fail) => {
    server.once('error', (error) =>
      fail(
        new UserError(`METRICS_PORT=${port} cannot be used: ${messageOf(error)}. Set another number.`, {
          cause: error,
        }),
      ),
    )
    server.listen({ host, port }, () =>
      done({
        stop: () =>
          new Promise((stopped) => {
            server.close(() => stopped())
            server.closeAllConnections()
          }),
      }),
    )
  })
}
