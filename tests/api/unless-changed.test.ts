/** Two people change the same thing: `If-Match` with the time of change that each of them saw. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { describeEachWithTables } from '../support/databases.ts'
import { create } from './support/contract.ts'
import { startTestApi, type TestApi } from './support/test-api.ts'

const GITHUB = '/plugins/github/connections'
const SECRET = 'ghp_0123456789abcdef0123456789abcdef0123'

describeEachWithTables('changes that must not overwrite what their sender has not seen', (database) => {
  let api: TestApi
  let url: string
  beforeAll(async () => {
    api = await startTestApi(database.database)
    const connection = { name: 'main', endpoint: 'https://api.github.com/', authMethod: 'AccessToken', token: SECRET }
    const { id } = await create(api, GITHUB, connection)
    url = `${GITHUB}/${id}`
    await api.ask('PUT', `${url}/scopes`, { data: [{ githubId: 7, name: 'web', fullName: 'acme/web' }] })
    await create(api, `${url}/scope-configs`, { name: 'rules' })
    await create(api, '/projects', { name: 'shop' })
  })
  afterAll(() => api.close())

  const change = (address: string, body: object, seen: string) =>
    api.ask('PATCH', address, body, { headers: { 'if-match': seen } })
  const places = () => [
    { address: url, first: { rateLimitPerHour: 10 }, second: { rateLimitPerHour: 20 } },
    { address: `${url}/scopes/7`, first: { description: 'one' }, second: { description: 'two' } },
    { address: `${url}/scope-configs/1`, first: { envNamePattern: 'one' }, second: { envNamePattern: 'two' } },
    { address: '/projects/shop', first: { description: 'one' }, second: { description: 'two' } },
    { address: '/blueprints/1', first: { cronConfig: '0 1 * * *' }, second: { cronConfig: '0 2 * * *' } },
  ]
  const read = async (address: string) => {
    const { body } = await api.ask('GET', address)
    return body.scope ?? body
  }

  it('lets the first through and shows the second what there is now', async () => {
    for (const { address, first, second } of places()) {
      const { updatedAt } = await read(address)
      const saved = await change(address, first, `"${updatedAt}"`)
      expect(saved.status, saved.text).toBeLessThan(300)
      const refused = await change(address, second, updatedAt)
      expect(refused, address).toMatchObject({ status: 412, body: { success: false, data: first } })
      expect(refused.body.message).toMatch(/was changed by somebody else since you read it/)
      expect(refused.text).not.toContain(SECRET)
      expect(await read(address)).toMatchObject(first)
      const again = await change(address, second, refused.body.data.updatedAt)
      expect(again.status, again.text).toBeLessThan(300)
      expect(await read(address)).toMatchObject(second)
    }
  })

  it('lets only one of two through that come at once', async () => {
    for (const { address, first, second } of places()) {
      const { updatedAt } = await read(address)
      const answers = await Promise.all([first, second].map((body) => change(address, body, updatedAt)))
      expect(answers.map(({ status }) => status >= 300).sort(), address).toEqual([false, true])
      expect(answers.find(({ status }) => status >= 300)?.status, address).toBe(412)
    }
  })

  it('does not ask those who do not say what they saw', async () => {
    for (const { address, first } of places()) {
      expect((await api.ask('PATCH', address, first)).status).toBeLessThan(300)
      expect((await change(address, first, '*')).status).toBeLessThan(300)
    }
  })

  it('says what the header must be', async () => {
    const { status, body } = await change('/projects/shop', {}, '"yesterday"')
    expect({ status, message: body.message }).toEqual({
      status: 400,
      message: 'if-match: must be the updatedAt of what was read, or *.',
    })
  })
})
