import { messageOf, RetryableError, UserError } from '../core.ts'
import { CredentialsRefused, TrafficError } from '../model/finding.ts'
import { missingRightOf } from './aws-client.ts'

/**
 * AWS reports "too fast" with status 400, and "your session is over" with 403; waiting helps in both cases. It also helps with
 * a zone that is still busy with another change.
 */
const PASSING =
  /^(?:Throttl\w*|RequestLimitExceeded|TooManyRequests\w*|RequestThrottled\w*|ServiceUnavailable\w*|ExpiredToken\w*|RequestExpired|PriorRequestNotComplete)$/
/** The caller is unknown or lacks a permission; some services report that with status 400. */
const REFUSED =
  /^(?:AccessDenied\w*|UnauthorizedOperation|AuthFailure|InvalidClientTokenId|InvalidAccessKeyId|UnrecognizedClient\w*|SignatureDoesNotMatch|InvalidSignature\w*|MissingAuthenticationToken\w*|OptInRequired)$/
const ABSENT = new Set([
  'TargetGroupNotFoundException',
  'LoadBalancerNotFoundException',
  'ListenerNotFoundException',
  'RuleNotFoundException',
  'NoSuchHostedZone',
  'NoSuchChange',
])

/** True if nothing but other credentials, or more permissions, would help. */
export function isRefusal(error: unknown): boolean {
  const { name = '', $metadata } = error as { name?: string; $metadata?: { httpStatusCode?: number } }
  const status = $metadata?.httpStatusCode
  return status === 401 || status === 403 || name === 'CredentialsProviderError' || REFUSED.test(name)
}

/** Limits for every call. A server that accepts and never answers would be waited for without end, and nothing would be watched meanwhile. */
export const patience = (callMs: number) => ({
  requestHandler: {
    connectionTimeout: 5_000,
    requestTimeout: callMs,
    socketTimeout: callMs,
    throwOnRequestTimeout: true,
  },
})

/** Treats a missing object as an answer, not as a failure. */
export async function orAbsent<T, O>(request: Promise<T>, otherwise: O): Promise<T | O> {
  try {
    return await request
  } catch (error) {
    if (ABSENT.has((error as Error).name)) return otherwise
    throw error
  }
}

/** Puts errors of AWS into words that say who has to do what. */
export async function translate<T>(what: string, request: () => Promise<T>): Promise<T> {
  try {
    return await request()
  } catch (error) {
    const { name } = error as Error
    const status = (error as { $metadata?: { httpStatusCode?: number } }).$metadata?.httpStatusCode
    const text = `${name}: ${messageOf(error)}`
    if (name === 'DuplicateTargetGroupNameException') {
      throw new TrafficError(
        'conflict',
        `Cannot ${what}: one with that name and other settings exists. Choose another targetGroup.name.`,
        { cause: error },
      )
    }
    if (name === 'CredentialsProviderError') {
      const text = `Cannot ${what}: no AWS credentials were found. Set AWS_PROFILE or AWS_ACCESS_KEY_ID.`
      throw new CredentialsRefused(text, { cause: error })
    }
    if (status === undefined || status === 429 || status >= 500 || PASSING.test(name))
      throw new RetryableError(`Cannot ${what}: ${text}`, { cause: error })
    if (isRefusal(error)) {
      const right = missingRightOf(error)
      const remedy =
        right === undefined
          ? 'Use other credentials: AWS_PROFILE, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY.'
          : `Grant the right ${right} to the AWS user or role of this process, or use other credentials (AWS_PROFILE).`
      throw new CredentialsRefused(`AWS refused to ${what}. ${text} ${remedy}`, { cause: error })
    }
    throw new UserError(`AWS refused to ${what}. ${text}`, { status: 502, cause: error })
  }
}
