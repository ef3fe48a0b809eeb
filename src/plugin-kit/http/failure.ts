import { FatalError, RetryableError, UserError } from '../../errors.ts'

export interface FailureDetails {
  /** What was asked for, as it may be shown. */
  readonly address?: string
  /** Undefined when no answer came. */
  readonly status?: number | undefined
  /** Asking for less at once may help: the answer was too slow, cut off or too large. */
  readonly heavy?: boolean
  readonly retryAfterMs?: number | undefined
  /** Whatever else is asked of this connection would fail alike: no answer comes, or the quota is spent. */
  readonly ofConnection?: boolean
  readonly cause?: unknown
}

/** Every attempt failed in a way that a later run may not see again. */
export class HttpRetryableError extends RetryableError {
  readonly address: string
  readonly status: number | undefined
  readonly heavy: boolean
  readonly ofConnection: boolean
  constructor(message: string, details: FailureDetails = {}) {
    const { address = '', status, heavy = false, retryAfterMs, ofConnection = false, cause } = details
    super(message, { ...(retryAfterMs !== undefined && { retryAfterMs }), cause })
    this.address = address
    this.status = status
    this.heavy = heavy
    this.ofConnection = ofConnection
  }
}

/** The server's last word on this request. */
export class HttpFatalError extends FatalError {
  readonly address: string
  readonly status: number | undefined
  readonly heavy: boolean
  constructor(message: string, { address = '', status, heavy = false, cause }: FailureDetails = {}) {
    super(message, cause === undefined ? undefined : { cause })
    this.address = address
    this.status = status
    this.heavy = heavy
  }
}

/** What came is not what was asked for: neither it nor the place where it came from can be trusted. */
export class HttpMisleadingError extends HttpFatalError {}

/** None of the credentials may ask for this; other things they may. */
export class HttpForbiddenError extends UserError {
  readonly address: string
  constructor(message: string, address: string) {
    super(message, { status: 403 })
    this.address = address
  }
}

export const isHeavy = (error: unknown): error is HttpRetryableError | HttpFatalError =>
  (error instanceof HttpRetryableError || error instanceof HttpFatalError) && error.heavy

/** A failure that is about what was asked for, and says nothing of other requests. */
export const isOfRequest = (error: unknown): error is HttpRetryableError | HttpFatalError | HttpForbiddenError =>
  error instanceof HttpFatalError ||
  error instanceof HttpForbiddenError ||
  (error instanceof HttpRetryableError && !error.ofConnection)
