/** Errors are named after what happens next. */

/** The user's to fix: the message says what is wrong and what to change. Shown without a stack. */
export class UserError extends Error {
  override readonly name: string = 'UserError'
  /** HTTP status when it reaches the API. */
  readonly status: number
  constructor(message: string, options: { status?: number; cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.status = options.status ?? 400
  }
}

/** Nobody's to fix who asks: something that we need is away or busy, and the same may work a little later. */
export class UnavailableError extends Error {
  override readonly name: string = 'UnavailableError'
  readonly status = 503
  readonly retryAfterSeconds: number
  /** For those whom the names of our machines do not concern. */
  readonly publicMessage: string
  constructor(message: string, options: { publicMessage?: string; retryAfterSeconds?: number; cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.publicMessage = options.publicMessage ?? message
    this.retryAfterSeconds = options.retryAfterSeconds ?? 5
  }
}

/** Worth another try, as it is, after a pause. */
export class RetryableError extends Error {
  override readonly name: string = 'RetryableError'
  /** Do not try before this many milliseconds have passed, when the other side said so. */
  readonly retryAfterMs: number | undefined
  constructor(message: string, options: { retryAfterMs?: number; cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.retryAfterMs = options.retryAfterMs
  }
}

/** Ours to fix, or nobody's: stop this task. */
export class FatalError extends Error {
  override readonly name: string = 'FatalError'
}

/** One record that cannot be stored; it goes to quarantine and the run continues. */
export class RecordError extends Error {
  override readonly name: string = 'RecordError'
}

export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))
/** The same for people who may not know where our database stands. */
export const publicMessageOf = (error: unknown): string =>
  error instanceof UnavailableError ? error.publicMessage : messageOf(error)
