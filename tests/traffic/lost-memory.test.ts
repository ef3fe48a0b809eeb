/** Somebody overwrites the stored routes of a switch by hand. */
import { expect, test } from 'vitest'
import { describeSwitch, listSwitches, type SwitchRow } from '../../traffic/engine/store.ts'
import { tick } from '../../traffic/engine/watch.ts'
import { describeOneWithTables } from '../support/databases.ts'
import { setStage, withGates } from './support/stage.ts'
import { ZONE } from './support/world.ts'

describeOneWithTables('a switch whose routes cannot be read', (database) => {
  const stage = setStage(database)
  const { go, shift, journal } = stage
  const forget = ({ id }: SwitchRow, routes: string) =>
    database.database.kysely.updateTable('_weir_traffic_switches').set({ routes }).where('id', '=', id).execute()
  const weightsToTarget = () => Object.values(stage.weights()).map((weights) => weights?.[1] ?? 0)

  test('is listed with its problem, goes no further, and is rolled back by whoever wants it', async () => {
    const row = await stage.start(withGates, ['web', 'cart'])
    await shift(row, 2)
    const shown = async () =>
      (await listSwitches(database.database)).map(describeSwitch).find(({ id }) => id === row.id)
    expect(await shown()).toMatchObject({ targetGroupArns: { web: expect.any(String) }, problem: null })
    for (const text of ['{', '[]', 'null', '{"web":1}']) {
      await forget(row, text)
      expect(await shown()).toMatchObject({ targetGroupArns: {}, problem: expect.stringContaining('cannot be read') })
      await expect(go(row, 'advance')).rejects.toThrow('keeps of its routes cannot be read. Roll back')
    }
    stage.setHealth('unhealthy', stage.world.routes[1])
    expect((await tick(stage.engine, row.id)).state).toBe('rolled-back')
    expect(weightsToTarget()).toEqual([0, 0])
    expect(await journal(row)).toContainEqual(expect.objectContaining({ effect: 'routes-lost', detail: '{"web":1}' }))
    stage.setHealth('healthy', stage.world.routes[1])
    await go(row, 'prepare', { acceptLive: true, reason: 'the rollback wrote it' })
    expect(stage.weights()).toEqual({ web: [100, 0], cart: [100, 0] })
  })

  test('is not called rolled back while a name still leads to the target', async () => {
    const row = await stage.start(
      (plan) => {
        plan.steps = [plan.steps[0]!, plan.steps[3]!]
        plan.dns.route53 = { hostedZoneId: ZONE, txtPrefix: '', txtSuffix: '' }
      },
      ['web', 'admin'],
    )
    await shift(row, 2)
    await expect(go(row, 'dns')).rejects.toThrow('s more')
    await forget(row, '{')
    await expect(go(row, 'rollback')).rejects.toThrow(/resolves to .*Move the record, then repeat/s)
    expect(weightsToTarget()).toEqual([0, 0])
    expect((await tick(stage.engine, row.id)).state).toBe('rolling-back')
    stage.world.pointDnsAt('current')
    expect((await tick(stage.engine, row.id)).state).toBe('rolled-back')
  })
})
