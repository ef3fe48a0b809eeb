/** The page and the terminal report the state of the live rules. */
import { globSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { describeStatus } from '../../src/cli/traffic/status-text.ts'
import { migrate, schemaVersions } from '../../src/database/migrate.ts'
import { FIRST_LISTED } from '../../src/database/schema-versions.ts'
import { EFFECTS, journalSentence } from '../../traffic/engine/journal-words.ts'
import { reverseSwitch } from '../../traffic/engine/reverse.ts'
import { switchStatus } from '../../traffic/engine/status.ts'
import { describeSwitch, type SwitchRow } from '../../traffic/engine/store.ts'
import { ElbError } from '../fake-aws/fake-elbv2.ts'
import { describeOneWithTables } from '../support/databases.ts'
import { setStage } from './support/stage.ts'

test('every effect has words of its own', () => {
  const folder = new URL('../../traffic/', import.meta.url)
  const names = globSync('{effects,engine,gates,gitops}/*.ts', { cwd: folder })
    .filter((file) => !file.endsWith('.test.ts'))
    .flatMap((file) =>
      [...readFileSync(new URL(file, folder), 'utf8').matchAll(/\bname: '([a-z]+(?:-[a-z]+)*)',?\n/g)].map(
        ([, name]) => name!,
      ),
    )
  expect(names.length).toBeGreaterThan(25)
  expect(names.filter((name) => !(name in EFFECTS))).toEqual([])
})

describeOneWithTables('how a switch stands', (database) => {
  const stage = setStage(database)
  const { start, go, shift, now, setWeights } = stage
  const look = async (row: SwitchRow) => switchStatus(stage.engine, await now(row))
  const statuses = async (row: SwitchRow) => (await look(row)).steps.map(({ status }) => status)

  test('from draft to finished: one headline, and steps that are done when they are in force', async () => {
    const row = await start((plan) => {
      plan.steps[1]!.dwellSeconds = 600
      plan.steps[1]!.gates = [{ kind: 'targetsHealthy', minHealthy: 2, minRatio: 0, failureLimit: 1 }]
    })
    const headline = async () => (await look(row)).headline
    expect([await headline(), await statuses(row)]).toEqual(['draft, 100 % blue', ['ahead', 'ahead', 'ahead', 'ahead']])
    await go(row, 'prepare')
    expect([await headline(), (await statuses(row))[0]]).toEqual(['prepared, 100 % blue', 'in-force'])
    await go(row, 'advance')
    expect(await look(row)).toMatchObject({
      headline: 'shifting, 90 % blue, 10 % green',
      step: 'step 1 of 3 (90/10)',
      routes: [{ route: 'web', planned: '90/10', isAsPlanned: true, says: '90/10 on 1 rule; planned 90/10' }],
      gates: [{ verdict: 'pass', message: '2 of 2 targets are healthy', asks: 'at least 2 targets are healthy' }],
      next: {
        says: 'Step 2 of 3 (50/50) comes when somebody advances, in 10 min at the earliest.',
        at: new Date(stage.clock.getTime() + 600_000),
      },
      drift: null,
    })
    expect(await statuses(row)).toEqual(['passed', 'in-force', 'ahead', 'ahead'])
    stage.clock = new Date(stage.clock.getTime() + 600_000)
    for (let step = 2; step < 5; step++) await go(row, 'advance')
    expect([await headline(), (await look(row)).next.says]).toEqual([
      'switched, 100 % green',
      'Move the record of shop.example.com to the load balancer of green, then confirm DNS.',
    ])
    stage.world.pointDnsAt('target')
    await go(row, 'dns')
    expect(await headline()).toBe('DNS switched, DNS leads to green, at the old load balancer 100 % green')
    await go(row, 'cleanup', stage.confirmed())
    expect([await headline(), await statuses(row)]).toEqual([
      'finished, 100 % green',
      ['passed', 'passed', 'passed', 'passed'],
    ])
    stage.world.pointDnsAt('current')
  })

  test('an abort ends in a state of its own, which has nothing to reverse, and its name is free again', async () => {
    const row = await start()
    await shift(row, 1)
    await go(row, 'rollback')
    expect((await look(row)).headline).toBe('rolled back, 100 % blue')
    await go(row, 'abort', stage.confirmed())
    expect(await look(row)).toMatchObject({
      headline: 'aborted, 100 % blue',
      next: { says: 'Nothing: the switch is over.' },
    })
    expect(describeSwitch(await now(row)).actions).toEqual([])
    await expect(reverseSwitch(stage.engine, await now(row), 'ada')).rejects.toThrow('nothing to reverse')
    await expect(go(row, 'rollback')).rejects.toThrow('It was aborted: all traffic is on the current cluster')
  })

  test('weights that somebody set in AWS are what is told, and the step is not in force', async () => {
    const row = await start()
    await shift(row, 2)
    setWeights(30, 70)
    const status = await look(row)
    expect(status).toMatchObject({
      headline: 'shifting, 30 % blue, 70 % green',
      drift: 'Route web: 30/70 on 1 rule; planned 50/50, which is not in force.',
    })
    expect(await statuses(row)).toEqual(['passed', 'passed', 'not-in-force', 'ahead'])
    expect(describeStatus(describeSwitch(await now(row)), status)).toContain(
      ': shifting, 30 % blue, 70 % green\n  step 2 of 3 (50/50) is not in force\n  live: 30/70 on 1 rule; planned 50/50, which is not in force',
    )
  })

  test('a step whose rules do not follow is under way, and what is live stays the headline', async () => {
    const row = await start((plan) => (plan.verifyTimeoutSeconds = 1))
    await shift(row, 1)
    stage.world.currentController.isPaused = true
    await expect(go(row, 'advance')).rejects.toThrow('rule-verified')
    expect(await look(row)).toMatchObject({ headline: 'paused, 90 % blue, 10 % green', step: 'step 2 of 3 (50/50)' })
    expect(await statuses(row)).toEqual(['passed', 'passed', 'under-way', 'ahead'])
  })

  test('rules that give the target nothing are told so, and what cannot be read is not claimed', async () => {
    const row = await start((plan) => (plan.verifyTimeoutSeconds = 1))
    await shift(row, 3)
    setWeights(100, 0)
    expect((await look(row)).headline).toBe('shifting, 100 % blue')
    setWeights(0, 100)
    stage.engine = { ...stage.engine, connect: () => Promise.reject(new Error('the key is gone')) }
    expect(await look(row)).toMatchObject({
      headline: 'shifting, what the load balancer does is not known',
      problem: 'the key is gone',
      steps: [{}, {}, {}, { status: 'not-known' }],
    })
  })

  test('routes stand apart, also one that cannot be read', async () => {
    const row = await start(undefined, ['web', 'admin'])
    await shift(row, 1)
    setWeights(100, 0, stage.world.routes[1])
    const apart = await look(row)
    expect(apart.headline).toBe('shifting, web: 90 % blue, 10 % green; admin: 100 % blue')
    expect(apart.share).toEqual({ least: 0, most: 0.1 })
    expect(apart.routes.map(({ isAsPlanned }) => isAsPlanned)).toEqual([true, false])
    const { name } = stage.world.routes[1]!.targetGroup
    stage.world.elb.intercept = (action, parameters) =>
      action === 'DescribeTargetGroups' && JSON.stringify([...parameters]).includes(name)
        ? new ElbError('AccessDenied', 'no')
        : undefined
    const status = await look(row)
    expect(status.headline).toBe('shifting, web: 90 % blue, 10 % green; admin: not known')
    expect(status.share).toBeNull()
  })

  test('the journal reads as sentences, with the numbers of the steps', async () => {
    const row = await start()
    await shift(row, 1)
    const says = (await stage.journal(row)).map((entry) => journalSentence(entry, stage.world.plan))
    expect(says).toContain('Began step 1 of 3 (90/10).')
    expect(says).toContain('Step 1 of 3 (90/10) is in force.')
    expect(says).toContain('Every rule of the load balancer has the weights.')
    for (const sentence of says) expect(sentence).toMatch(/^[A-Z].*[.:)]$/s)
    expect(says.filter((sentence) => /^(Began to do|Done:)/.test(sentence))).toEqual([])
  })

  test('a switch that an older Weir aborted is not called finished any more', async () => {
    const { kysely } = database.database
    const row = await start()
    await go(row, 'prepare')
    await go(row, 'abort', stage.confirmed())
    await kysely.updateTable('_weir_traffic_switches').set({ state: 'cleaned-up' }).where('id', '=', row.id).execute()
    await kysely
      .updateTable('_weir_traffic_journal')
      .set({ effect: 'cleaned-up' })
      .where('switch_id', '=', row.id)
      .where('effect', '=', 'aborted')
      .execute()
    await kysely.deleteFrom(schemaVersions.name).execute()
    await kysely
      .insertInto(schemaVersions.name)
      // A version from before versions were listed.
      .values({ version: FIRST_LISTED - 1, hash: '', created_at: new Date() })
      .execute()
    await migrate(database.database, [])
    expect((await now(row)).state).toBe('aborted')
  })
})
