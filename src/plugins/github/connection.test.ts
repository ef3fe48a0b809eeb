import { generateKeyPairSync } from 'node:crypto'
import { createServer } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import { type AddressInfo, connect, type Server, type Socket } from 'node:net'
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { type FakeGithub, startFakeGithub } from '../../../tests/fake-github/fake-github.ts'
import { UserError } from '../../errors.ts'
import { createCertificate } from '../../plugin-kit/http/test-certificate.ts'
import { openClient } from '../../plugin-kit/task/connection.ts'
import { appToken, credentials, tokensOf } from './connection.ts'
import { githubSpec } from './plugin.ts'

const signal = new AbortController().signal

async function listen(server: Server): Promise<number> {
  const sockets = new Set<Socket>()
  server.on('connection', (socket) => sockets.add(socket))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return (server.address() as AddressInfo).port
}

const appKeys = () =>
  generateKeyPairSync('rsa', {
    modulusLength: 2048,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  })

describe('a connection to GitHub', () => {
  let fake: FakeGithub | undefined
  afterEach(async () => {
    await fake?.stop()
    fake = undefined
  })

  it('pools tokens that are separated by commas', () => {
    expect(tokensOf({ token: ' one, two,,three ' })).toEqual(['one', 'two', 'three'])
    expect(credentials({ authMethod: 'AccessToken', token: '' })).toEqual([])
  })

  it('takes the token with most left, and gets all of their limits', async () => {
    const tokens = ['a', 'b', 'c'].map((letter) => `ghp_${letter.repeat(36)}`)
    fake = await startFakeGithub({ tokens: tokens.map((token) => ({ token, limits: { core: 4 } })) })
    const client = openClient(githubSpec, { endpoint: fake.url, token: tokens.join(',') })
    for (let number = 0; number < 12; number++) await client.send({ path: '/repos/acme/web' }, signal)
    await client.close()
    const { byToken } = fake.requests
    expect(Object.values(byToken()).map(({ counted }) => counted)).toEqual([4, 4, 4])
  })

  it('works as an app, with a token of its installation', async () => {
    const { publicKey, privateKey } = appKeys()
    fake = await startFakeGithub({ app: { id: 7, installationId: 70, publicKey } })
    const settings = { authMethod: 'AppKey', endpoint: fake.url, appId: '7', installationId: 70, secretKey: privateKey }
    const client = openClient(githubSpec, settings)
    const { body } = await client.send({ path: '/repos/acme/web' }, signal)
    await client.close()
    expect(body.full_name).toBe('acme/web')
    expect(fake.requests.entries.map(({ template }) => template)).toEqual([
      '/app/installations/{installation_id}/access_tokens',
      '/repos/{owner}/{repo}',
    ])
    expect(fake.violations).toEqual([])
  })

  it('an app asks for its token by the same way as for all else: any certificate, through the proxy', async () => {
    vi.stubEnv('IN_SECURE_SKIP_VERIFY', 'true')
    onTestFinished(() => void vi.unstubAllEnvs())
    const { key, certificate } = createCertificate()
    const paths: string[] = []
    const server = createSecureServer({ key, cert: certificate }, ({ url = '', method }, response) => {
      paths.push(`${method} ${url}`)
      const token = { token: 'ghs_installation', expires_at: new Date(Date.now() + 3_600_000).toISOString() }
      response.setHeader('content-type', 'application/json')
      response.end(JSON.stringify(url.endsWith('/access_tokens') ? token : { full_name: 'acme/web' }))
    })
    const endpoint = `https://127.0.0.1:${await listen(server)}/`
    const tunnels: string[] = []
    const proxy = createServer().on('connect', (request, socket: Socket) => {
      tunnels.push(request.url ?? '')
      const target = connect(Number(new URL(endpoint).port), '127.0.0.1', () => {
        socket.write('HTTP/1.1 200 Connection Established\r\n\r\n')
        socket.pipe(target).on('error', () => socket.destroy())
        target.pipe(socket).on('error', () => target.destroy())
      })
    })
    const settings = {
      authMethod: 'AppKey',
      endpoint,
      appId: '7',
      installationId: 70,
      secretKey: appKeys().privateKey,
      proxy: `http://127.0.0.1:${await listen(proxy)}/pasted/page`,
    }
    const client = openClient(githubSpec, settings)
    const { body } = await client.send({ path: '/repos/acme/web' }, signal)
    await client.close()
    expect(body.full_name).toBe('acme/web')
    expect(paths).toEqual(['POST /app/installations/70/access_tokens', 'GET /repos/acme/web'])
    expect(tunnels).toEqual([new URL(endpoint).host, new URL(endpoint).host])
  })

  it('says what is wrong with the settings of an app', () => {
    expect(() => credentials({ authMethod: 'AppKey', appId: '', installationId: 0 })).toThrow(
      /App ID and Installation ID/,
    )
    expect(() => appToken({ appId: 1, secretKey: 'no key' }, 0)).toThrow(UserError)
    expect(() => appToken({ appId: 1, secretKey: 'no key' }, 0)).toThrow(/whole \.pem file/)
  })
})
