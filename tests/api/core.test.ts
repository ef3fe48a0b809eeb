import { afterAll, beforeAll, expect, it } from 'vitest'
import { describeEachDatabase } from '../support/databases.ts'
import { startTestApi, type TestApi } from './support/test-api.ts'

describeEachDatabase('core endpoints', (test) => {
  let api: TestApi
  beforeAll(async () => {
    api = await startTestApi(test.database)
  })
  afterAll(() => api.close())

  it('tells that it is there', async () => {
    expect(await api.ask('GET', '/ping')).toMatchObject({ status: 200, text: '' })
    expect((await api.ask('GET', '/ready')).body).toMatchObject({ success: true, message: 'ready' })
    expect((await api.ask('GET', '/api/health')).body).toMatchObject({ success: true, message: 'good' })
    expect((await api.ask('GET', '/version')).body.version).toMatch(/^\d+\.\d+/)
    expect((await api.ask('GET', '/proceed-db-migration')).body).toEqual({
      code: 0,
      success: true,
      message: 'success',
      causes: null,
      data: null,
    })
    expect((await api.ask('GET', '/auth/userinfo')).body).toEqual({ authenticated: false, name: '', email: '' })
    expect((await api.ask('GET', '/auth/methods')).body).toMatchObject({ apiKey: { enabled: true } })
    expect((await api.ask('POST', '/auth/logout')).body).toEqual({ ok: true })
  })
})
