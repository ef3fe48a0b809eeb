import { sql } from 'kysely'
import { beforeAll, expect, it } from 'vitest'
import { paint, prepareTestDatabase, testControl } from '../../tests/pipelines/support/test-control.ts'
import { describeEachDatabase } from '../../tests/support/databases.ts'
import type { ControlPlane } from '../control-plane/control-plane.ts'
import { runDueTicks } from './schedule.ts'

const day = (number: number, time = '00:00:00') => new Date(`2030-01-${String(number).padStart(2, '0')}T${time}Z`)

describeEachDatabase('schedule', (test) => {
  let servers: ControlPlane[]
  const [first, second] = [0, 1].map((index) => () => servers[index] as ControlPlane) as [
    () => ControlPlane,
    () => ControlPlane,
  ]
  beforeAll(async () => {
    await prepareTestDatabase(test.database)
    servers = [testControl(test.database), testControl(test.database)]
  })
  const tick = (control: ControlPlane, now: Date) => runDueTicks(control.context, control.startPipeline, now)
  const followed = (id: number, moment: Date) =>
    sql`update _weir_blueprint_ticks set ticked_at = ${moment} where blueprint_id = ${id}`.execute(test.database.kysely)
  const runsOf = async (blueprintId: number) => {
    const { items } = await first().services.pipelines.list({ blueprintId })
    for (const { id } of items) await first().services.pipelines.cancel(id)
    return items.length
  }
  const create = (name: string, values = {}) =>
    first().services.blueprints.create({
      name,
      mode: 'ADVANCED',
      plan: [[paint({ place: name })]],
      cronConfig: '0 0 * * *',
      fullSync: true,
      ...values,
    } as any)

  it('runs a tick once, whichever server sees it, with the policy of the blueprint', async () => {
    const { id } = await create('daily')
    await followed(id, day(1))
    expect(await tick(first(), day(1, '23:59:59'))).toEqual(day(2))
    expect(await runsOf(id)).toBe(0)
    await Promise.all([first(), second(), first(), second()].map((control) => tick(control, day(2, '00:00:01'))))
    const { items } = await first().services.pipelines.list({ blueprintId: id })
    expect(items).toMatchObject([{ name: 'daily', fullSync: true, status: 'TASK_CREATED' }])
    await runsOf(id)
    expect(await tick(second(), day(2, '10:00:00'))).toEqual(day(3))
    expect(await runsOf(id)).toBe(1)
    await first().services.blueprints.remove(id)
  })

  it('runs what was missed while down once, however much it was', async () => {
    const { id } = await create('missed', { cronConfig: '*/5 * * * *' })
    await followed(id, day(1))
    await tick(first(), day(20, '03:02:00'))
    expect(await runsOf(id)).toBe(1)
    expect(await tick(first(), day(20, '03:04:59'))).toEqual(day(20, '03:05:00'))
    await first().services.blueprints.remove(id)
  })

  it('leaves alone what is manual, disabled, or was only just scheduled', async () => {
    const manual = await create('manual', { isManual: true })
    const disabled = await create('disabled', { enable: false })
    const fresh = await create('fresh')
    for (const { id } of [manual, disabled]) await followed(id, day(1))
    await tick(first(), new Date())
    for (const { id } of [manual, disabled, fresh]) expect(await runsOf(id)).toBe(0)
    await first().services.blueprints.update(disabled.id, { enable: true })
    await tick(first(), new Date())
    expect(await runsOf(disabled.id)).toBe(0)
    for (const { id } of [manual, disabled, fresh]) await first().services.blueprints.remove(id)
  })

  it('uses a tick up when the last run still continues', async () => {
    const { id } = await create('slow')
    await first().services.blueprints.trigger(id)
    await followed(id, day(1))
    expect(await tick(first(), day(2, '00:00:01'))).toEqual(day(3))
    expect(await runsOf(id)).toBe(1)
    await tick(first(), day(2, '12:00:00'))
    expect((await first().services.pipelines.list({ blueprintId: id })).count).toBe(1)
    await first().services.blueprints.remove(id)
  })

  it('knows intervals and words', async () => {
    const every = await create('every', { cronConfig: '@every 1h30m' })
    await followed(every.id, day(1))
    expect(await tick(first(), day(1, '01:00:00'))).toEqual(day(1, '01:30:00'))
    await first().services.blueprints.remove(every.id)
    for (const word of ['@daily', '@midnight', '@hourly', '@weekly', '@monthly', '@yearly', '@annually']) {
      const { id } = await create(word, { cronConfig: word })
      await first().services.blueprints.remove(id)
    }
  })
})
