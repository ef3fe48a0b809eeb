import { expect, test } from 'vitest'
import { approve } from '../../traffic/engine/engine.ts'
import { switchStatus } from '../../traffic/engine/status.ts'
import { startWatch, tick } from '../../traffic/engine/watch.ts'
import { describeOneWithTables } from '../support/databases.ts'
import { setStage } from './support/stage.ts'

const LIMIT = { timeout: 240_000 }

describeOneWithTables('a plan that advances by itself', (database) => {
  const stage = setStage(database)
  const { start, go, now } = stage
  const auto = (plan: { advance: 'manual' | 'auto' }) => (plan.advance = 'auto')

  test('it goes from prepared to switched without anybody', LIMIT, async () => {
    const row = await start(auto)
    await go(row, 'prepare')
    const watch = startWatch({ ...stage.engine, watchMs: 5 }, () => {})
    while ((await now(row)).state !== 'switched') await new Promise(setImmediate)
    await watch.stop()
    expect(stage.world.liveWeights()).toEqual([0, 100])
  })

  test('it waits for the dwell time and the gates of the first step, and says so', LIMIT, async () => {
    const row = await start((plan) => {
      auto(plan)
      plan.steps[0]!.dwellSeconds = 60
      plan.steps[0]!.gates = [{ kind: 'approval' }]
    })
    await go(row, 'prepare')
    expect((await tick(stage.engine, row.id)).state).toBe('prepared')
    const { gates, next, secondsLeft } = await switchStatus(stage.engine, await now(row))
    expect(gates).toMatchObject([{ gate: 'approval', verdict: 'pending' }])
    expect([secondsLeft, next.says]).toEqual([
      60,
      'Step 1 of 3 (90/10) comes by itself, in 1 min at the earliest, and only when gate approval passes (now: waits for an approval).',
    ])
    stage.clock = new Date(stage.clock.getTime() + 60_000)
    expect((await tick(stage.engine, row.id)).state).toBe('prepared')
    await approve(stage.engine, row.id, 'ada')
    expect(await tick(stage.engine, row.id)).toMatchObject({ state: 'shifting', step: 1 })
    expect(stage.world.liveWeights()).toEqual([90, 10])
  })

  test('a gate that fails before the first step moves nothing, and nobody says that it is paused', LIMIT, async () => {
    const row = await start((plan) => {
      auto(plan)
      plan.steps[0]!.gates = [{ kind: 'targetsHealthy', minHealthy: 9, minRatio: 0, failureLimit: 1 }]
    })
    await go(row, 'prepare')
    expect((await tick(stage.engine, row.id)).state).toBe('prepared')
    expect((await switchStatus(stage.engine, await now(row))).next.says).toBe(
      'Gate targetsHealthy has failed: 2 of 2 targets are healthy, 9 needed. Nothing moves until it passes.',
    )
    await expect(go(row, 'advance')).rejects.toThrow('No request moves; the switch stays prepared.')
    expect((await now(row)).state).toBe('prepared')
  })

  test('a plan that does not is left where it is', LIMIT, async () => {
    const row = await start()
    await go(row, 'prepare')
    expect((await tick(stage.engine, row.id)).state).toBe('prepared')
    expect(stage.world.liveWeights()).toEqual([100, 0])
  })
})
