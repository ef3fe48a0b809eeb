/** Whether a delivery comes from whoever knows the secret. Comparing takes equally long whatever is sent. */
import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto'

const digest = (text: string): Buffer => createHash('sha256').update(text).digest()

export const isSameText = (one: string, other: string): boolean => timingSafeEqual(digest(one), digest(other))

/** A header such as `sha256=0a1b…`, made of the body; several while secrets are exchanged, with commas between. */
export function isSignedBySha256(header: string | undefined, body: Buffer, secret: string, name = 'sha256'): boolean {
  const expected = `${name}=${createHmac('sha256', secret).update(body).digest('hex')}`
  return (header ?? '').split(',').some((signature) => isSameText(signature.trim(), expected))
}

const STANDARD_PREFIX = 'whsec_'

/** As https://www.standardwebhooks.com has it: id, time and body, signed with a key that is told as `whsec_` and base64. */
export function isSignedAsStandard(
  headers: Readonly<Record<string, string | undefined>>,
  body: Buffer,
  secret: string,
): boolean {
  const { 'webhook-id': id = '', 'webhook-timestamp': time = '', 'webhook-signature': signatures = '' } = headers
  const key = Buffer.from(secret.replace(STANDARD_PREFIX, ''), 'base64')
  const expected = createHmac('sha256', key).update(`${id}.${time}.`).update(body).digest('base64')
  return signatures.split(' ').some((signature) => isSameText(signature, `v1,${expected}`))
}

export const newStandardSecret = (): string => `${STANDARD_PREFIX}${randomBytes(32).toString('base64')}`
