import { afterAll, beforeAll, expect, test } from 'vitest'
import { sendWaiting } from '../../src/alerts/send.ts'
import { tellOfSwitches } from '../../src/alerts/traffic.ts'
import { insertRow, selectRows } from '../../src/control-plane/store.ts'
import { createLog, logDestination } from '../../src/log.ts'
import { createSecrets } from '../../src/secrets/secrets.ts'
import { alertMessages, alerts } from '../../src/system/alerts.ts'
import { tick } from '../../traffic/engine/watch.ts'
import { startReceiver } from '../alerts/receiver.ts'
import { describeOneWithTables } from '../support/databases.ts'
import { setStage, withGates } from './support/stage.ts'

describeOneWithTables('messages about switches', (database) => {
  const stage = setStage(database)
  let receiver: Awaited<ReturnType<typeof startReceiver>>
  beforeAll(async () => {
    receiver = await startReceiver()
  })
  afterAll(() => receiver.stop())

  test('each change of state reaches each address of the project once, in order, by one of two servers', async () => {
    const secrets = createSecrets('0123456789abcdef0123456789abcdef')
    const log = createLog('silent', logDestination(undefined), 'json')
    const context = { database: database.database, secrets, log }
    const { kysely } = database.database
    const row = await stage.start(withGates)
    const add = (project_name: string, target: string, path: string, enable = true) =>
      insertRow(kysely, alerts, {
        name: path,
        kind: 'digest',
        project_name,
        metric: '',
        direction: '',
        threshold: 0,
        window_days: 0,
        for_days: 0,
        weekday: 1,
        hour: 8,
        target,
        url: secrets.encrypt(`${receiver.url}${path}`),
        secret: '',
        enable,
        state: '',
        problem: '',
      })
    await add(stage.world.plan.project, 'slack', 'slack')
    await add(stage.world.plan.project, 'slack', 'slack')
    await add('', 'webhook', 'hook')
    await add('another', 'slack', 'another')
    await add(stage.world.plan.project, 'slack', 'disabled', false)
    const look = async () => {
      await Promise.all([tellOfSwitches(context), tellOfSwitches(context)])
      await sendWaiting(context, new Date(Date.now() + 1000))
    }

    await stage.shift(row, 1)
    await look()
    stage.setHealth('unhealthy')
    expect((await tick(stage.engine, row.id)).state).toBe('rolled-back')
    await look()
    await look()
    const stored = await selectRows(kysely, alertMessages, (query) => query.orderBy('id'))
    const hook = stored.map(({ body }) => JSON.parse(body)).filter((_, index) => index % 2 === 1)
    expect(hook.map(({ effect }) => effect)).toEqual([
      'preparing',
      'prepared',
      'shifting',
      'verified',
      'rolling-back',
      'rolled-back',
    ])
    expect(hook[3]).toMatchObject({
      type: 'traffic',
      switch: row.id,
      project: stage.world.plan.project,
      text: `Traffic switch ${row.name}: step 1 of 3 is in force, 90/10 (advance by ada)`,
    })
    const paths = receiver.received.map(({ path }) => path)
    expect(paths.filter((path) => path === '/slack')).toHaveLength(6)
    expect(paths.filter((path) => path === '/hook')).toHaveLength(6)
    expect(paths).toHaveLength(12)
    expect(receiver.received.find(({ path }) => path === '/slack')!.body).toEqual({
      text: `Traffic switch ${row.name}: preparing (prepare by ada)`,
    })

    // No message is sent about events older than an hour.
    stage.setHealth('healthy')
    await stage.go(row, 'prepare')
    await tellOfSwitches(context, new Date(Date.now() + 2 * 3_600_000))
    await look()
    expect(receiver.received).toHaveLength(12)
  })
})
