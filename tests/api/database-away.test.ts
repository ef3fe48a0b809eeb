import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import type { Database } from '../../src/database/database.ts'
import { openDatabase } from '../../src/database/open.ts'
import { until } from '../pipelines/support/test-control.ts'
import { type Gateway, openGateway } from '../support/gateway.ts'
import { databasesOf } from '../support/servers.ts'
import { startTestApi, type TestApi } from './support/test-api.ts'

for (const engine of ['postgres', 'mysql'] as const) {
  const server = inject('databaseServers')[engine]
  describe.skipIf(!server)(`the database away (${engine})`, () => {
    const { createDatabase, dropDatabase } = databasesOf(engine, server ?? '')
    let url: string
    let gateway: Gateway
    let database: Database
    let api: TestApi

    beforeAll(async () => {
      url = await createDatabase()
      gateway = await openGateway(url)
      database = await openDatabase(gateway.url)
      api = await startTestApi(database)
      await api.ask('POST', '/projects', { name: 'shop' })
      await api.ask('POST', '/plugins/webhook/connections', { name: 'incidents' })
    })
    afterAll(async () => {
      await api?.close()
      await database?.close()
      await gateway?.close()
      await dropDatabase(url)
    })

    const REQUESTS = [
      ['GET', '/projects'],
      ['GET', '/projects/shop'],
      ['POST', '/projects', { name: 'other' }],
      ['PATCH', '/projects/shop', { name: 'shop', description: 'sold' }],
      ['GET', '/blueprints'],
      ['PATCH', '/blueprints/1', { name: 'renamed' }],
      ['POST', '/blueprints/1/trigger', {}],
      ['GET', '/pipelines'],
      ['DELETE', '/pipelines/1'],
      ['POST', '/pipelines', { name: 'p', plan: [[{ plugin: 'dora', options: { projectName: 'shop' } }]] }],
      ['GET', '/plugins/github/connections'],
      [
        'POST',
        '/plugins/webhook/connections/1/issues',
        {
          issueKey: 'A-1',
          title: 'x',
          status: 'TODO',
          type: 'BUG',
          createdDate: '2026-01-01T00:00:00Z',
          originalStatus: 'open',
        },
      ],
      ['POST', '/plugins/customize/issues/fields', { columnName: 'x_a', displayName: 'a', dataType: 'text' }],
      ['PUT', '/store/key', { some: 'thing' }],
      ['GET', '/v1/audit'],
      ['GET', '/health'],
      ['GET', '/rest/projects'],
    ] as const

    it('is 503 with Retry-After and no host name, whatever is asked, and over when it is back', async () => {
      const { host, port } = new URL(gateway.url)
      for (const [how, cut] of [
        ['connections break', () => gateway.breakOff()],
        ['nothing listens', () => gateway.stop()],
      ] as const) {
        await cut()
        for (const [method, path, body] of REQUESTS) {
          const key = path.startsWith('/rest') ? { headers: { authorization: 'Bearer some-key' } } : {}
          const answer = await api.ask(method, path, body, key)
          expect(answer, `${how}: ${method} ${path}`).toMatchObject({ status: 503, body: { success: false } })
          expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0)
          expect(answer.text).not.toMatch(new RegExp(`${host}|${port}|127\\.0|localhost|stack`))
        }
        await gateway.start()
        await until(async () => (await api.ask('GET', '/projects')).status === 200)
      }
    })
  })
}
