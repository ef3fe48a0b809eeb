import type { ResourceRecordSet } from '@aws-sdk/client-route-53'
import { describe, expect, test } from 'vitest'
import { act } from '../../traffic/engine/engine.ts'
import { preview } from '../../traffic/engine/preview.ts'
import type { SwitchRow } from '../../traffic/engine/store.ts'
import { tick } from '../../traffic/engine/watch.ts'
import { ownersIn, registryNames } from '../../traffic/model/external-dns.ts'
import type { Plan } from '../../traffic/model/plan.ts'
import { Route53Error } from '../fake-aws/fake-route53.ts'
import { startFakeDns } from '../fake-dns/fake-dns.ts'
import { describeOneWithTables } from '../support/databases.ts'
import { dying } from './support/history.ts'
import { setStage, times } from './support/stage.ts'
import { ADDRESSES, aliasTo, ZONE } from './support/world.ts'

const driven =
  (fields: { shares?: number[]; txtPrefix?: string } = {}) =>
  (plan: Plan): void => {
    plan.dns.route53 = { hostedZoneId: ZONE, txtPrefix: '', txtSuffix: '', ...fields }
  }
const HOST = 'shop.example.com'

describe('what external-dns calls its own', () => {
  test('stands where its settings say', () => {
    const plain = { txtPrefix: '', txtSuffix: '' }
    expect(registryNames(HOST, plain)).toEqual([HOST, `a-${HOST}`, `aaaa-${HOST}`, `cname-${HOST}`])
    expect(registryNames(HOST, { txtPrefix: 'own.', txtSuffix: '-x' })).toContain('own.a-shop-x.example.com')
    expect(registryNames(HOST, { txtPrefix: '%{record_type}-of-', txtSuffix: '' })).toEqual([
      'a-of-shop.example.com',
      'aaaa-of-shop.example.com',
      'cname-of-shop.example.com',
    ])
  })

  test('says who and for what', () => {
    const text = (Value: string) => [
      { Name: 'a-shop.example.com.', Type: 'TXT' as const, ResourceRecords: [{ Value }] },
    ]
    const value = '"heritage=external-dns,external-dns/owner=blue,external-dns/resource=ingress/shop/web"'
    expect(ownersIn(text(value))).toEqual([{ record: 'a-shop.example.com.', id: 'blue', resource: 'ingress/shop/web' }])
    expect(ownersIn(text('"v=spf1 -all"'))).toEqual([])
  })
})

describeOneWithTables('the record is moved by us', (database) => {
  const stage = setStage(database)
  const { start, go, now, journal } = stage
  const records = () => stage.world.route53.of(ZONE, HOST)
  const aliases = () => records().map(({ AliasTarget }) => AliasTarget?.DNSName)
  const balancer = (side: 'current' | 'target') => `${stage.world.balancers[side].dnsName}.`
  const later = (seconds: number): void => {
    stage.clock = new Date(stage.clock.getTime() + seconds * 1000)
  }
  /** Sends everything to the target cluster, through the old load balancer. */
  async function switched(change: (plan: Plan) => void, seed: readonly ResourceRecordSet[] = []): Promise<SwitchRow> {
    const row = await start((plan) => {
      plan.steps = [plan.steps[0]!, plan.steps[3]!]
      change(plan)
    })
    if (seed.length > 0) stage.world.route53.zones.get(ZONE)!.records = []
    stage.world.route53.seed(ZONE, ...seed)
    await stage.shift(row, 2)
    expect((await now(row)).state).toBe('switched')
    return row
  }
  /** Repeats the action as long as it says that a TTL is not over yet. */
  async function patiently(row: SwitchRow, action: 'dns' | 'rollback'): Promise<SwitchRow> {
    for (let turns = 0; turns < 10; turns++) {
      try {
        return await go(row, action)
      } catch (error) {
        expect((error as Error).message).toMatch(/\d+ s more/)
        later(60)
      }
    }
    throw new Error('never done')
  }

  test('an alias: written, in sync, TTL over, seen by the resolvers, and put back as it was', async () => {
    const row = await switched(driven())
    const before = structuredClone(records())
    stage.world.route53.looksUntilInSync = 3
    await expect(go(row, 'dns')).rejects.toThrow(
      'The record of shop.example.com is changed. Wait 60 s more, until resolvers have forgotten the old one',
    )
    expect(aliases()).toEqual([balancer('target')])
    expect((await now(row)).state).toBe('switched')
    later(59)
    await expect(go(row, 'dns')).rejects.toThrow('Wait 1 s more')
    later(1)
    expect((await go(row, 'dns')).state).toBe('dns-switched')
    expect(stage.world.route53.batches).toEqual([`DELETE A ${HOST}., CREATE A ${HOST}.`])

    await expect(go(row, 'rollback')).rejects.toThrow('weights and record are back, but resolvers may lead')
    // The weights go back first: they were right before the record was.
    const effects = (await journal(row)).filter(({ kind, action }) => kind === 'result' && action === 'rollback')
    expect(effects.map(({ effect }) => effect).slice(-3)).toEqual(['rule-rolled-back', 'dns-record-0', 'dns-in-sync-0'])
    expect(records()).toEqual(before)
    expect(stage.world.liveWeights()).toEqual([100, 0])
    later(60)
    const end = await go(row, 'rollback')
    expect(end.state).toBe('rolled-back')
    expect(end.dns_record).toBeNull()
  })

  test('each host of several routes has its record: moved together, and put back together', async () => {
    const OTHER = 'admin.example.com'
    const row = await start(
      (plan) => {
        plan.steps = [plan.steps[0]!, plan.steps[3]!]
        driven()(plan)
      },
      ['web', 'cart', 'admin'],
    )
    await stage.shift(row, 2)
    const all = () => [HOST, OTHER].flatMap((host) => stage.world.route53.of(ZONE, host))
    const places = () => all().map(({ AliasTarget }) => AliasTarget!.DNSName!.split('-1.')[0])
    const before = structuredClone(all())
    expect(places()).toEqual(['blue', 'blue-admin'])
    // The records do not wait for each other's TTL.
    await expect(go(row, 'dns')).rejects.toThrow(/shop\.example\.com is changed.*\n.*admin\.example\.com is changed/)
    expect(places()).toEqual(['green', 'green-admin'])
    expect(stage.world.route53.batches).toHaveLength(2)
    later(60)
    expect((await go(row, 'dns')).state).toBe('dns-switched')
    await expect(go(row, 'rollback')).rejects.toThrow('s more')
    expect(all()).toEqual(before)
    await tick(stage.engine, row.id)
    expect((await now(row)).state).toBe('rolling-back')
    later(60)
    expect((await tick(stage.engine, row.id)).state).toBe('rolled-back')
    // A record that was restored is forgotten: the next move finds its own way back.
    expect((await now(row)).routes).not.toContain('undo')
  })

  test('the server finishes a rollback when the TTL is over, without an entry for every look', async () => {
    const row = await switched(driven())
    await patiently(row, 'dns')
    await expect(go(row, 'rollback')).rejects.toThrow('s more')
    const entries = (await journal(row)).length
    await tick(stage.engine, row.id)
    await tick(stage.engine, row.id)
    expect(await journal(row)).toHaveLength(entries)
    later(60)
    expect((await tick(stage.engine, row.id)).state).toBe('rolled-back')
  })

  test('share by share with weighted records; the form that stood there comes back at the end', async () => {
    const row = await switched(driven({ shares: [10, 50, 100] }))
    const weights = () => records().map(({ SetIdentifier, Weight }) => [SetIdentifier, Weight])
    const before = structuredClone(records())
    await expect(go(row, 'dns')).rejects.toThrow('Wait 60 s more')
    expect(weights()).toEqual([
      ['blue', 90],
      ['green', 10],
    ])
    later(60)
    await expect(go(row, 'dns')).rejects.toThrow('Wait 60 s more')
    expect(weights()).toEqual([
      ['blue', 50],
      ['green', 50],
    ])
    // From the middle, a rollback restores the original records.
    await expect(go(row, 'rollback')).rejects.toThrow('s more')
    expect(records()).toEqual(before)
    later(60)
    await go(row, 'rollback')
    await stage.shift(row, 2)
    expect((await patiently(row, 'dns')).state).toBe('dns-switched')
    expect(weights()).toEqual([[undefined, undefined]])
    expect(aliases()).toEqual([balancer('target')])
  })

  test('weighted records that stood there keep their names; a CNAME keeps its TTL', async () => {
    const cname = (side: 'current' | 'target', more: object): ResourceRecordSet => ({
      Name: HOST,
      Type: 'CNAME',
      TTL: 30,
      ...more,
      ResourceRecords: [{ Value: `${side === 'current' ? 'blue' : 'green'}-1.eu-central-1.elb.amazonaws.com` }],
    })
    const old = cname('current', { SetIdentifier: 'old', Weight: 255 })
    const row = await switched(driven(), [old, cname('target', { SetIdentifier: 'new', Weight: 0 })])
    const before = structuredClone(records())
    await expect(go(row, 'dns')).rejects.toThrow('Wait 30 s more')
    expect(records().map(({ SetIdentifier, Weight, TTL }) => [SetIdentifier, Weight, TTL])).toEqual([
      ['new', 100, 30],
      ['old', 0, 30],
    ])
    later(30)
    await go(row, 'dns')
    await patiently(row, 'rollback')
    expect(records()).toEqual(before)
  })

  test('every resolver is asked: one that still knows the old address holds the switch', async () => {
    const late = await startFakeDns()
    try {
      const row = await switched((plan) => {
        driven()(plan)
        plan.dns.servers.push(late.address)
      })
      for (const side of ['current', 'target'] as const)
        late.records.set(stage.world.balancers[side].dnsName, ADDRESSES[side])
      late.records.set(HOST, ADDRESSES.current)
      await expect(go(row, 'dns')).rejects.toThrow('Wait 60 s more')
      later(60)
      await expect(go(row, 'dns')).rejects.toThrow(
        `${HOST} resolves to ${ADDRESSES.current} (${late.address} says), not to the load balancer of the target`,
      )
      late.records.set(HOST, ADDRESSES.target)
      expect((await go(row, 'dns')).state).toBe('dns-switched')
    } finally {
      late.close()
    }
  })

  test('what external-dns made is refused before anything is changed, and again before the record is', async () => {
    const owned = (name: string, owner: string): ResourceRecordSet => ({
      Name: name,
      Type: 'TXT',
      TTL: 300,
      ResourceRecords: [
        { Value: `"heritage=external-dns,external-dns/owner=${owner},external-dns/resource=ingress/shop/web"` },
      ],
    })
    const row = await start(driven({ txtPrefix: 'edns-' }))
    stage.world.route53.seed(ZONE, owned('edns-a-shop.example.com', 'blue-dns'))
    await expect(go(row, 'prepare')).rejects.toThrow(
      /TS-D04 dns.route53: external-dns with the owner id blue-dns made the record of shop.example.com for ingress\/shop\/web/,
    )
    expect((await now(row)).state).toBe('draft')
    stage.world.route53.zones.get(ZONE)!.records.pop()
    await stage.shift(row, 4)
    stage.world.route53.seed(ZONE, owned('edns-shop.example.com', 'green-dns'))
    await expect(go(row, 'dns')).rejects.toThrow('green-dns')
    expect(stage.world.route53.batches).toEqual([])
    expect(aliases()).toEqual([balancer('current')])
  })

  test('somebody changed the record: told, nothing overwritten; a rollback overwrites and records it', async () => {
    const row = await switched(driven({ shares: [10, 100] }))
    await expect(go(row, 'dns')).rejects.toThrow('s more')
    const foreign = { ...aliasTo(stage.world, 'target'), SetIdentifier: 'blue', Weight: 7 }
    stage.world.route53.seed(ZONE, foreign)
    later(60)
    await expect(go(row, 'dns')).rejects.toThrow(
      /^Drift: the record of shop.example.com is neither what stood there before nor what Weir wrote\.\n {2}live: .*weight 7/,
    )
    expect(records().find(({ SetIdentifier }) => SetIdentifier === 'blue')?.Weight).toBe(7)
    await patiently(row, 'rollback')
    expect(aliases()).toEqual([balancer('current')])
    const notes = (await journal(row)).filter(({ effect }) => effect === 'drift-overridden')
    expect(notes.map(({ detail }) => detail).join()).toContain('weight 7')
  })

  test('changed between look and write: looked at again', async () => {
    const row = await switched(driven())
    let isChanged = false
    stage.world.route53.intercept = (action) => {
      if (action === 'ChangeResourceRecordSets' && !isChanged) {
        isChanged = true
        const alias = aliasTo(stage.world, 'current')
        stage.world.route53.seed(ZONE, { ...alias, AliasTarget: { ...alias.AliasTarget, EvaluateTargetHealth: false } })
      }
      return undefined
    }
    await expect(go(row, 'dns')).rejects.toThrow('Drift: the record')
    expect(stage.world.route53.batches).toEqual([])
    await expect(go(row, 'dns', { acceptLive: true, reason: 'seen' })).rejects.toThrow('Wait 60 s more')
    expect(aliases()).toEqual([balancer('target')])
  })

  test('throttled, and a zone that is busy with another change: tried again', async () => {
    const row = await switched(driven())
    const busy = times(4, new Route53Error('Throttling', 'Rate exceeded'))
    const prior = times(4, new Route53Error('PriorRequestNotComplete', 'still processing'))
    stage.world.route53.intercept = (action) => busy() ?? (action === 'ChangeResourceRecordSets' ? prior() : undefined)
    expect((await patiently(row, 'dns')).state).toBe('dns-switched')
    expect(stage.world.route53.batches).toHaveLength(1)
  })

  test('without the right to change records: weights are back, and the sentence says what is left', async () => {
    const row = await switched(driven())
    await patiently(row, 'dns')
    stage.world.route53.intercept = (action) =>
      action === 'ChangeResourceRecordSets' ? new Route53Error('AccessDenied', 'not authorized') : undefined
    await expect(go(row, 'rollback')).rejects.toThrow(
      /AWS refused to change records in hosted zone Z0123456789SHOP.*already sends everything to cluster blue/s,
    )
    expect(stage.world.liveWeights()).toEqual([100, 0])
    expect((await now(row)).state).toBe('rolling-back')
    stage.world.route53.intercept = () => undefined
    expect((await patiently(row, 'rollback')).state).toBe('rolled-back')
    expect(aliases()).toEqual([balancer('current')])
  })

  test('given up in the middle: no part of the answers is left on a load balancer that goes', async () => {
    const row = await switched(driven({ shares: [50, 100] }))
    const before = structuredClone(records())
    await expect(go(row, 'dns')).rejects.toThrow('s more')
    expect(records()).toHaveLength(2)
    stage.world.route53.intercept = (action) =>
      action === 'ChangeResourceRecordSets' ? new Route53Error('AccessDenied', 'not authorized') : undefined
    await expect(go(row, 'rollback')).rejects.toThrow('AWS refused to change records')
    await expect(go(row, 'abort', stage.confirmed())).rejects.toThrow('AWS refused to change records')
    expect(stage.group()).toBeDefined()
    stage.world.route53.intercept = () => undefined
    await expect(go(row, 'abort', stage.confirmed())).rejects.toThrow('s more')
    expect(records()).toEqual(before)
    expect((await now(row)).state).toBe('rolling-back')
    later(60)
    expect((await go(row, 'abort', stage.confirmed())).state).toBe('aborted')
    expect(stage.group()).toBeUndefined()
    expect(records()).toEqual(before)
  })

  test('moved by hand before, the record is only confirmed', async () => {
    const row = await switched(driven())
    stage.world.route53.seed(ZONE, aliasTo(stage.world, 'target'))
    stage.world.pointDnsAt('target')
    expect((await go(row, 'dns')).state).toBe('dns-switched')
    expect(stage.world.route53.batches).toEqual([])
    await expect(go(row, 'rollback')).rejects.toThrow('Move the record, then repeat')
  })

  test('a dry run says what it would write and writes nothing', async () => {
    const row = await switched(driven())
    const lines = await preview(stage.engine, await now(row), { action: 'dns' })
    expect(lines).toEqual([expect.stringMatching(/^dns-record-100: would change.*blue-1.*wanted A green-1/)])
    expect(stage.world.route53.batches).toEqual([])
  })

  test('killed at any call on the way there and on the way back', { timeout: 300_000 }, async () => {
    const row = await switched(driven({ shares: [20, 100] }))
    const before = structuredClone(records())
    const free = () =>
      database.database.kysely
        .updateTable('_weir_traffic_switches')
        .set({ lease_holder: null, lease_until: null })
        .where('id', '=', row.id)
        .execute()
    for (const [action, end] of [
      ['dns', 'dns-switched'],
      ['rollback', 'rolled-back'],
    ] as const) {
      for (let calls = 0; (await now(row)).state !== end; calls++) {
        const { engine, died } = dying(stage.engine, calls)
        const attempt = act(engine, row.id, { action, actor: 'ada' }).catch((error: Error) => {
          expect(error.message).toMatch(/\d+ s more/)
          later(60)
        })
        await Promise.race([attempt, died])
        await free()
        expect(calls).toBeLessThan(200)
      }
      if (action === 'dns') expect(aliases()).toEqual([balancer('target')])
    }
    expect(records()).toEqual(before)
    expect(stage.world.liveWeights()).toEqual([100, 0])
  })
})
