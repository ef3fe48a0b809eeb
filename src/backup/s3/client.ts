/** Sends signed requests to an S3-compatible store, with addresses of the form ENDPOINT/BUCKET/KEY, which every such store accepts. */
import { createHash } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { UserError } from '../../errors.ts'
import { createTransport, type Exchange, ExchangeFailed } from '../../plugin-kit/http/index.ts'
import { explainAnswer, explainSilence } from './failure.ts'

export interface S3Settings {
  readonly backupS3Endpoint?: string | undefined
  readonly backupS3Region: string
  readonly awsAccessKeyId?: string | undefined
  readonly awsSecretAccessKey?: string | undefined
  readonly awsSessionToken?: string | undefined
}

export interface S3Request {
  readonly method: 'GET' | 'HEAD' | 'PUT' | 'POST' | 'DELETE'
  /** Empty for the bucket itself. */
  readonly key?: string
  readonly query?: Readonly<Record<string, string>>
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: Uint8Array
  /** Statuses that the caller understands, besides those of success. */
  readonly expected?: readonly number[]
}

export interface S3Bucket {
  readonly name: string
  readonly endpoint: string
  ask(request: S3Request): Promise<Exchange>
  close(): Promise<void>
}

const TIMEOUTS = { connectMs: 20_000, stallMs: 120_000, totalMs: 900_000 }
const MOST_BYTES = 64 * 1024 ** 2
const ATTEMPTS = 6
const PAUSE_MS = 200
const PASSING = new Set([429, 500, 502, 503, 504])

export function openBucket(name: string, settings: S3Settings): S3Bucket {
  const { backupS3Region: region, awsAccessKeyId, awsSecretAccessKey, awsSessionToken } = settings
  if (!awsAccessKeyId || !awsSecretAccessKey) {
    throw new UserError('Backups to s3:// need keys: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY.')
  }
  const keys = {
    accessKeyId: awsAccessKeyId,
    secretAccessKey: awsSecretAccessKey,
    ...(awsSessionToken && { sessionToken: awsSessionToken }),
  }
  const given = settings.backupS3Endpoint ?? `https://s3.${region}.amazonaws.com`
  const endpoint = given.endsWith('/') ? given.slice(0, -1) : given
  const transport = createTransport({ timeouts: TIMEOUTS, maxResponseBytes: MOST_BYTES })
  const signal = new AbortController().signal

  async function attempt({ method, key = '', query = {}, headers = {}, body }: S3Request): Promise<Exchange> {
    const path = [name, ...key.split('/')].filter((part) => part !== '').map(encoded)
    const search = Object.entries(query).map(([field, value]) => `${encoded(field)}=${encoded(value)}`)
    const url = new URL(`${endpoint}/${path.join('/')}${search.length > 0 ? `?${search.join('&')}` : ''}`)
    const checksum = createHash('sha256')
      .update(body ?? '')
      .digest('hex')
    // Loaded here, so that only backups to a bucket wait for it.
    const { AwsV4Signer } = await import('aws4fetch')
    const signed = await new AwsV4Signer({
      method,
      url: url.href,
      service: 's3',
      region,
      ...keys,
      headers: { ...headers, 'x-amz-content-sha256': checksum },
    }).sign()
    const plain = { 'accept-encoding': 'identity', ...Object.fromEntries(signed.headers) }
    return transport.exchange(method, url, plain, body, signal)
  }

  return {
    name,
    endpoint,
    async ask(request) {
      for (let count = 1; ; count++) {
        try {
          const answer = await attempt(request)
          if (answer.status < 300 || request.expected?.includes(answer.status)) return answer
          if (count === ATTEMPTS || !PASSING.has(answer.status)) throw explainAnswer(answer, { name, endpoint })
        } catch (error) {
          if (!(error instanceof ExchangeFailed)) throw error
          if (count === ATTEMPTS) throw explainSilence(error, endpoint)
        }
        await sleep(PAUSE_MS * 2 ** count)
      }
    },
    close: () => transport.close(),
  }
}

/** Encodes text as the signature does: `encodeURIComponent` leaves five more characters as they are. */
const encoded = (text: string): string =>
  encodeURIComponent(text).replace(/[!'()*]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`)
