/** Encrypts stored secrets (AES-256-GCM) and masks secrets in answers. */
import {
  createCipheriv,
  createDecipheriv,
  createHash,
  createHmac,
  createSecretKey,
  hkdfSync,
  randomBytes,
} from 'node:crypto'
import { constants, deflateRawSync, inflateRawSync } from 'node:zlib'
import { UserError } from '../errors.ts'
import { addressSecrets, hideAddressSecrets, isSecretName } from './address-secrets.ts'

export interface Secrets {
  /** Uses a new nonce each time, so that equal values have different ciphertexts. */
  encrypt(plain: string): string
  /** Text that was never encrypted is returned unchanged. */
  decrypt(stored: string): string
  /** A keyed digest, for API keys, which are only compared. It stays the same when the encryption key is replaced. */
  digest(value: string): string
  /** The key of `digest`, which is passed on when the encryption key is replaced. */
  readonly digestKey: string
  /** Derives another key for one purpose. It changes when the encryption key is replaced. */
  derive(purpose: string): string
  /** Distinguishes keys without revealing anything about them. */
  readonly fingerprint: string
  /** The key itself, for other threads and processes of this installation that need the same secrets. */
  readonly key: string
}

const PLAIN = 'weir1:'
/** The prefix of text that was compressed before it was encrypted. */
const COMPRESSED = 'weir2:'
export const CIPHERTEXTS: readonly string[] = [PLAIN, COMPRESSED]
/** Shorter texts are not compressed. Options with the scopes of a large project are repetitive, but short secrets would only grow. */
const WORTH_COMPRESSING = 10_000
const NONCE_BYTES = 12
const TAG_BYTES = 16

/** `digestKey` is the digest key of the first encryption key, if this is a later one. */
export function createSecrets(key: string, digestKey?: string): Secrets {
  // ENCRYPTION_SECRET is a passphrase of any length, so a key is derived from it for each purpose.
  const derive = (purpose: string) => Buffer.from(hkdfSync('sha256', key, 'weir', purpose, 32)).toString('hex')
  // Key objects are used, because a cipher from plain bytes takes five times as long.
  const cipherKey = createSecretKey(derive('encryption'), 'hex')
  const digestText = digestKey ?? derive('digest')
  const digestKeyObject = createSecretKey(digestText, 'hex')
  return {
    key,
    derive,
    digestKey: digestText,
    fingerprint: derive('fingerprint'),
    encrypt(plain) {
      const isLong = plain.length > WORTH_COMPRESSING
      const prefix = isLong ? COMPRESSED : PLAIN
      const nonce = randomBytes(NONCE_BYTES)
      const cipher = createCipheriv('aes-256-gcm', cipherKey, nonce)
      const bytes = isLong ? deflateRawSync(plain, { level: constants.Z_BEST_SPEED }) : Buffer.from(plain)
      const sealed = Buffer.concat([cipher.update(bytes), cipher.final()])
      return prefix + Buffer.concat([nonce, cipher.getAuthTag(), sealed]).toString('base64')
    },
    decrypt(stored) {
      const prefix = CIPHERTEXTS.find((each) => stored.startsWith(each))
      if (prefix === undefined) return stored
      const bytes = Buffer.from(stored.slice(prefix.length), 'base64')
      try {
        const decipher = createDecipheriv('aes-256-gcm', cipherKey, bytes.subarray(0, NONCE_BYTES))
        decipher.setAuthTag(bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES))
        const opened = Buffer.concat([decipher.update(bytes.subarray(NONCE_BYTES + TAG_BYTES)), decipher.final()])
        return String(prefix === COMPRESSED ? inflateRawSync(opened) : opened)
      } catch (error) {
        throw new UserError(
          'A stored secret cannot be read with this key: set ENCRYPTION_SECRET to the value it was stored with, or enter the secret again.',
          { cause: error, status: 500 },
        )
      }
    },
    digest: (value) => createHmac('sha256', digestKeyObject).update(value).digest('hex'),
  }
}

/** Masks a secret so that it can be recognised but not used: `ab****yz`. The parts of a list (`token,token`) are masked one by one. */
export function maskSecret(value: string): string {
  if (value.includes('-----BEGIN ')) return maskPem(value)
  return value.split(',').map(maskPart).join(',')
}

const stars = (text: string) => '*'.repeat(text.length)
const keepEnds = (text: string, start: number, end: number) =>
  text.slice(0, start) + stars(text.slice(start, text.length - end)) + text.slice(text.length - end)

/** How many characters stay visible at both ends. For GitHub's tokens, whose prefix tells their kind, as many as GitHub's pages show. */
const SHOWN: readonly [RegExp, number, number][] = [
  [/^gh[pousr]_.{32,}$/, 12, 8],
  [/^github_pat_.{70,}$/, 19, 8],
  [/^.{6,}$/s, 2, 2],
  [/^.{3,5}$/s, 1, 1],
]
function maskPart(part: string): string {
  const shown = SHOWN.find(([form]) => form.test(part))
  return shown ? keepEnds(part, shown[1], shown[2]) : stars(part)
}

function maskPem(value: string): string {
  return value.replace(
    /(-----BEGIN [^-]+-----)(.*?)(-----END [^-]+-----|$)/gs,
    (_all, begin, body, end) => begin + body.replace(/\S/g, '*') + end,
  )
}

/** Returns the secret to store: masked parts of the input stand for the stored parts, and an empty input keeps the stored secret. */
export function unmaskSecret(sent: string, stored: string): string {
  if (sent === '' || sent === maskSecret(stored)) return stored
  if (sent.includes('-----BEGIN ')) return sent
  const known = new Map(stored.split(',').map((part) => [maskPart(part), part]))
  return sent
    .split(',')
    .map((part) => (part.includes('*') ? (known.get(part) ?? part) : part))
    .join(',')
}

/** True when the value is a mask, made for display. It would be useless as a secret. */
export function isMask(value: string): boolean {
  if (value.includes('-----BEGIN ')) return value.includes('*') && value === maskPem(value)
  return value.split(',').some((part) => part.includes('*') && part === maskPart(part))
}

export const maskUrl = (url: string): string => hideAddressSecrets(url, stars)
export const hasMask = (url: string): boolean =>
  hideAddressSecrets(url, (secret) => (/^\*+$/.test(secret) ? '' : secret)) !== url

/** Masks JSON that users wrote, such as a plan: secrets in addresses, and values in fields named like secrets. */
export const maskSecrets = <Value>(value: Value, name = ''): Value => maskAll(value, isSecretName(name))

function maskAll<Value>(value: Value, isSecret: boolean): Value {
  if (typeof value === 'string') return (isSecret ? maskSecret(value) : maskUrl(maskPem(value))) as Value
  if (typeof value === 'number') return (isSecret ? maskSecret(String(value)) : value) as Value
  if (Array.isArray(value)) return value.map((each) => maskAll(each, isSecret)) as Value
  if (value === null || typeof value !== 'object' || value instanceof Date) return value
  const masked = Object.entries(value).map(([key, each]) => [key, maskAll(each, isSecret || isSecretName(key))])
  return Object.fromEntries(masked) as Value
}

/** Returns the secrets in such JSON. */
export function secretsIn(value: unknown, isSecret = false): string[] {
  if (typeof value === 'string' || typeof value === 'number') {
    return isSecret ? [String(value)] : [...addressSecrets(String(value))]
  }
  if (value === null || typeof value !== 'object') return []
  return Object.entries(value).flatMap(([key, each]) => secretsIn(each, isSecret || isSecretName(key)))
}

/** A hash that is equal for equal values and reveals nothing about them. */
export const fingerprint = (value: unknown): string =>
  createHash('sha256').update(JSON.stringify(value)).digest('hex').slice(0, 40)
