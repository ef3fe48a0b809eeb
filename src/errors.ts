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

/** One record that cannot be stored; it goes to quarantine and the run goes on. */
export class RecordError extends Error {
  override readonly name: string = 'RecordError'
}

export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))
