/** DevLake's answer envelope, and how errors become answers. */
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import { byName } from '../basics/by-name.ts'
import type { Database } from '../database/database.ts'
import {
  FatalError,
  messageOf,
  publicMessageOf,
  RecordError,
  RetryableError,
  UnavailableError,
  UserError,
} from '../errors.ts'
import { redact } from '../log.ts'

interface Envelope {
  readonly code: 0
  readonly success: boolean
  readonly message: string
  readonly causes: readonly string[] | null
  readonly data: unknown
}

/** A message may repeat what was sent, which may be megabytes. */
const LONGEST_MESSAGE = 4000

export const envelope = (success: boolean, message: string, data: unknown = null): Envelope => ({
  code: 0,
  success,
  message: message.length > LONGEST_MESSAGE ? `${message.slice(0, LONGEST_MESSAGE)}…` : message,
  causes: null,
  data,
})
/** The answer of an endpoint that has nothing to return. */
export const done = (): Envelope => envelope(true, 'success')

interface Failure {
  readonly status: number
  readonly body: Envelope
  readonly retryAfterSeconds?: number
}

/** Errors that the framework throws before a route runs: by code, what they mean for the sender. */
const FRAMEWORK: Readonly<Record<string, string>> = byName({
  FST_ERR_CTP_BODY_TOO_LARGE: 'The body is too large: send less at once.',
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: 'The body is not as long as Content-Length says.',
  FST_ERR_BAD_URL: 'The address is not encoded correctly: write a percent sign as %25.',
})

export function failureOf(error: unknown, database: Database): Failure {
  const known = error instanceof UserError || error instanceof UnavailableError ? error : database.explain(error)
  if (known) {
    const { data = null } = known as { data?: unknown }
    const body = { ...envelope(false, redact(publicMessageOf(known)), data), causes: causesOf(known) }
    const wait = known instanceof UnavailableError && { retryAfterSeconds: known.retryAfterSeconds }
    return { status: known.status, body, ...wait }
  }
  const { statusCode = 500, code = '' } = error as FastifyError
  if (statusCode < 500) return { status: statusCode, body: envelope(false, FRAMEWORK[code] ?? messageOf(error)) }
  // Here the bad record is what the request sent or asked for.
  if (error instanceof RecordError) return { status: 400, body: envelope(false, redact(`${error.message}.`)) }
  if ((error as Error).name === 'TimeoutError') {
    return { status: 504, body: envelope(false, 'The other side did not answer in time: try again later.') }
  }
  // The other server failed, not ours: a client may try again, or must look there.
  if (error instanceof RetryableError) return { status: 503, body: envelope(false, redact(error.message)) }
  if (error instanceof FatalError) return { status: 502, body: envelope(false, redact(error.message)) }
  return { status: 500, body: envelope(false, 'Something unexpected happened; the server log tells more.') }
}

function causesOf(error: Error): readonly string[] | null {
  const causes: string[] = []
  for (let cause = error.cause; cause instanceof UserError; cause = cause.cause) causes.push(redact(cause.message))
  return causes.length > 0 ? causes : null
}

/** The only way in which a failure becomes an answer, wherever it is caught. */
export function sendFailure(error: unknown, database: Database, request: FastifyRequest, reply: FastifyReply) {
  const { status, body, retryAfterSeconds } = failureOf(error, database)
  if (status === 500) request.log.error({ err: error, url: request.routeOptions.url }, messageOf(error))
  if (retryAfterSeconds !== undefined) {
    request.log.warn({ url: request.routeOptions.url }, messageOf(database.explain(error) ?? error))
    void reply.header('retry-after', retryAfterSeconds)
  }
  return reply.code(status).type('application/json; charset=utf-8').send(body)
}

export const errorHandler =
  (database: Database) =>
  (error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply =>
    sendFailure(error, database, request, reply)
