import { beforeAll, expect, it } from 'vitest'
import { describeEachDatabase } from '../../../tests/support/databases.ts'
import { migrate } from '../../database/migrate.ts'
import { requestBudgets } from '../../system/workers.ts'
import type { BudgetStore, QuotaReport } from '../http/index.ts'
import { databaseBudgets } from './database-budgets.ts'

const HOUR = 3_600_000
const asking: QuotaReport = { window: 0, ended: 0, silent: 0, told: undefined, probe: 'none', wantsMore: true }
const telling = { ...asking, wantsMore: false }

describeEachDatabase('a budget that processes share', (test) => {
  let budgets: BudgetStore
  beforeAll(async () => {
    await migrate(test.database, [requestBudgets])
    budgets = databaseBudgets(test.database)
  })
  const row = async (name: string) =>
    test.database.kysely.selectFrom(requestBudgets.name).selectAll().where('name', '=', name).executeTakeFirstOrThrow()
  /** Does the same as a process that finds out the remaining quota. */
  async function begin(name: string, remaining: number, resetsInMs = HOUR) {
    const { window, granted, isProbe } = await budgets.ask(name, asking)
    expect({ granted, isProbe }).toEqual({ granted: 1, isProbe: true })
    await budgets.ask(name, { ...telling, window, ended: 1, probe: 'told', told: { remaining, resetsInMs } })
  }

  it('is found out by one, while the others wait', async () => {
    const answers = await Promise.all(Array.from({ length: 5 }, () => budgets.ask('found out', asking)))
    expect(answers.filter(({ granted }) => granted === 1).length).toBe(1)
    expect(answers.filter(({ granted, askAgainInMs = 0 }) => granted === 0 && askAgainInMs > 0).length).toBe(4)
  })

  it('is spent by all together, and not once more', async () => {
    await begin('together', 57)
    let sent = 0
    async function work() {
      for (;;) {
        const { granted } = await budgets.ask('together', asking)
        if (granted === 0) return
        sent += granted
      }
    }
    await Promise.all([work(), work(), work()])
    expect(sent).toBe(57)
    expect(await row('together')).toMatchObject({ remaining: 57, reserved: 57 })
  })

  it('has again what was reserved and not used, and less when the source says less', async () => {
    await begin('again', 100)
    const { granted, window } = await budgets.ask('again', asking)
    expect(granted).toBe(10)
    // Two requests were sent; somebody else has used the same credential.
    const told = { remaining: 50, resetsInMs: HOUR }
    await budgets.ask('again', { ...telling, window, ended: 10, told })
    expect(await row('again')).toMatchObject({ remaining: 50, reserved: 0 })
    // One answer said nothing about the quota: the request may have counted.
    const { window: same } = await budgets.ask('again', asking)
    await budgets.ask('again', { ...telling, window: same, ended: 5, silent: 1 })
    expect(await row('again')).toMatchObject({ remaining: 49, reserved: 0 })
  })

  it('begins again with the next window of the source, whatever was reserved in the last', async () => {
    await begin('window', 3, -5000)
    const { isProbe, window } = await budgets.ask('window', asking)
    expect(isProbe).toBe(true)
    await budgets.ask('window', { ...telling, window: 1, ended: 3 })
    const told = { remaining: 20, resetsInMs: HOUR }
    await budgets.ask('window', { ...telling, window, ended: 1, probe: 'told', told })
    expect(await row('window')).toMatchObject({ remaining: 20, reserved: 0 })
  })

  it('is asked for again when whoever wanted to find out got no answer, and is none where the source has none', async () => {
    const { window } = await budgets.ask('failed', asking)
    await budgets.ask('failed', { ...telling, window, ended: 1, silent: 1, probe: 'failed' })
    const second = await budgets.ask('failed', asking)
    expect(second).toMatchObject({ granted: 1, isProbe: true })
    await budgets.ask('failed', { ...telling, window: second.window, ended: 1, silent: 1, probe: 'unlimited' })
    expect(await budgets.ask('failed', asking)).toMatchObject({ granted: 20, isProbe: false })
  })

  it('spaces what processes book at the same moment', async () => {
    const places = await Promise.all(Array.from({ length: 4 }, () => budgets.book('pace', 2, 60_000)))
    const sorted = places.sort((one, other) => one - other)
    // The first booking found none before it; each of the others comes after two starts of an earlier booking.
    const gaps = sorted.slice(2).map((place, index) => place - (sorted[index + 1] as number))
    expect(sorted[0]).toBeLessThan(0)
    for (const gap of gaps) expect(Math.abs(gap - 120_000)).toBeLessThan(5000)
  })
})
