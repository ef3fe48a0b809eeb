/** Secrets at rest (AES-256-GCM) and in answers (masked). */
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
import { addressSecrets, hideAddressSecrets, isSecretName } from './address-secrets.ts'
import { UserError } from './errors.ts'

export interface Secrets {
  /** A fresh nonce each time: equal values do not look equal. */
  encrypt(plain: string): string
  /** Text that was never encrypted comes back as it is. */
  decrypt(stored: string): string
  /** Keyed digest, for API keys that are only ever compared. Outlives the key. */
  digest(value: string): string
  /** What `digest` is keyed with; given to the next key. */
  readonly digestKey: string
  /** A further key, for that purpose alone. Ends with the key. */
  derive(purpose: string): string
  /** Tells keys apart, and nothing about them. */
  readonly fingerprint: string
  /** What another thread or process of this installation needs to read the same secrets. */
  readonly key: string
}

const PLAIN = 'weir1:'
/** Compressed before it was encrypted. */
const COMPRESSED = 'weir2:'
export const CIPHERTEXTS: readonly string[] = [PLAIN, COMPRESSED]
/** Options that name the scopes of a large project repeat themselves a lot; short secrets only grow. */
const WORTH_COMPRESSING = 10_000
const NONCE_BYTES = 12
const TAG_BYTES = 16

/** `digestKey`: of the first key, where this is a later one. */
export function createSecrets(key: string, digestKey?: string): Secrets {
  // ENCRYPTION_SECRET is a passphrase of any length; purposes get keys of their own.
  const derive = (purpose: string) => Buffer.from(hkdfSync('sha256', key, 'weir', purpose, 32)).toString('hex')
  // As key objects: a cipher made from plain bytes takes five times as long.
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

/** Recognisable, not usable: `ab****yz`. Lists (`token,token`) part by part. */
export function maskSecret(value: string): string {
  if (value.includes('-----BEGIN ')) return maskPem(value)
  return value.split(',').map(maskPart).join(',')
}

const stars = (text: string) => '*'.repeat(text.length)
const keepEnds = (text: string, start: number, end: number) =>
  text.slice(0, start) + stars(text.slice(start, text.length - end)) + text.slice(text.length - end)

/** GitHub's tokens say by their beginning what they are; as much is left visible as GitHub's own pages show. */
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

/** What to store for a secret that was sent: masked parts stand for what is stored, nothing sent keeps it all. */
export function unmaskSecret(sent: string, stored: string): string {
  if (sent === '' || sent === maskSecret(stored)) return stored
  if (sent.includes('-----BEGIN ')) return sent
  const known = new Map(stored.split(',').map((part) => [maskPart(part), part]))
  return sent
    .split(',')
    .map((part) => (part.includes('*') ? (known.get(part) ?? part) : part))
    .join(',')
}

/** Was it made to be shown? As a secret it would open nothing. */
export function isMask(value: string): boolean {
  if (value.includes('-----BEGIN ')) return value.includes('*') && value === maskPem(value)
  return value.split(',').some((part) => part.includes('*') && part === maskPart(part))
}

export const maskUrl = (url: string): string => hideAddressSecrets(url, stars)
export const hasMask = (url: string): boolean =>
  hideAddressSecrets(url, (secret) => (/^\*+$/.test(secret) ? '' : secret)) !== url

/** JSON that users wrote, such as a plan, with secrets in addresses and under names of secrets starred. */
export const maskSecrets = <Value>(value: Value, name = ''): Value => maskAll(value, isSecretName(name))

function maskAll<Value>(value: Value, isSecret: boolean): Value {
  if (typeof value === 'string') return (isSecret ? maskSecret(value) : maskUrl(maskPem(value))) as Value
  if (typeof value === 'number') return (isSecret ? maskSecret(String(value)) : value) as Value
  if (Array.isArray(value)) return value.map((each) => maskAll(each, isSecret)) as Value
  if (value === null || typeof value !== 'object' || value instanceof Date) return value
  const masked = Object.entries(value).map(([key, each]) => [key, maskAll(each, isSecret || isSecretName(key))])
  return Object.fromEntries(masked) as Value
}

/** The secrets in such JSON. */
export function secretsIn(value: unknown, isSecret = false): string[] {
  if (typeof value === 'string' || typeof value === 'number') {
    return isSecret ? [String(value)] : [...addressSecrets(String(value))]
  }
  if (value === null || typeof value !== 'object') return []
  return Object.entries(value).flatMap(([key, each]) => secretsIn(each, isSecret || isSecretName(key)))
}

/** Equal options give equal marks, and a mark tells nothing about the options. */
export const fingerprint = (value: unknown): string =>
  createHash('sha256').update(JSON.stringify(value)).digest('hex').slice(0, 40)
