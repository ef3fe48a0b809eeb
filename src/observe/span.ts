/** A piece of work, with its name, its time and what is to be known of it. */
export type Attributes = Readonly<Record<string, string | number | boolean | undefined>>
export interface Span {
  set(attributes: Attributes): void
}
export type SpanKind = 'internal' | 'server' | 'client'

export interface OpenSpan extends Span {
  /** Runs `body`: spans that begin in it are parts of this one. */
  within<Result>(body: () => Result): Result
  end(error?: unknown): void
}

export interface Tracer {
  /** `parent`: the header `traceparent` of whoever asks. */
  begin(name: string, kind: SpanKind, attributes: Attributes, parent?: string): OpenSpan
  /** Sends what has ended. */
  flush(): Promise<void>
  stop(): Promise<void>
}
