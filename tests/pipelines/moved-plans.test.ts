import { sql } from 'kysely'
import { expect, it } from 'vitest'
import { migrate } from '../../src/database/migrate.ts'
import { createSecrets } from '../../src/secrets/secrets.ts'
import { systemTables } from '../../src/system/index.ts'
import { describeEachDatabase } from '../support/databases.ts'
import { SECRET_KEY, testControl } from './support/test-control.ts'

const PLAN = [[{ plugin: 'paint', subtasks: [], options: { place: 'moved' } }]]

describeEachDatabase('a database of the version before', (test) => {
  it('has its plans moved into their own table', async () => {
    const { kysely } = test.database
    const sealed = createSecrets(SECRET_KEY).encrypt(JSON.stringify(PLAN))
    await migrate(test.database, systemTables)
    await sql`delete from _weir_schema_versions where version > 1`.execute(kysely)
    await sql`insert into _weir_schema_versions (version) values (1)`.execute(kysely)
    const blueprint = { id: 7, name: 'old', mode: 'ADVANCED', is_manual: true, enable: true, plan: sealed }
    await kysely
      .insertInto('_devlake_blueprints')
      .values({ ...blueprint, before_plan: Buffer.from(sealed) })
      .execute()
    await kysely.insertInto('_devlake_pipelines').values({ id: 8, status: 'TASK_COMPLETED', plan: sealed }).execute()
    await migrate(test.database, systemTables)
    const { services } = testControl(test.database)
    expect(await services.blueprints.get(7)).toMatchObject({ plan: PLAN, beforePlan: PLAN, afterPlan: null })
    expect(await services.pipelines.get(8)).toMatchObject({ plan: PLAN })
    const { rows } = await sql`select plan, before_plan from _devlake_blueprints`.execute(kysely)
    expect(rows).toEqual([{ plan: null, before_plan: null }])
  })
})
