import { createHash } from 'node:crypto'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, it } from 'vitest'
import {
  inProcess,
  paint,
  prepareTestDatabase,
  testControl,
  testRunner,
  until,
} from '../../tests/pipelines/support/test-control.ts'
import { describeOneDatabase } from '../../tests/support/databases.ts'
import { createLog } from '../log.ts'
import { createControlPlane } from '../start/create-control-plane.ts'
import { createNotify } from './notify.ts'

describeOneDatabase('notifications', (test) => {
  let server: Server
  const heard: { status: string; isSigned: boolean }[] = []
  beforeAll(async () => {
    await prepareTestDatabase(test.database)
    server = createServer(async (request, response) => {
      const query = new URL(request.url ?? '/', 'http://localhost').searchParams
      const body = await text(request)
      const sign = createHash('sha256')
        .update(`${body}shared-secret${query.get('nouce')}`)
        .digest('hex')
      heard.push({ status: JSON.parse(body).Status, isSigned: sign === query.get('sign') && query.get('room') === '1' })
      response.end('thanks')
    })
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  })
  afterAll(() => server.close())

  it('tell of creation, begin and end in order, signed, and are noted', async () => {
    const { port } = server.address() as AddressInfo
    const plain = testControl(test.database)
    const endpoint = `http://127.0.0.1:${port}/hook?room=1`
    const notify = createNotify(test.database, createLog('silent'), endpoint, 'shared-secret')
    const control = createControlPlane({ ...plain.context, notify })
    await control.services.pipelines.create({ plan: [[paint({ place: 'a' })]] })
    const runner = await testRunner(control, inProcess(control))
    await until(async () => heard.length === 3)
    await runner.stop()
    expect(heard).toEqual(
      ['TASK_CREATED', 'TASK_RUNNING', 'TASK_COMPLETED'].map((status) => ({ status, isSigned: true })),
    )
    const noted = () =>
      sql<{ response_code: number; response: string; data: string }>`
      select response_code, response, data from _devlake_notifications order by id`.execute(test.database.kysely)
    await until(async () => (await noted()).rows.length === 3)
    expect((await noted()).rows).toMatchObject(
      Array.from({ length: 3 }, () => ({ response_code: 200, response: 'thanks' })),
    )
  })
})
