/** An abort removes everything of the switch and keeps everything that others need. */
import { expect, test } from 'vitest'
import { createSwitch } from '../../traffic/engine/store.ts'
import type { Plan } from '../../traffic/model/plan.ts'
import { describeOneWithTables } from '../support/databases.ts'
import { setStage } from './support/stage.ts'

const MODE = 'alb.ingress.kubernetes.io/multi-cluster-target-group'

describeOneWithTables('after an abort', (database) => {
  const stage = setStage(database)
  const { start, go, shift } = stage
  const ingresses = () =>
    [stage.world.current, stage.world.target].map((cluster) => cluster.get('Ingress', 'shop', 'web')!)
  const modes = () => ingresses().map(({ metadata }) => metadata.annotations[MODE])
  const annotations = () => ingresses().map(({ metadata }) => structuredClone(metadata.annotations))

  test('both Ingresses are as they were, also after a way there and back', async () => {
    const row = await start()
    const before = annotations()
    await shift(row, 2)
    expect(modes()).toEqual(['true', 'true'])
    await go(row, 'rollback')
    await go(row, 'prepare')
    await go(row, 'rollback')
    await go(row, 'abort', stage.confirmed())
    expect(annotations()).toEqual(before)
  })

  test('an Ingress that was in multi-cluster mode before stays in it', async () => {
    const row = await start()
    for (const cluster of [stage.world.current, stage.world.target]) {
      const ingress = structuredClone(cluster.get('Ingress', 'shop', 'web')!)
      ingress.metadata.annotations[MODE] = 'true'
      cluster.seed(ingress, 'kubectl-edit')
    }
    await go(row, 'prepare')
    await go(row, 'abort', stage.confirmed())
    expect(modes()).toEqual(['true', 'true'])
  })

  test('who has to confirm it reads what it deletes, and nothing else', async () => {
    const row = await start((plan) => (plan.cleanup.currentIngress = 'delete-ingress'))
    await go(row, 'prepare')
    await expect(go(row, 'abort')).rejects.toThrow(
      /^This deletes the binding and the target group of shop-web\. Confirm/,
    )
  })

  test('what another switch on the same Ingress needs stays', async () => {
    await start(undefined, ['web', 'cart'])
    const { whole } = stage.world
    if (!('routes' in whole)) throw new Error('expected a plan of routes')
    const planOf = (index: number): Plan => ({ ...whole, name: `only-${index}`, routes: [whole.routes[index]!] })
    const [first, second] = await Promise.all(
      [0, 1].map((index) => createSwitch(database.database, planOf(index), 'ada')),
    )
    await go(first!, 'prepare')
    await go(second!, 'prepare')
    await go(first!, 'abort', { confirm: 'only-0' })
    expect(modes()).toEqual(['true', 'true'])
    // The second switch did not set the mode, so its abort leaves the annotation in place.
    await go(second!, 'abort', { confirm: 'only-1' })
    expect(modes()).toEqual(['true', 'true'])
  })
})
