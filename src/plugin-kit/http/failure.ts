import { FatalError, RetryableError, UserError } from '../../errors.ts'

interface FailureDetails {
  /** The requested address without secrets. */
  readonly address?: string
  /** Undefined if no answer came. */
  readonly status?: number | undefined
  /** Asking for less at once may help: the answer was too slow, cut off or too large. */
  readonly heavy?: boolean
  readonly retryAfterMs?: number | undefined
  /** Every other request of this connection would fail too: no answer comes, or the quota is spent. */
  readonly ofConnection?: boolean
  readonly cause?: unknown
}

/** Every attempt failed, but a later run may succeed. */
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

/** The server refused this request for good. */
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

/** The answer does not belong to the request: neither the answer nor the checkpoint that led to it can be trusted. */
export class HttpMisleadingError extends HttpFatalError {}

/** None of the credentials may ask for this, though they may ask for other things. */
export class HttpForbiddenError extends UserError {
  readonly address: string
  constructor(message: string, address: string) {
    super(message, { status: 403 })
    this.address = address
  }
}

export const isHeavy = (error: unknown): error is HttpRetryableError | HttpFatalError =>
  (error instanceof HttpRetryableError || error instanceof HttpFatalError) && error.heavy

/** True for a failure that concerns only this request, and says nothing about others. */
export const isOfRequest = (error: unknown): error is HttpRetryableError | HttpFatalError | HttpForbiddenError =>
  error instanceof HttpFatalError ||
  error instanceof HttpForbiddenError ||
  (error instanceof HttpRetryableError && !error.ofConnection)
