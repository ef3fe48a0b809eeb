/** An OpenID provider on this machine with one user, who always agrees. */
import { createHash, createSign, generateKeyPairSync, randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'

export interface FakeProvider {
  readonly issuer: string
  /** Claims about the next person who signs in. */
  person: Record<string, unknown>
  /** Does what the user's browser does: opens the provider, agrees, and returns with this query. */
  approve(location: string): Promise<string>
  stop(): Promise<void>
}

export async function startFakeProvider(): Promise<FakeProvider> {
  const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const key = { ...publicKey.export({ format: 'jwk' }), kid: 'one', alg: 'RS256', use: 'sig' }
  const codes = new Map<string, { nonce: string; challenge: string; clientId: string }>()
  let issuer = ''

  const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')
  function idToken(clientId: string, nonce: string): string {
    const now = Math.floor(Date.now() / 1000)
    const claims = { iss: issuer, aud: clientId, sub: 'ada', iat: now, exp: now + 300, nonce }
    const signed = `${encode({ alg: 'RS256', kid: 'one' })}.${encode({ ...claims, ...provider.person })}`
    return `${signed}.${createSign('RSA-SHA256').update(signed).sign(privateKey, 'base64url')}`
  }

  const server = createServer(async (request, response) => {
    const url = new URL(request.url ?? '/', issuer)
    const answer = (status: number, body: unknown) => {
      // A kept connection could be closed by its time-out just when it is used again.
      response.writeHead(status, { 'content-type': 'application/json', connection: 'close' })
      response.end(JSON.stringify(body))
    }
    if (url.pathname === '/.well-known/openid-configuration') {
      return answer(200, {
        issuer,
        authorization_endpoint: `${issuer}/authorize`,
        token_endpoint: `${issuer}/token`,
        jwks_uri: `${issuer}/keys`,
        end_session_endpoint: `${issuer}/logout`,
        response_types_supported: ['code'],
        subject_types_supported: ['public'],
        id_token_signing_alg_values_supported: ['RS256'],
        code_challenge_methods_supported: ['S256'],
      })
    }
    if (url.pathname === '/keys') return answer(200, { keys: [key] })
    const form = new URLSearchParams(await text(request))
    const begun = codes.get(form.get('code') ?? '')
    const challenge = createHash('sha256')
      .update(form.get('code_verifier') ?? '')
      .digest('base64url')
    if (!begun || begun.challenge !== challenge) return answer(400, { error: 'invalid_grant' })
    codes.delete(form.get('code') ?? '')
    const id_token = idToken(begun.clientId, begun.nonce)
    return answer(200, { access_token: randomUUID(), token_type: 'Bearer', expires_in: 300, id_token })
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`

  const provider: FakeProvider = {
    issuer,
    person: { name: 'Ada Lovelace', email: 'ada@example.org' },
    async approve(location) {
      const { searchParams } = new URL(location)
      const code = randomUUID()
      const of = (name: string) => searchParams.get(name) ?? ''
      if (of('code_challenge_method') !== 'S256') throw new Error('no PKCE')
      codes.set(code, { nonce: of('nonce'), challenge: of('code_challenge'), clientId: of('client_id') })
      return `?${new URLSearchParams({ code, state: of('state'), iss: issuer })}`
    },
    stop: () => new Promise((done) => server.close(() => done())),
  }
  return provider
}
