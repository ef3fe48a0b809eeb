/** Error classes, named after what should happen next. */

/** An error that the user can fix. The message says what is wrong and what to change; it is shown without a stack. */
export class UserError extends Error {
  override readonly name: string = 'UserError'
  /** The HTTP status if the error reaches the API. */
  readonly status: number
  /** Programs get this besides the message. */
  readonly data: unknown
  constructor(message: string, options: { status?: number; data?: unknown; cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.status = options.status ?? 400
    this.data = options.data ?? null
  }
}

/** Not an error of the sender: something that Weir needs is unreachable or busy, and the same request may work a little later. */
export class UnavailableError extends Error {
  override readonly name: string = 'UnavailableError'
  readonly status = 503
  readonly retryAfterSeconds: number
  /** The message for users who should not learn the names of machines. */
  readonly publicMessage: string
  constructor(message: string, options: { publicMessage?: string; retryAfterSeconds?: number; cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.publicMessage = options.publicMessage ?? message
    this.retryAfterSeconds = options.retryAfterSeconds ?? 5
  }
}

/** An error after which the same request may succeed later. */
export class RetryableError extends Error {
  override readonly name: string = 'RetryableError'
  /** How many milliseconds to wait before the next attempt, if the other side said so. */
  readonly retryAfterMs: number | undefined
  constructor(message: string, options: { retryAfterMs?: number; cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.retryAfterMs = options.retryAfterMs
  }
}

/** An error that only Weir's developers, or nobody, can fix. It ends the task. */
export class FatalError extends Error {
  override readonly name: string = 'FatalError'
}

/** An error about a single record that cannot be stored. The record is quarantined and the run continues. */
export class RecordError extends Error {
  override readonly name: string = 'RecordError'
}

export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))
/** The same for users who should not learn where the database is. */
export const publicMessageOf = (error: unknown): string =>
  error instanceof UnavailableError ? error.publicMessage : messageOf(error)
