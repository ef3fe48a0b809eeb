import { once } from 'node:events'
import { afterEach, beforeAll, expect, test } from 'vitest'
import { prepareDatabase } from '../../src/start/prepare-database.ts'
import { connect } from '../../traffic/engine/connect.ts'
import { act } from '../../traffic/engine/engine.ts'
import type { Request } from '../../traffic/engine/engine-types.ts'
import { createSwitch, getSwitch, journalOf, type SwitchRow } from '../../traffic/engine/store.ts'
import { describeEachWithTables } from '../support/databases.ts'
import { startProgram } from '../support/programs.ts'
import { startWorld, type World } from './support/world.ts'

const CHILD = 'tests/traffic/support/crash-child.ts'

// Dozens of processes are started from it. Those that are killed leave no compile cache for the next one, so one ends by itself first.
beforeAll(() => once(startProgram(CHILD, []), 'close'))

/** Dozens of processes on a machine that may be busy: the limit catches processes that hang, and does not judge speed. */
const LONGEST_MS = 900_000

/** Each engine tests one moment of death. Together they cover every moment that differs. */
const MOMENTS = ['after', 'before-result']

describeEachWithTables('killed and started again', (database) => {
  const moment = MOMENTS.shift()!
  let world: World
  beforeAll(() => prepareDatabase(database.database))
  afterEach(async () => {
    await database.database.kysely.deleteFrom('_weir_traffic_claims').execute()
    await world.close()
  })

  /** Returns how the process ended: the name of the signal, or its exit code. */
  const runChild = (row: SwitchRow, request: Request, open: string) =>
    new Promise<string>((resolve, reject) => {
      const child = startProgram(CHILD, [database.url, row.id, JSON.stringify(request), moment, open], {
        env: { ...process.env, ...world.environment },
        stdio: ['ignore', 'ignore', 'pipe'],
      })
      let errors = ''
      child.stderr.on('data', (chunk) => (errors += chunk))
      child.on('error', reject)
      child.on('close', (code, signal) =>
        code === 0 || signal === 'SIGKILL' ? resolve(signal ?? 'done') : reject(new Error(errors)),
      )
    })

  /** Repeats the action, each time killed a little later, until it completes. Returns the number of kills. */
  async function survive(row: SwitchRow, request: Omit<Request, 'actor'>): Promise<number> {
    for (let kills = 0; ; kills++) {
      const before = (await journalOf(database.database, row.id)).at(-1)!
      const open = before.kind === 'intent' ? before.effect : ''
      if ((await runChild(row, { actor: 'ada', ...request }, open)) === 'done') return kills
      const last = (await journalOf(database.database, row.id)).at(-1)!
      // Killed after the very last entry of the action: there is nothing left to repeat.
      if (last.kind === 'state' && ENDS[request.action]!.includes(last.effect) && last.sequence > before.sequence)
        return kills + 1
    }
  }
  const ENDS: Record<string, readonly string[]> = {
    prepare: ['prepared'],
    advance: ['verified', 'switched'],
    dns: ['dns-switched'],
    cleanup: ['cleaned-up'],
    rollback: ['rolled-back'],
  }

  async function start(): Promise<SwitchRow> {
    world = await startWorld((plan) => {
      plan.steps = [plan.steps[0]!, plan.steps[3]!]
    })
    return createSwitch(database.database, world.plan, 'ada')
  }

  test('at every journal entry from first plan to clean-up', { timeout: LONGEST_MS }, async () => {
    const row = await start()
    let kills = await survive(row, { action: 'prepare' })
    expect(world.liveWeights()).toEqual([100, 0])
    kills += await survive(row, { action: 'advance' })
    expect(world.liveWeights()).toEqual([0, 100])
    kills += await survive(row, { action: 'advance' })
    world.pointDnsAt('target')
    kills += await survive(row, { action: 'dns' })
    kills += await survive(row, { action: 'cleanup', confirm: world.plan.name, skipQuiet: true, reason: 'test' })

    expect((await getSwitch(database.database, row.id)).state).toBe('cleaned-up')
    expect(world.liveWeights()).toBeUndefined()
    expect([...world.elb.groups.values()].some(({ name }) => name === world.plan.targetGroup.name)).toBe(false)
    // No call was made twice.
    expect(world.elb.calls).toEqual(['CreateTargetGroup', 'DeleteTargetGroup'])
    // Four writes: attach, one step, detach, and giving the fields back.
    expect(world.current.calls).toEqual(Array.from({ length: 4 }, () => 'PATCH Ingress web'))
    expect(world.target.calls).toEqual([
      'PATCH Ingress web',
      'PATCH TargetGroupBinding web-switch',
      'DELETE TargetGroupBinding web-switch',
    ])
    expect(kills).toBeGreaterThan(moment === 'after' ? 38 : 15)
    const entries = await journalOf(database.database, row.id)
    for (const { kind, effect } of entries.filter((entry) => entry.kind === 'intent')) {
      expect(
        entries.some((entry) => entry.kind === 'result' && entry.effect === effect),
        `${kind} ${effect}`,
      ).toBe(true)
    }
    expect(await database.database.kysely.selectFrom('cicd_deployments').select('result').execute()).toEqual([
      { result: 'SUCCESS' },
    ])
    console.info(`${kills} kills ${moment}, ${entries.length} journal entries`)
  })

  test('at every journal entry of a rollback', { timeout: LONGEST_MS }, async () => {
    const row = await start()
    Object.assign(process.env, world.environment)
    const engine = { database: database.database, connect, now: () => new Date(), pollMs: 3 }
    await act(engine, row.id, { action: 'prepare', actor: 'ada' })
    await act(engine, row.id, { action: 'advance', actor: 'ada' })
    expect(await survive(row, { action: 'rollback' })).toBeGreaterThan(moment === 'after' ? 7 : 2)
    expect((await getSwitch(database.database, row.id)).state).toBe('rolled-back')
    expect(world.liveWeights()).toEqual([100, 0])
    expect(world.current.calls).toHaveLength(3)
  })
})
