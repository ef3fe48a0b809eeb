/** Values that DevLake encrypted: base64 of AES-256-CBC, with the same key and the same initialisation vector for every value. */
import { createDecipheriv, createHash } from 'node:crypto'

/** Undefined if the value cannot be opened with this key. */
export type OldKey = (stored: string) => string | undefined

/** DevLake appends this to every text before it encrypts it, so that a wrong key is noticed. */
const END = '{nddtf}'
const BLOCK_BYTES = 16

export function oldKey(encryptionSecret: string): OldKey {
  const key = createHash('sha256').update(encryptionSecret).digest()
  return (stored) => {
    if (stored === '') return ''
    try {
      const decipher = createDecipheriv('aes-256-cbc', key, key.subarray(0, BLOCK_BYTES))
      const text = String(Buffer.concat([decipher.update(stored, 'base64'), decipher.final()]))
      return text.endsWith(END) ? text.slice(0, -END.length) : undefined
    } catch {
      return undefined
    }
  }
}

/** DevLake keeps an HMAC of each API key, made with its unchanged secret. */
export const oldDigestKey = (encryptionSecret: string): string => Buffer.from(encryptionSecret).toString('hex')
