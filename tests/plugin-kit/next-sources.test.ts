/** Collecting features that future sources need, each with a made-up source. */
import { expect, it } from 'vitest'
import { readAll } from '../../src/database/read.ts'
import { settingsTables } from '../../src/plugin-kit/task/settings-tables.ts'
import { describeEachDatabase } from '../support/databases.ts'
import { events, madeUpSpec, steps, useMadeUp } from './made-up.ts'

const NOW = Date.parse('2026-06-01T12:00:00Z')

describeEachDatabase('sources to come', (test) => {
  const { start, run, ids, gaps, receipt } = useMadeUp(test)

  it('whose times are numbers, and whose unfinished ones have pages of their own', async () => {
    const source = await start()
    source.now = () => NOW
    const all = Array.from({ length: 12 }, (_, index) => ({
      id: index + 1,
      run: index < 9 ? 1 : 2,
      state: index < 9 ? 'done' : 'running',
      started: NOW - (20 - index) * 3_600_000,
    }))
    source.instead = ({ path, query }) => {
      const [, of] = /^\/runs\/(\d+)\/steps$/.exec(path) ?? []
      const list = of ? all.filter((step) => step.run === Number(of)) : all.toReversed()
      const first = Number(query.get('offset'))
      return path.endsWith('/steps')
        ? { body: { items: list.slice(first, first + Number(query.get('limit'))) } }
        : undefined
    }
    await run(['Steps'])
    const [stored] = await readAll(test.database, { table: steps, where: { id: 1 } })
    expect(stored?.started).toEqual(new Date(NOW - 20 * 3_600_000))
    for (const step of all) step.state = 'done'
    source.asked.length = 0
    await run(['Steps'])
    // One page of the list, and the steps of the three that were running, two of them and one, side by side.
    expect(source.asked.map((path) => path.split('?')[0]).sort()).toEqual([
      '/boards/7/steps',
      '/runs/2/steps',
      '/runs/2/steps',
    ])
    expect(await readAll(test.database, { table: steps, where: { state: 'running' } })).toEqual([])
  })

  it('that hand out no more than so many, of one moment too: split by time, then by something else, then a gap', async () => {
    const source = await start()
    source.now = () => NOW
    const { connections } = settingsTables(madeUpSpec)
    await test.database.kysely.updateTable(connections.name).set({ time_zone: 'Europe/Berlin' }).execute()
    const at = (id: number, happened: string, colour = 'red') => ({ id, happened, colour })
    // Without a zone: two hours ahead of UTC in summer.
    const all = [
      ...Array.from({ length: 8 }, (_, index) => at(index + 1, `2026-05-${String(index + 10)} 10:00:00`)),
      ...Array.from({ length: 9 }, (_, index) => at(index + 20, '2026-05-20 10:00:00', 'red')),
      ...Array.from({ length: 12 }, (_, index) => at(index + 30, '2026-05-20 10:00:00', 'blue')),
      at(90, '0000-00-00 00:00:00'),
    ]
    const utc = (happened: string) =>
      happened.startsWith('0000') ? 0 : Date.parse(`${happened.replace(' ', 'T')}+02:00`)
    const tooLong: string[] = []
    source.instead = ({ path, query }) => {
      if (!path.endsWith('/events')) return undefined
      const [from, before] = [Date.parse(query.get('from') ?? ''), Date.parse(query.get('before') ?? '')]
      if (before - from > 7 * 24 * 3_600_000) tooLong.push(String(query))
      const found = all.filter(({ happened, colour }) => {
        const time = Math.max(utc(happened), Date.parse('2026-05-02T00:00:00Z'))
        return time >= from && time < before && (!query.has('colour') || query.get('colour') === colour)
      })
      const first = Number(query.get('offset'))
      if (first >= 10) return { status: 422, body: { message: 'no further' } }
      return { body: { total: found.length, items: found.slice(first, first + Number(query.get('limit'))) } }
    }
    await run(['Events'])
    expect(tooLong).toEqual([])
    const stored = await ids(events)
    expect(stored.filter((id) => id < 30 || id === 90)).toEqual([
      1,
      2,
      3,
      4,
      5,
      6,
      7,
      8,
      ...Array.from({ length: 9 }, (_, index) => index + 20),
      90,
    ])
    expect(stored.filter((id) => id >= 30 && id < 90)).toHaveLength(10)
    expect(await receipt('events')).toMatchObject({ status: 'gap' })
    expect(await gaps()).toMatchObject([
      {
        kind: 'capped',
        missing: 2,
        reason: expect.stringMatching(/10 of 12 records at 2026-05-20T08:00:00.000Z \(blue\)/),
      },
    ])
    const rows = new Map((await readAll(test.database, { table: events })).map((row) => [Number(row.id), row.happened]))
    expect(rows.get(1)).toEqual(new Date('2026-05-10T08:00:00Z'))
    expect(rows.get(90)).toBeNull()
  })
})
