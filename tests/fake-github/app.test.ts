import { generateKeyPairSync } from 'node:crypto'
import { createAppAuth } from '@octokit/auth-app'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type FakeGithub, startFakeGithub } from './fake-github.ts'
import { get } from './testing.ts'

const { privateKey, publicKey } = generateKeyPairSync('rsa', {
  modulusLength: 2048,
  publicKeyEncoding: { type: 'spki', format: 'pem' },
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
})
let fake: FakeGithub
beforeAll(async () => {
  fake = await startFakeGithub({
    app: { id: 7, installationId: 42, publicKey, permissions: { metadata: 'read', issues: 'read' } },
  })
})
afterAll(() => fake.stop())

async function installationToken(
  appId: number,
  installation = 42,
  key = privateKey,
): Promise<{ status: number; body: any }> {
  const { token } = await createAppAuth({ appId, privateKey: key })({ type: 'app' })
  const response = await fetch(`${fake.url}/app/installations/${installation}/access_tokens`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'user-agent': 'weir-tests' },
  })
  return { status: response.status, body: await response.json() }
}

test('a signed JWT buys a token that works, within its permissions, until it expires', async () => {
  const { status, body } = await installationToken(7)
  expect(status).toBe(201)
  const authorization = `Bearer ${body.token}`
  expect((await get(fake, '/repos/acme/web/issues', { authorization })).status).toBe(200)
  const refused = await get(fake, '/repos/acme/web/pulls', { authorization })
  expect([refused.status, refused.body.message]).toEqual([403, 'Resource not accessible by integration'])
  expect((await get(fake, '/installation/repositories', { authorization })).body.total_count).toBe(6)
  expect((await get(fake, '/user', { authorization })).status).toBe(403)
  fake.clock.set(Date.parse(body.expires_at) + 1000)
  expect((await get(fake, '/repos/acme/web/issues', { authorization })).status).toBe(401)
  fake.clock.set(Date.now())
})

test('a wrong app, installation, key or time is refused', async () => {
  expect((await installationToken(8)).status).toBe(401)
  expect((await installationToken(7, 43)).status).toBe(404)
  const other = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({ type: 'pkcs8', format: 'pem' })
  expect(await installationToken(7, 42, other.toString())).toMatchObject({
    status: 401,
    body: { message: 'A JSON web token could not be decoded' },
  })
  fake.clock.advance(3600_000)
  expect((await installationToken(7)).status).toBe(401)
  fake.clock.advance(-2 * 3600_000)
  expect((await installationToken(7)).body.message).toContain('too far in the future')
  fake.clock.set(Date.now())
  expect(fake.violations).toEqual([])
})
