/** The source's clock decides what is requested, whatever Weir's clock shows. */
import { afterEach, describe, expect, it, vi } from 'vitest'
import { builds, items, stories, tasks, useMadeUp } from '../../../tests/plugin-kit/made-up.ts'
import { describeEachDatabase } from '../../../tests/support/databases.ts'
import { readAll } from '../../database/read.ts'
import { collectorLatestState } from '../../system/state.ts'

const HOUR = 3_600_000
const MINUTE = 60_000
const REAL = Date.parse('2026-06-01T12:00:00Z')
const iso = (time: number) => new Date(time).toISOString()

describeEachDatabase("the source's clock", (test) => {
  const { start, run, ids, receipt } = useMadeUp(test)
  afterEach(() => vi.useRealTimers())
  /** Sets Weir's clock. The databases and sockets continue with the real one. */
  const setOurs = (time: number) => vi.useFakeTimers({ toFake: ['Date'], now: time })
  const begun = async (raw: string) =>
    (await readAll(test.database, { table: collectorLatestState, where: { raw_data_table: `_raw_madeup_${raw}` } }))[0]
      ?.latest_success_start

  it.each([
    ['two minutes ahead', 2 * MINUTE],
    ['a day ahead', 24 * HOUR],
    ['an hour behind', -HOUR],
  ])('with ours %s, what is made after a run is collected by the next', async (_name, skew) => {
    const source = await start()
    source.stories.push(...items(3))
    source.builds.push(...items(3))
    setOurs(REAL + skew)
    source.now = () => REAL
    await run(['Stories', 'Builds'])
    expect(await begun('stories')).toEqual(new Date(REAL))
    source.stories.push({ id: 10, changed: iso(REAL + 5000) })
    source.builds.push({ id: 10, changed: iso(REAL + 5000) })
    setOurs(REAL + skew + HOUR)
    source.now = () => REAL + HOUR
    source.asked.length = 0
    await run(['Stories', 'Builds'])
    expect(await ids(stories)).toEqual([1, 2, 3, 10])
    expect(await ids(builds)).toEqual([1, 2, 3, 10])
    const asked = new URL(source.asked[0] ?? '', source.url).searchParams.get('since')
    expect(asked).toBe(iso(REAL - 2 * MINUTE))
  })

  it('when ours is set back between two runs, nothing is lost, and no tag says that all is well', async () => {
    const source = await start()
    source.builds.push(...items(8))
    setOurs(REAL + HOUR)
    source.now = () => REAL
    await run(['Builds'])
    setOurs(REAL + MINUTE)
    source.now = () => REAL + MINUTE
    source.builds.push({ id: 20, changed: iso(REAL + 30_000) })
    await run(['Builds'])
    expect(await ids(builds)).toContain(20)
    expect(await begun('builds')).toEqual(new Date(REAL + MINUTE))
  })

  it('a run that is continued asks at last for what changed since it first began', async () => {
    const source = await start()
    source.stories.push(...items(12))
    source.now = () => REAL
    source.instead = ({ query }) => (query.get('page') === '3' ? { status: 503, body: {} } : undefined)
    await run(['Stories'])
    source.now = () => REAL + HOUR
    source.instead = undefined
    source.asked.length = 0
    await run(['Stories'])
    expect(await ids(stories)).toHaveLength(12)
    const last = new URL(source.asked.at(-1) ?? '', source.url).searchParams.get('since')
    expect(last).toBe(iso(REAL - 2 * MINUTE))
    expect(await begun('stories')).toEqual(new Date(REAL + HOUR))
  })

  it('a run that was interrupted more than a day ago is started again, whatever our clock says', async () => {
    const source = await start()
    source.builds.push(...items(12))
    source.now = () => REAL
    source.instead = ({ query }) => (query.get('after') === '10' ? { status: 500, body: {} } : undefined)
    await run(['Builds'])
    source.instead = undefined
    source.now = () => REAL + 25 * HOUR
    source.asked.length = 0
    await run(['Builds'])
    expect(source.asked.map((path) => new URL(path, source.url).searchParams.get('after'))).toContain(null)
    expect(await ids(builds)).toHaveLength(12)
    expect(await begun('builds')).toEqual(new Date(REAL + 25 * HOUR))
  })

  it('rows that arrive late are asked about, whatever the clocks said when they did', async () => {
    const source = await start()
    source.stories.push(...items(3))
    setOurs(REAL + HOUR)
    source.now = () => REAL
    await run(['Stories', 'Tasks'])
    // Changed long ago, but listed only now. By Weir's clock it arrives before the last run began.
    source.stories.push({ id: 9, changed: iso(REAL - 2 * HOUR) })
    setOurs(REAL)
    await run(['Stories'], { fullSync: true })
    source.asked.length = 0
    await run(['Tasks'])
    expect(await ids(tasks)).toEqual([100, 200, 300, 900])
  })

  it('of a source that does not tell its time the newest change counts', async () => {
    const source = await start()
    source.now = null
    source.stories.push(...items(7))
    source.builds.push(...items(7))
    setOurs(REAL + HOUR)
    await run(['Stories', 'Builds'])
    expect(await begun('stories')).toEqual(new Date(source.stories[6]?.changed ?? ''))
    expect(await begun('builds')).toEqual(new Date(source.builds[6]?.changed ?? ''))
    const later = iso(Date.parse(source.stories[6]?.changed ?? '') + 1000)
    source.stories.push({ id: 10, changed: later })
    source.builds.push({ id: 10, changed: later })
    await run(['Stories', 'Builds'])
    expect(await ids(stories)).toContain(10)
    expect(await ids(builds)).toContain(10)
  })

  describe('that jumps', () => {
    it('back is named, and everything is asked for again', async () => {
      const source = await start()
      source.stories.push(...items(3))
      source.now = () => REAL + 24 * HOUR
      setOurs(REAL)
      await run(['Stories'])
      source.stories.push({ id: 10, changed: iso(REAL + MINUTE) })
      source.now = () => REAL + HOUR
      setOurs(REAL + HOUR)
      const { Stories } = await run(['Stories'])
      expect(Stories?.remarks).toEqual([
        expect.stringMatching(/clock of the source went back.*everything is collected again/),
      ])
      expect((await receipt('stories'))?.message).toMatch(/clock of the source went back/)
      expect(await ids(stories)).toEqual([1, 2, 3, 10])
      expect(await begun('stories')).toEqual(new Date(REAL + HOUR))
      expect((await run(['Stories'])).Stories?.remarks).toBeUndefined()
    })

    it('and is right again long after is named, and what it hid is asked for', async () => {
      const source = await start()
      source.builds.push(...items(3))
      source.now = () => REAL + 24 * HOUR
      setOurs(REAL)
      await run(['Builds'])
      source.builds.push({ id: 10, changed: iso(REAL + HOUR) })
      source.now = () => REAL + 48 * HOUR
      setOurs(REAL + 48 * HOUR)
      const { Builds } = await run(['Builds'])
      expect(Builds?.remarks).toEqual([
        expect.stringMatching(/the clock of the source moved 1,440 minutes less than ours/),
      ])
      expect(await ids(builds)).toEqual([1, 2, 3, 10])
    })
  })
})
