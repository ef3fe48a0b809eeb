import { FatalError, RetryableError } from '../../errors.ts'

export interface FailureDetails {
  /** Undefined when no answer came. */
  readonly status?: number | undefined
  /** Asking for less at once may help: the answer was too slow, cut off or too large. */
  readonly heavy?: boolean
  readonly retryAfterMs?: number | undefined
  readonly cause?: unknown
}

/** Every attempt failed in a way that a later run may not see again. */
export class HttpRetryableError extends RetryableError {
  readonly status: number | undefined
  readonly heavy: boolean
  constructor(message: string, { status, heavy = false, retryAfterMs, cause }: FailureDetails = {}) {
    super(message, { ...(retryAfterMs !== undefined && { retryAfterMs }), cause })
    this.status = status
    this.heavy = heavy
  }
}

/** The server's last word on this request. */
export class HttpFatalError extends FatalError {
  readonly status: number | undefined
  readonly heavy: boolean
  constructor(message: string, { status, heavy = false, cause }: FailureDetails = {}) {
    super(message, cause === undefined ? undefined : { cause })
    this.status = status
    this.heavy = heavy
  }
}

export const isHeavy = (error: unknown): error is HttpRetryableError | HttpFatalError =>
  (error instanceof HttpRetryableError || error instanceof HttpFatalError) && error.heavy
