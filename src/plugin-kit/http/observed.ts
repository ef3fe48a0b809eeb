import { inSpan } from '../../telemetry/events/tracing.ts'
import { tellWork, workPlace } from '../../telemetry/events/work-events.ts'
import type { Outcome } from './attempt.ts'

interface Sent {
  readonly connection: string
  readonly method: string
  readonly url: URL
}

/** Counts one request to a source and measures its time. The address is recorded without its query, which may contain secrets. */
export function observed({ connection, method, url }: Sent, attempt: () => Promise<Outcome>): Promise<Outcome> {
  const attributes = {
    'http.request.method': method,
    'server.address': url.hostname,
    'url.path': url.pathname,
    'weir.connection': connection,
  }
  const began = performance.now()
  return inSpan(
    `${method} ${url.hostname}`,
    attributes,
    async (span) => {
      let outcome: Outcome | undefined
      try {
        outcome = await attempt()
        return outcome
      } finally {
        const { status = 0, bytes } = outcome?.response ?? {}
        const seconds = (performance.now() - began) / 1000
        span.set({ 'http.response.status_code': status || undefined })
        const place = workPlace()
        tellWork({ kind: 'source request', connection, status, seconds, bytes: bytes?.length ?? 0, place })
      }
    },
    'client',
  )
}
