/** A piece of work, with its name, its time and facts about it. */
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
  /** `parent` is the header `traceparent` of the caller. */
  begin(name: string, kind: SpanKind, attributes: Attributes, parent?: string): OpenSpan
  /** Sends the spans that have ended. */
  flush(): Promise<void>
  stop(): Promise<void>
}
