/** Signs values that a browser keeps for this server (JWT, HS256). A value that was changed meanwhile is not accepted. */
import { createHmac, timingSafeEqual } from 'node:crypto'
import type { Config } from '../../config/config.ts'
import type { Secrets } from '../../secrets/secrets.ts'

interface Signer<Claims> {
  sign(claims: Claims, expires: Date): string
  /** Undefined for any text that was not signed here for this purpose, or that has expired. */
  read(text: string | undefined): Claims | undefined
}

const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')
const HEADER = encode({ alg: 'HS256', typ: 'JWT' })

/** Each purpose has its own key, so that a value signed for one is not valid for another. */
export function signerFor<Claims extends object>(
  purpose: string,
  { sessionSecret }: Config,
  secrets: Secrets,
): Signer<Claims> {
  const key = createHmac('sha256', sessionSecret ?? secrets.derive('cookies'))
    .update(purpose)
    .digest()
  const signatureOf = (text: string) => createHmac('sha256', key).update(text).digest('base64url')
  return {
    sign(claims, expires) {
      const text = `${HEADER}.${encode({ ...claims, exp: Math.floor(expires.getTime() / 1000) })}`
      return `${text}.${signatureOf(text)}`
    },
    read(text = '') {
      const [head = '', payload = '', signature = ''] = text.split('.')
      const expected = Buffer.from(signatureOf(`${head}.${payload}`))
      const actual = Buffer.from(signature)
      if (head !== HEADER || actual.length !== expected.length || !timingSafeEqual(actual, expected)) return undefined
      const claims = JSON.parse(Buffer.from(payload, 'base64url').toString())
      return claims.exp * 1000 > Date.now() ? claims : undefined
    },
  }
}
