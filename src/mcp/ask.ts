/** A request of a tool to a route. */
export interface Question {
  readonly method: 'GET' | 'POST'
  readonly path: string
  /** Undefined values are left out, lists repeat their name. */
  readonly query?: Readonly<Record<string, unknown>>
  readonly body?: unknown
}
// biome-ignore lint/suspicious/noExplicitAny: the contract of each route describes its answer
export type Answer = any
export interface Reply {
  readonly status: number
  readonly body: Answer
}
export type Ask = (question: Question) => Promise<Reply>
