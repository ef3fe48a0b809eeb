/** Problems that the doctor finds, and how serious each is. */
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeAll, expect, it } from 'vitest'
import { createLog } from '../../src/log.ts'
import { plugins } from '../../src/plugins/index.ts'
import { checkApiKeys, checkSchedule, clockTrouble } from '../../src/runner/health.ts'
import { createSecrets } from '../../src/secrets/secrets.ts'
import { createControlPlane } from '../../src/start/create-control-plane.ts'
import { prepareDatabase } from '../../src/start/prepare-database.ts'
import { runCli } from '../support/cli.ts'
import { describeOneWithTables } from '../support/databases.ts'

const SECRET = 'a key that is only used in tests'
const dataFolder = mkdtempSync(join(tmpdir(), 'weir-doctor-'))

describeOneWithTables('the doctor', (test) => {
  const services = () =>
    createControlPlane({
      database: test.database,
      plugins,
      secrets: createSecrets(SECRET),
      dataFolder,
      log: createLog('silent'),
    }).services
  beforeAll(() => prepareDatabase(test.database))

  it('compares the clock of this machine with that of the database', async () => {
    expect(await clockTrouble(test.database)).toBeUndefined()
    const ahead = () => Date.now() + 300_000
    expect(await clockTrouble(test.database, ahead)).toMatch(
      /^The clock of this machine is (299|300) seconds ahead of that of the database.* Set the clocks/,
    )
    const behind = () => Date.now() - 300_000
    expect(await clockTrouble(test.database, behind)).toMatch(/seconds behind that of the database/)
  })

  it('names expired keys, and never what they open with', async () => {
    expect(await checkApiKeys(test.database)).toEqual([])
    const row = { name: 'grafana', api_key: 'digest', expired_at: new Date('2020-01-01T00:00:00Z'), type: 'devlake' }
    await test.database.kysely.insertInto('_devlake_api_keys').values(row).execute()
    const [finding] = await checkApiKeys(test.database)
    expect(finding).toMatchObject({ state: 'warning', message: expect.stringContaining('grafana') })
    expect(finding?.message).not.toContain('digest')
  })

  it('finds a schedule that nobody follows, and that no server runs, and ends with 1', async () => {
    const environment = { DB_URL: test.url, DATA_FOLDER: dataFolder, ENCRYPTION_SECRET: SECRET }
    const idle = await runCli(['doctor', '--json'], environment)
    expect(JSON.parse(idle.output).findings).toContainEqual(
      expect.objectContaining({ check: 'runner', state: 'warning', message: expect.stringContaining('no server') }),
    )
    expect(idle.code).toBe(0)

    const { blueprint } = await services().projects.create({ name: 'shop' })
    const ticked = { ticked_at: new Date(Date.now() - 3 * 86_400_000) }
    const ticks = test.database.kysely.updateTable('_weir_blueprint_ticks').set(ticked)
    await ticks.where('blueprint_id', '=', blueprint?.id ?? 0).execute()
    const [stale] = await checkSchedule(services(), test.database)
    expect(stale).toMatchObject({
      state: 'bad',
      message: expect.stringMatching(/^stale: the run of .* was not started/),
    })
    const soonAfter = new Date(ticked.ticked_at.getTime() + 60_000)
    expect((await checkSchedule(services(), test.database, soonAfter))[0]).toMatchObject({ state: 'good' })

    const { code, output } = await runCli(['doctor'], environment)
    expect(output).toMatch(/^bad +runner: no server takes runs/m)
    expect(output).toMatch(/^bad +schedule of shop-Blueprint: stale/m)
    expect(code).toBe(1)
  })
})
