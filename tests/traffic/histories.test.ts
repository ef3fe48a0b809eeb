/**
 * Random sequences of events on a switch, and whether every report about it agrees afterwards. FULL_SIZE=true runs many more.
 * HISTORIES=n and FAST_CHECK_SEED=n choose them.
 */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { SwitchRow } from '../../traffic/engine/store.ts'
import { TrafficError } from '../../traffic/model/finding.ts'
import { describeEachWithTables } from '../support/databases.ts'
import { agree } from './support/agree.ts'
import { type History, operation, pathOf, perform, targetWeights } from './support/history.ts'
import type { RouteName } from './support/many-routes.ts'
import { setStage, withGates } from './support/stage.ts'

const HISTORIES = Number(process.env.HISTORIES ?? (process.env.FULL_SIZE ? 200 : 12))
/** First a plan with a single route without a name. Then several routes, related in every possible way. */
const ROUTES: readonly (readonly RouteName[])[] = [[], ['web', 'cart'], ['web', 'media'], ['web', 'cart', 'admin']]

/** The plan waits a second for each effect, and a busy machine may be slower. Then the work is repeated, as a person would do. */
async function persist<T>(work: () => Promise<T>): Promise<T> {
  for (let attempts = 1; ; attempts++) {
    try {
      return await work()
    } catch (error) {
      if (!(error instanceof TrafficError) || error.trouble !== 'timeout' || attempts === 30) throw error
    }
  }
}

describeEachWithTables('histories of a switch', (database) => {
  const stage = setStage(database)
  const freeLease = (id: string) =>
    database.database.kysely
      .updateTable('_weir_traffic_switches')
      .set({ lease_holder: null, lease_until: null })
      .where('id', '=', id)
      .execute()

  const giveUp = async (on: typeof stage, row: SwitchRow) => {
    const before = await on.now(row)
    return before.state === 'aborted' ? before : on.go(row, 'abort', on.confirmed())
  }

  test('whatever happens, a rollback leads back, and nobody gets weight without the alarm', {
    timeout: 3_600_000,
  }, async () => {
    let count = 0
    await fc.assert(
      fc.asyncProperty(
        fc.boolean(),
        fc.boolean(),
        fc.nat({ max: 3 }),
        fc.constantFrom(...ROUTES),
        fc.array(operation, { minLength: 3, maxLength: 9 }),
        async (isBack, isSticky, steps, routes, operations) => {
          if (count++ > 0) await stage.end()
          const row = await stage.start((plan) => {
            plan.verifyTimeoutSeconds = 1
            if (!isSticky) plan.stickiness = { enabled: false, atFinalStep: 'disable' }
            if (isBack) withGates(plan)
          }, routes)
          const names = new Set(stage.world.routes.map(({ current }) => current.ingress.name))
          const originals = [...names].map((name) => structuredClone(stage.ingress(name)))
          await persist(() => stage.go(row, 'prepare'))
          for (let step = 0; step < steps; step++) await persist(() => stage.go(row, 'advance'))
          const history: History = { stage, row, freeLease: () => freeLease(row.id), isAway: false, paths: [] }
          for (const step of operations) await perform(history, step)

          // The faults end: everything can be reached again.
          stage.world.current.intercept = () => undefined
          stage.world.elb.intercept = () => undefined
          stage.world.currentController.isPaused = false
          stage.engine = { ...stage.engine, now: () => stage.clock }
          stage.world.currentController.reconcile()
          await agree(stage, row)
          if (['aborted', 'cleaning'].includes((await stage.now(row)).state)) {
            // After an abort, nothing of the switch may be left.
            expect((await persist(() => giveUp(stage, row))).state).toBe('aborted')
          } else {
            expect((await persist(() => stage.go(row, 'rollback'))).state).toBe('rolled-back')
            await agree(stage, row)
          }
          expect(targetWeights(stage)).toEqual([])
          stage.world.currentController.reconcile()
          expect(targetWeights(stage)).toEqual([])
          expect((await persist(() => giveUp(stage, row))).state).toBe('aborted')
          await agree(stage, row)
          for (const original of originals) {
            const { name } = original.metadata
            for (const { route, path } of history.paths)
              if (route.current.ingress.name === name) original.spec.rules[0].http.paths.push(pathOf(route, path))
            expect(stage.ingress(name).spec).toEqual(original.spec)
            expect(stage.ingress(name).metadata.annotations).toEqual(original.metadata.annotations)
          }
          for (const route of stage.world.routes) {
            expect(stage.group(route)).toBeUndefined()
            expect(stage.world.target.get('TargetGroupBinding', 'shop', route.binding.name)).toBeUndefined()
          }
        },
      ),
      {
        numRuns: HISTORIES,
        // In these examples the controller is often away, which only a look at the rules themselves shows.
        examples: [
          // Nobody reconciles and the webhook refuses, and yet the rules go back.
          [false, false, 2, [], [['controller', true], ['refused writes', 403, 4, 0], ['act', 'rollback'], ['watch']]],
          [false, false, 1, [], [['hand-made weights', 30, 0], ['act', 'advance'], ['watch']]],
          [
            false,
            false,
            1,
            [],
            [
              ['act', 'rollback'],
              ['kill', 'abort', 9],
              ['clock', 120],
            ],
          ],
          [false, false, 2, [], [['controller', true], ['act', 'rollback'], ['watch']]],
          // One route of three cannot be written while all of them go back.
          [false, false, 2, ROUTES.at(-1)!, [['refused writes', 403, 1, 2], ['act', 'rollback'], ['watch']]],
        ],
        seed: Number(process.env.FAST_CHECK_SEED ?? 21),
        endOnFailure: !process.env.FULL_SIZE,
      },
    )
    console.info(`${count} histories, ${Math.round(process.cpuUsage().user / 1e6)} s of processor time`)
  })
})
