/** Ids above 2^53 pass through the API unchanged, in both directions. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { describeEachWithTables } from '../support/databases.ts'
import { startTestApi, type TestApi } from './support/test-api.ts'

const ODD = '9007199254740993'
const EVEN = '9007199254740992'
const LONG = '1112345678001000123'

describeEachWithTables('ids past 2^53', (test) => {
  let api: TestApi
  let base: string
  beforeAll(async () => {
    api = await startTestApi(test.database)
    const connection = { name: 'one', endpoint: 'http://127.0.0.1:9/', authMethod: 'AccessToken', token: 'ghp_x' }
    const { body } = await api.ask('POST', '/plugins/github/connections', connection)
    base = `/plugins/github/connections/${body.id}/scopes`
  })
  afterAll(() => api.close())

  it('are sent as numbers or text, stored as they are, and found one by one', async () => {
    const repository = (id: string, name: string) => `{"githubId":${id},"name":"${name}","fullName":"acme/${name}"}`
    const sent = `{"data":[${repository(ODD, 'odd')},${repository(`"${EVEN}"`, 'even')},${repository(LONG, 'long')},${repository('7', 'small')}]}`
    const put = await api.ask('PUT', base, sent)
    expect(put.status, put.text).toBe(200)
    expect(put.body.map(({ githubId }: any) => githubId)).toEqual([ODD, EVEN, LONG, 7])
    for (const [id, name] of [
      [ODD, 'odd'] as const,
      [EVEN, 'even'] as const,
      [LONG, 'long'] as const,
      ['7', 'small'] as const,
    ]) {
      expect((await api.ask('GET', `${base}/${id}`)).body.scope.name).toBe(name)
    }
    expect((await api.ask('GET', `${base}/9007199254740994`)).status).toBe(404)
    expect((await api.ask('GET', `${base}/9999999999999999999`)).status).toBe(404)
    expect((await api.ask('DELETE', `${base}/${ODD}`)).status).toBe(200)
    const { scopes } = (await api.ask('GET', base)).body
    expect(
      scopes
        .map(({ scope }: any) => scope.githubId)
        .map(String)
        .sort(),
    ).toEqual([LONG, '7', EVEN].sort())
  })
})
