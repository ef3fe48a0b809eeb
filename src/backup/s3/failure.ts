/** Explains the refusals of an S3-compatible store, and what to do about them. */
import { byName } from '../../basics/by-name.ts'
import { messageOf, UnavailableError, UserError } from '../../errors.ts'
import type { Exchange, ExchangeFailed } from '../../plugin-kit/http/index.ts'
import { valueIn } from './xml.ts'

interface Place {
  readonly name: string
  readonly endpoint: string
}

const KEYS = ({ name, endpoint }: Place) =>
  `${endpoint} refuses the keys: check AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, and that they may list, read, write and delete in the bucket ${name}.`
const FULL = ({ name, endpoint }: Place) =>
  `The bucket ${name} at ${endpoint} is full: make room, or keep fewer backups (--keep). The backups that it has are as before.`

const SENTENCES: Readonly<Record<string, (place: Place, region: string) => string>> = byName({
  NoSuchBucket: ({ name, endpoint }) =>
    `There is no bucket ${name} at ${endpoint}: create it, or name another. BACKUP_S3_ENDPOINT must be the address of the store, without the bucket.`,
  AccessDenied: KEYS,
  InvalidAccessKeyId: KEYS,
  SignatureDoesNotMatch: KEYS,
  ExpiredToken: ({ endpoint }) => `${endpoint} says that AWS_SESSION_TOKEN is no longer valid: set a new one.`,
  InvalidToken: ({ endpoint }) => `${endpoint} does not accept AWS_SESSION_TOKEN: correct it, or leave it out.`,
  AuthorizationHeaderMalformed: ({ name }, region) =>
    `The bucket ${name} is in another region: set BACKUP_S3_REGION${region && ` to ${region}`}.`,
  PermanentRedirect: ({ name }, region) =>
    `The bucket ${name} is in another region: set BACKUP_S3_REGION${region && ` to ${region}`}.`,
  RequestTimeTooSkewed: ({ endpoint }) => `The clock of this machine differs from that of ${endpoint}: set it.`,
  QuotaExceeded: FULL,
  XMinioStorageFull: FULL,
  XMinioAdminBucketQuotaExceeded: FULL,
})

export function explainAnswer({ status, headers, bytes }: Exchange, place: Place): Error {
  const text = Buffer.from(bytes).toString()
  const code = valueIn(text, 'Code') ?? (status === 403 ? 'AccessDenied' : status === 507 ? 'QuotaExceeded' : '')
  const sentence = SENTENCES[code]
  const region = valueIn(text, 'Region') ?? headers['x-amz-bucket-region'] ?? ''
  const why = valueIn(text, 'Message') ?? code
  return new UserError(
    sentence?.(place, region) ??
      `The bucket ${place.name} at ${place.endpoint} answered ${status}${why && ` (${why.slice(0, 200)})`}: try again, or see its own log.`,
  )
}

export const explainSilence = (error: ExchangeFailed, endpoint: string): Error =>
  new UnavailableError(
    `${endpoint} does not answer (${messageOf(error)}): check BACKUP_S3_ENDPOINT and the network, then run the command again.`,
    { cause: error },
  )
