/** The inbox of a webhook connection: received messages, and what was done with each. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { describeOneWithTables } from '../support/databases.ts'
import { startTestApi, type TestApi } from './support/test-api.ts'
import { BASE, deployment, issue } from './support/webhook-client.ts'

describeOneWithTables('webhook deliveries', (test) => {
  let api: TestApi
  let connection: any
  beforeAll(async () => {
    api = await startTestApi(test.database)
    connection = (await api.ask('POST', `${BASE}/connections`, { name: 'ci' })).body
  })
  afterAll(() => api.close())
  const inbox = async (query = '') =>
    (await api.ask('GET', `/v1/webhook-deliveries?connectionId=${connection.id}${query}`)).body

  it('keeps what was taken and what was refused, with the reason and without secrets', async () => {
    expect(await inbox()).toEqual({ count: 0, deliveries: [] })
    const at = `/rest${BASE}/connections/${connection.id}`
    const key = { headers: { authorization: `Bearer ${connection.apiKey.apiKey}` } }
    const sent = { ...deployment('d1'), apiToken: 'do not show' }
    expect((await api.ask('POST', `${at}/deployments?x=1`, sent, key)).status).toBe(200)
    expect((await api.ask('POST', `${at}/deployments`, { id: 'd2' }, key)).status).toBe(400)
    expect(
      (await api.ask('POST', `${at}/issues`, issue('I-1'), { headers: { authorization: 'Bearer wrong' } })).status,
    ).toBe(403)
    expect((await api.ask('POST', `${at}/issue/none/close`, undefined, key)).status).toBe(404)
    expect((await api.ask('POST', `${at}/issues`, '{"broken', key)).status).toBe(400)
    const { count, deliveries } = await inbox()
    expect(count).toBe(5)
    const common = { connectionId: connection.id, sender: expect.any(String), address: '127.0.0.1' }
    expect(deliveries).toMatchObject([
      { ...common, kind: 'issues', status: 400, payload: '', characters: 0 },
      { ...common, kind: 'issue/close', status: 404, message: expect.stringMatching(/knows no issue none/) },
      { ...common, kind: 'issues', status: 403, message: expect.stringMatching(/not valid/), payload: '' },
      { ...common, kind: 'deployments', status: 400, message: expect.stringMatching(/startedDate|deploymentCommits/) },
      {
        ...common,
        kind: 'deployments',
        status: 200,
        message: '',
        path: `${BASE}/connections/${connection.id}/deployments`,
      },
    ])
    expect(JSON.stringify(deliveries)).not.toContain('do not show')
    expect(deliveries[4].payload).toContain('"d1"')
    expect((await inbox('&page=2&pageSize=2')).deliveries.map(({ id }: any) => id)).toEqual([
      deliveries[2].id,
      deliveries[3].id,
    ])
  })

  it('cuts long messages and says how long they were', async () => {
    const long = { ...deployment('long'), name: 'n'.repeat(9000) }
    expect((await api.ask('POST', `${BASE}/connections/${connection.id}/deployments`, long)).status).toBe(200)
    const [newest] = (await inbox()).deliveries
    expect(newest.payload).toHaveLength(4000)
    expect(newest.characters).toBeGreaterThan(9000)
  })

  it('forgets the oldest, and all with their connection', async () => {
    const { body: busy } = await api.ask('POST', `${BASE}/connections`, { name: 'busy' })
    const at = `${BASE}/connections/by-name/busy`
    for (let index = 0; index < 205; index++) await api.ask('POST', `${at}/deployments`, { id: `x${index}` })
    const kept = (await api.ask('GET', `/v1/webhook-deliveries?connectionId=${busy.id}&pageSize=1000`)).body
    expect(kept.count).toBe(200)
    expect(kept.deliveries[0].payload).toContain('x204')
    await api.ask('DELETE', `${BASE}/connections/${busy.id}`)
    expect((await api.ask('GET', `/v1/webhook-deliveries?connectionId=${busy.id}`)).body.count).toBe(0)
    // A connection that does not exist has no inbox.
    expect((await api.ask('POST', `${BASE}/connections/999/deployments`, deployment('d1'))).status).toBe(404)
    expect((await api.ask('GET', '/v1/webhook-deliveries?connectionId=999')).body.count).toBe(0)
  })

  it('makes no connection for a project whose message is refused', async () => {
    await api.ask('POST', '/projects', { name: 'shop' })
    expect((await api.ask('POST', `${BASE}/projects/shop/deployments`, {})).status).toBe(400)
    const names = (await api.ask('GET', `${BASE}/connections`)).body.map(({ name }: any) => name)
    expect(names).toEqual(['ci'])
    expect((await api.ask('POST', `${BASE}/projects/shop/deployments`, deployment('p1'))).status).toBe(200)
    const own = (await api.ask('GET', `${BASE}/connections/by-name/shop_deployments`)).body
    expect((await api.ask('GET', `/v1/webhook-deliveries?connectionId=${own.id}`)).body.count).toBe(1)
  })
})
