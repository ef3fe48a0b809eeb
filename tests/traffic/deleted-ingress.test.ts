import { expect, test } from 'vitest'
import { actionKey } from '../../traffic/model/action.ts'
import { describeOneWithTables } from '../support/databases.ts'
import { setStage } from './support/stage.ts'
import type { Routes } from './support/world.ts'

const LIMIT = { timeout: 240_000 }
const PREFIX = 'alb.ingress.kubernetes.io/'
const HOW = { uncheckedDns: true, reason: 'test' }

describeOneWithTables('a clean-up that deleted the Ingress and got no further', (database) => {
  const stage = setStage(database)
  const { start, go, shift } = stage

  /** Annotations arrive while the switch is under way. Then the clean-up stops after the Ingress is deleted. */
  async function cleanHalf(routes?: Routes) {
    const row = await start((plan) => {
      plan.cleanup.currentIngress = 'delete-ingress'
      plan.verifyTimeoutSeconds = 2
    }, routes)
    await shift(row, 4)
    stage.edit((object) => {
      object.spec.rules.pop()
      object.metadata.annotations[`${PREFIX}load-balancer-attributes`] = 'idle_timeout.timeout_seconds=120'
      object.metadata.annotations['kubectl.kubernetes.io/last-applied-configuration'] = '{"kind":"Ingress"}'
      object.metadata.annotations['example.com/owner'] = 'team-shop'
    })
    stage.world.pointDnsAt('target')
    await go(row, 'dns')
    const before = structuredClone(stage.ingress())
    stage.world.target.intercept = (method) => (method === 'DELETE' ? 403 : undefined)
    await expect(go(row, 'cleanup', stage.confirmed())).rejects.toThrow('HTTP 403')
    expect(stage.ingress()).toBeUndefined()
    return { row, before }
  }
  const withoutActions = ({ metadata }: any): object =>
    Object.fromEntries(Object.entries(metadata.annotations).filter(([key]) => !key.includes('/actions.')))

  test('rollback makes it as it was at that moment, with all weight on its Service', LIMIT, async () => {
    const { row, before } = await cleanHalf()
    // At no moment may a rule of the new load balancer send traffic to the target.
    const shares: number[] = []
    const put = stage.world.elb.putRule
    stage.world.elb.putRule = (...call) => {
      put(...call)
      shares.push(stage.world.liveWeights()?.[1] ?? 0)
    }
    expect((await go(row, 'rollback', HOW)).state).toBe('rolled-back')
    const after = stage.ingress()
    expect(withoutActions(after)).toEqual(withoutActions(before))
    expect(after.spec).toEqual(before.spec)
    expect(stage.world.liveWeights()).toEqual([100, 0])
    expect(shares).not.toEqual([])
    expect(shares.every((share) => share === 0)).toBe(true)

    stage.world.target.intercept = () => undefined
    expect((await go(row, 'abort', stage.confirmed())).state).toBe('aborted')
    expect(stage.ingress().spec.rules[0].http.paths[0].backend.service).toEqual({ name: 'web', port: { number: 80 } })
    expect(stage.ingress().metadata.annotations['example.com/owner']).toBe('team-shop')
  })

  test('what was kept is forgotten when it is back', LIMIT, async () => {
    const { row } = await cleanHalf()
    expect((await go(row, 'rollback', HOW)).state).toBe('rolled-back')
    const kept = await database.database.kysely
      .selectFrom('_weir_traffic_switches')
      .select('deleted_ingress')
      .where('id', '=', row.id)
      .executeTakeFirstOrThrow()
    expect(kept.deleted_ingress).toBeNull()
  })

  test('where its target group is gone already, it comes back without the action', LIMIT, async () => {
    const { row, before } = await cleanHalf()
    stage.world.elb.deleteGroup(stage.group().arn)
    await database.database.kysely
      .updateTable('_weir_traffic_switches')
      .set({ target_group_arn: null })
      .where('id', '=', row.id)
      .execute()
    expect((await go(row, 'rollback', HOW)).state).toBe('rolled-back')
    expect(stage.ingress().metadata.annotations[actionKey('web-switch')]).toBeUndefined()
    expect(withoutActions(stage.ingress())).toEqual(withoutActions(before))
    expect(stage.ingress().spec.rules[0].http.paths[0].backend.service).toEqual({ name: 'web', port: { number: 80 } })
  })

  test('several routes on one Ingress: all of their actions, none with a share', LIMIT, async () => {
    const { row, before } = await cleanHalf(['web', 'cart', 'admin'])
    expect((await go(row, 'rollback', HOW)).state).toBe('rolled-back')
    expect(stage.ingress().spec).toEqual(before.spec)
    expect(stage.weights()).toEqual({ web: [100, 0], cart: [100, 0], admin: [100, 0] })
    expect(withoutActions(stage.ingress())).toEqual(withoutActions(before))
  })
})
