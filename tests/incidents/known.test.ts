/** A source of incidents that was read completely and reported none proves that no incident happened. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { write } from '../../src/database/write.ts'
import { projectMapping } from '../../src/domain/crossdomain.ts'
import { projectsKnowingIncidents } from '../../src/metrics/grades/read-grades.ts'
import type { Plugin } from '../../src/plugin-kit/spec/plugin.ts'
import { opsgenie } from '../../src/plugins/opsgenie/plugin.ts'
import { pagerduty } from '../../src/plugins/pagerduty/plugin.ts'
import { createSecrets } from '../../src/secrets/secrets.ts'
import { SECRET_KEY, startTestApi, type TestApi } from '../api/support/test-api.ts'
import { runTask } from '../convergence/support/run-task.ts'
import { KEY as OPSGENIE_KEY, startFakeOpsgenie } from '../fake-opsgenie/fake-opsgenie.ts'
import { TOKEN as PAGERDUTY_TOKEN, startFakePagerduty } from '../fake-pagerduty/fake-pagerduty.ts'
import { describeOneWithTables } from '../support/databases.ts'

const SOURCES = [
  { plugin: pagerduty, token: PAGERDUTY_TOKEN, start: startFakePagerduty },
  { plugin: opsgenie, token: OPSGENIE_KEY, start: startFakeOpsgenie },
]

describeOneWithTables('sources of incidents', (test) => {
  let api: TestApi
  beforeAll(async () => {
    api = await startTestApi(test.database)
  })
  afterAll(() => api.close())

  const { decrypt } = createSecrets(SECRET_KEY)
  const run = (plugin: Plugin, connectionId: number, serviceId: string) =>
    runTask(test.database, plugin, { connectionId, serviceId }, { decrypt })

  it.each(SOURCES)(
    'that tell of none are known once they were read ($plugin.name)',
    async ({ plugin, token, start }) => {
      const fake = await start()
      try {
        fake.world.addService('SERVICE', 'Web')
        const base = `/plugins/${plugin.name}/connections`
        const { body: connection } = await api.ask('POST', base, { name: 'main', endpoint: fake.url, token })
        const { body } = await api.ask('PUT', `${base}/${connection.id}/scopes`, {
          data: [{ id: 'SERVICE', name: 'Web' }],
        })
        expect(body).toHaveLength(1)
        const row_id = `${plugin.name}:Service:${connection.id}:SERVICE`
        await write(test.database, [projectMapping.row({ project_name: plugin.name, table: 'boards', row_id })])
        const known = async () => [...(await projectsKnowingIncidents(test.database, [plugin.name, 'nobody']))]
        expect(await known()).toEqual([])
        await run(plugin, connection.id, 'SERVICE')
        expect(await known()).toEqual([plugin.name])
      } finally {
        await fake.stop()
      }
    },
  )
})
