import { afterAll, beforeAll, expect, it } from 'vitest'
import { type FakeCircleci, startFakeCircleci, TOKEN } from '../../../tests/fake-circleci/fake-circleci.ts'
import { describeEachWithTables } from '../../../tests/support/databases.ts'
import { runSubtask } from '../../../tests/support/run-subtask.ts'
import { rawTable } from '../../plugin-kit/raw/raw-table.ts'
import { circleci } from '../../plugins/circleci/plugin.ts'
import { prepareDatabase } from '../../start/prepare-database.ts'
import { deleteScopeData } from './scope-data.ts'

const OPTIONS = { connectionId: 1, projectSlug: 'github/acme/web' }

describeEachWithTables('deleted data of a scope', (test) => {
  let fake: FakeCircleci
  beforeAll(async () => {
    await prepareDatabase(test.database)
    fake = await startFakeCircleci(50)
    const connection = { id: 1, name: 'ci', endpoint: fake.url, token: TOKEN, proxy: '', rate_limit_per_hour: 0 }
    await test.database.kysely.insertInto('_tool_circleci_connections').values(connection).execute()
  })
  afterAll(() => fake.stop())

  it('is collected again from its beginning, even after a run that was interrupted', async () => {
    const stop = new AbortController()
    const cutOff = runSubtask(test.database, circleci, 'collectPipelines', OPTIONS, {
      signal: stop.signal,
      progress: ({ done }) => done === 40 && stop.abort(new Error('cut off')),
    })
    await expect(cutOff).rejects.toThrow('cut off')
    await deleteScopeData(test.database, [circleci], circleci.source!, 1, { slug: OPTIONS.projectSlug })
    const raw = rawTable('circleci_api_pipelines').name
    const count = async () => (await test.database.kysely.selectFrom(raw).select('id').execute()).length
    expect(await count()).toBe(0)
    await runSubtask(test.database, circleci, 'collectPipelines', OPTIONS)
    expect(await count()).toBe(50)
  })
})
