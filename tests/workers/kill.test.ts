import { sql } from 'kysely'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { isFinished } from '../../src/control-plane/runs/states.ts'
import { type FakeFleet, startFakeFleet } from '../fake-fleet/fake-fleet.ts'
import { until } from '../pipelines/support/test-control.ts'
import { describeEachWithTables } from '../support/databases.ts'
import { addBoards, type Fleet, type Member, openFleet } from './support/fleet.ts'

const isFull = process.env.FULL_SIZE === 'true'
const SCOPES = isFull ? 200 : 24
const WORKERS = isFull ? 4 : 3
const KILLS = isFull ? 12 : 3
const CONCURRENCY = 4

describeEachWithTables('workers that are killed', (test) => {
  let vendor: FakeFleet
  let fleet: Fleet

  beforeAll(async () => {
    vendor = await startFakeFleet()
    fleet = await openFleet({ url: test.url, database: test.database })
  })
  afterAll(async () => {
    await fleet?.close()
    vendor?.close()
  })

  it('collect everything once, within the budget', { timeout: isFull ? 600_000 : 240_000 }, async () => {
    const { control } = fleet
    vendor.latencyMs = isFull ? 50 : 150
    vendor.limit = isFull ? 400 : 60
    vendor.windowMs = 4000
    const tasks = await addBoards(control, { name: 'killed', endpoint: vendor.url, count: SCOPES })
    await fleet.server()
    const workers = Array.from({ length: WORKERS }, () => fleet.worker({ concurrency: CONCURRENCY }))
    await Promise.all(workers)
    const { id } = await control.services.pipelines.create({ name: 'all', plan: [tasks] })
    const state = () => control.services.pipelines.get(id)
    // Kills are spread over the run by the number of the vendor's answers, so they always happen in the middle.
    const pagesInAll = SCOPES * vendor.pagesPerBoard
    for (let kills = 1; kills <= KILLS; kills++) {
      const moment = (pagesInAll * kills) / (KILLS + 2)
      await until(async () => new Set(vendor.answered).size >= moment)
      const which = Math.floor(Math.random() * workers.length)
      await ((await workers[which]) as Member).kill('SIGKILL')
      workers[which] = fleet.worker({ concurrency: CONCURRENCY })
    }
    await until(async () => isFinished((await state()).status))
    await Promise.all(workers)
    expect(await state()).toMatchObject({ status: 'TASK_COMPLETED', finishedTasks: SCOPES })
    const count = async (table: string) =>
      Number(
        (await sql<{ count: number }>`select count(*) as count from ${sql.id(table)}`.execute(test.database.kysely))
          .rows[0]?.count,
      )
    expect(await count('_raw_fleet_items')).toBe(SCOPES * vendor.itemsPerBoard)
    expect(await count('_tool_fleet_items')).toBe(SCOPES * vendor.itemsPerBoard)
    const pages = new Set(vendor.answered)
    expect(pages.size).toBe(SCOPES * vendor.pagesPerBoard)
    // Only tasks whose worker died request pages again, and only pages that were not stored.
    const repeated = vendor.answered.filter((page, index, all) => all.indexOf(page) !== index)
    const boards = new Set(repeated.map((page) => page.split('/')[0]))
    expect(boards.size).toBeLessThanOrEqual(KILLS * CONCURRENCY)
    expect(vendor.refused).toBe(0)
    expect(await count('_weir_scope_leases')).toBe(0)
  })
})
