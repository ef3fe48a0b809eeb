import { generateKeyPairSync } from 'node:crypto'
import { afterEach, describe, expect, it } from 'vitest'
import { type FakeGithub, startFakeGithub } from '../../../tests/fake-github/fake-github.ts'
import { UserError } from '../../errors.ts'
import { openClient } from '../../plugin-kit/connection.ts'
import { appToken, credentials, tokensOf } from './connection.ts'
import { githubSpec } from './plugin.ts'

const signal = new AbortController().signal

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
    const { publicKey, privateKey } = generateKeyPairSync('rsa', {
      modulusLength: 2048,
      publicKeyEncoding: { type: 'spki', format: 'pem' },
      privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    })
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

  it('says what is wrong with the settings of an app', () => {
    expect(() => credentials({ authMethod: 'AppKey', appId: '', installationId: 0 })).toThrow(
      /App ID and Installation ID/,
    )
    expect(() => appToken({ appId: 1, secretKey: 'no key' }, 0)).toThrow(UserError)
    expect(() => appToken({ appId: 1, secretKey: 'no key' }, 0)).toThrow(/whole \.pem file/)
  })
})
