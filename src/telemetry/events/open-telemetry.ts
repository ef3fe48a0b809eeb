/** The library behind `tracing.ts`. It reads its settings, OTEL_…, from the environment itself. */
import { type Context, context, SpanKind as Kind, ROOT_CONTEXT, SpanStatusCode, trace } from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { defaultResource, resourceFromAttributes } from '@opentelemetry/resources'
import { BatchSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace'
import { messageOf } from '../../errors.ts'
import { redact } from '../../log.ts'
import type { Attributes, SpanKind, Tracer } from './span.ts'

const KINDS: Readonly<Record<SpanKind, Kind>> = { internal: Kind.INTERNAL, server: Kind.SERVER, client: Kind.CLIENT }
const PARENT = /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/

export function createTracer(): Tracer {
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable())
  const name = process.env.OTEL_SERVICE_NAME?.trim() || 'weir'
  const provider = new TracerProvider({
    resource: defaultResource().merge(resourceFromAttributes({ 'service.name': name })),
    spanProcessors: [new BatchSpanProcessor({ exporter: new OTLPTraceExporter() })],
  })
  const spans = provider.getTracer('weir')
  return {
    begin(title, kind, attributes, parent) {
      const outer = parent === undefined ? context.active() : remote(parent)
      const span = spans.startSpan(title, { kind: KINDS[kind], attributes: known(attributes) }, outer)
      const inside = trace.setSpan(outer, span)
      return {
        set: (more) => void span.setAttributes(known(more)),
        within: (body) => context.with(inside, body),
        end(error) {
          if (error !== undefined) span.setStatus({ code: SpanStatusCode.ERROR, message: redact(messageOf(error)) })
          span.end()
        },
      }
    },
    // The receiver of the spans may be away, which must not trouble the work that they are about.
    flush: () => provider.forceFlush().catch(() => {}),
    stop: () => provider.shutdown().catch(() => {}),
  }
}

/** The context that the header names, or an empty one if the header cannot be relied on. */
function remote(header: string): Context {
  const [, traceId, spanId, flags] = PARENT.exec(header) ?? []
  if (!traceId || !spanId || !flags || /^0+$/.test(traceId) || /^0+$/.test(spanId)) return ROOT_CONTEXT
  const traceFlags = Number.parseInt(flags, 16)
  return trace.setSpanContext(ROOT_CONTEXT, { traceId, spanId, traceFlags, isRemote: true })
}

function known(attributes: Attributes): Record<string, string | number | boolean> {
  const entries = Object.entries(attributes).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, typeof value === 'string' ? redact(value) : value] as const],
  )
  return Object.fromEntries(entries)
}
