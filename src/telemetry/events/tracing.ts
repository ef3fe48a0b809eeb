/** Spans of Weir's work, for OpenTelemetry. Nothing is loaded, and nothing measured, unless it is asked for. */

import type { Attributes, Span, SpanKind, Tracer } from './span.ts'

interface TracingSettings {
  readonly otlpEndpoint?: string | undefined
}

const NO_SPAN: Span = { set() {} }
let tracer: Tracer | undefined
let starting: Promise<Tracer> | undefined

/** Called once in each thread; without an endpoint nothing happens. */
export async function startTracing({ otlpEndpoint }: TracingSettings): Promise<void> {
  if (otlpEndpoint === undefined) return
  starting ??= import('./open-telemetry.ts').then(({ createTracer }) => createTracer())
  tracer = await starting
}

export const currentTracer = (): Tracer | undefined => tracer

export async function stopTracing(): Promise<void> {
  const last = tracer
  tracer = undefined
  starting = undefined
  await last?.stop()
}

export const flushTraces = async (): Promise<void> => tracer?.flush()

export async function inSpan<Result>(
  name: string,
  attributes: Attributes,
  body: (span: Span) => Promise<Result>,
  kind: SpanKind = 'internal',
): Promise<Result> {
  if (!tracer) return body(NO_SPAN)
  const span = tracer.begin(name, kind, attributes)
  try {
    const result = await span.within(() => body(span))
    span.end()
    return result
  } catch (error) {
    span.end(error)
    throw error
  }
}
