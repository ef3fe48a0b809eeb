/** What DevLake encrypted: base64 of AES-256-CBC, the same key and the same first block for every value. */
import { createDecipheriv, createHash } from 'node:crypto'

/** Undefined when the value does not open with this key. */
export type OldKey = (stored: string) => string | undefined

/** DevLake puts it behind every text before it encrypts it, so that a wrong key is noticed. */
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

/** DevLake keeps an HMAC of each API key, made with its secret as it is. */
export const oldDigestKey = (encryptionSecret: string): string => Buffer.from(encryptionSecret).toString('hex')
