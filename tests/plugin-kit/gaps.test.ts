/** Data that a source does not deliver affects nothing else, is reported, and is requested again. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { readAll } from '../../src/database/read.ts'
import { collectCheckpoints } from '../../src/plugin-kit/raw/collect-tables.ts'
import { settingsTables } from '../../src/plugin-kit/task/settings-tables.ts'
import { collectorLatestState } from '../../src/system/state.ts'
import { describeEachDatabase } from '../support/databases.ts'
import { builds, items, madeUpSpec, stories, tasks, useMadeUp } from './made-up.ts'

describeEachDatabase('collecting with gaps', (test) => {
  const { start, run, ids, gaps, receipt } = useMadeUp(test)
  const states = () => readAll(test.database, { table: collectorLatestState })

  describe('a count that does not add up', () => {
    it('is a gap, asked for again three times, and then left until it changes', async () => {
      const source = await start()
      source.stories.push(...items(7))
      source.spoil = ({ path }, answer) => {
        const body: any = answer.body
        return path.endsWith('/stories') ? { ...answer, body: { ...body, total: body.total + 1 } } : answer
      }
      const { Stories } = await run(['Stories'])
      expect(Stories?.remarks).toEqual([expect.stringMatching(/counts 8 records, 7 arrived .*\/stories/)])
      expect(await ids(stories)).toHaveLength(7)
      expect(await receipt('stories')).toMatchObject({ status: 'gap', expected: 8, received: 7 })
      expect(await states()).toHaveLength(1)

      const asksForAll = async () => {
        source.asked.length = 0
        await run(['Stories'])
        return source.asked.some((path) => path.endsWith('/stories?page=1&per_page=5'))
      }
      expect([await asksForAll(), await asksForAll(), await asksForAll()]).toEqual([true, true, true])
      expect(await asksForAll()).toBe(false)
      expect((await gaps())[0]).toMatchObject({ kind: 'count', missing: 1, list: '' })
      expect((await run(['Stories'])).Stories?.remarks).toEqual([
        expect.stringMatching(/not asked again until it changes/),
      ])

      // The source changes: now more is missing.
      const plain = source.spoil
      source.spoil = (asked, answer) => {
        const { body }: any = plain?.(asked, answer) ?? answer
        return { ...answer, body: { ...body, total: body.total + 1 } }
      }
      await run(['Stories'])
      expect(await gaps()).toMatchObject([{ missing: 2, attempts: 1 }])
      source.spoil = undefined
      expect(await asksForAll()).toBe(true)
      expect(await gaps()).toEqual([])
      expect(await receipt('stories')).toMatchObject({ status: 'complete' })
    })

    it('ends with a full sync that adds up', async () => {
      const source = await start()
      source.stories.push(...items(3))
      source.spoil = (_asked, answer) => ({ ...answer, body: { ...(answer.body as any), total: 9 } })
      await run(['Stories'])
      source.spoil = undefined
      await run(['Stories'], { fullSync: true })
      expect(await gaps()).toEqual([])
    })
  })

  describe('a checkpoint', () => {
    // A permanent failure also fails the second time.
    beforeEach(() => void vi.stubEnv('API_RETRY', '1'))
    afterEach(() => void vi.unstubAllEnvs())

    it.each([400, 404, 410, 422])(
      'that the source refuses with %i is dropped, and the list read again',
      async (status) => {
        const source = await start()
        source.builds.push(...items(12))
        source.instead = ({ query }) => (query.get('after') === '10' ? { status: 503, body: {} } : undefined)
        await run(['Builds'])
        expect(await ids(builds)).toHaveLength(10)
        source.asked.length = 0
        let refusals = 1
        source.instead = ({ query }) =>
          query.get('after') === '10' && refusals-- > 0
            ? { status, body: { message: 'the cursor has expired' } }
            : undefined
        await run(['Builds'])
        // Finally the newest page is read once more, for everything that changed before the list was continued.
        expect(source.asked).toEqual(
          ['10', null, '5', '10', null].map((at) => `/boards/7/builds${at ? `?after=${at}` : ''}`),
        )
        expect(await ids(builds)).toHaveLength(12)
        expect(await receipt('builds')).toMatchObject({ status: 'complete', received: 12, stored: 12 })
      },
    )

    it('under an address that the connection no longer has is dropped as well', async () => {
      const source = await start()
      source.stories.push(...items(12))
      source.instead = ({ query }) => (query.get('page') === '3' ? { status: 503, body: {} } : undefined)
      await run(['Stories'])
      expect(await readAll(test.database, { table: collectCheckpoints })).not.toEqual([])
      const url = 'http://localhost:1/'
      await test.database.kysely
        .updateTable(collectCheckpoints.name)
        .set({ page: JSON.stringify({ size: 5, url: `${url}boards/7/stories?page=3` }) })
        .execute()
      source.instead = undefined
      await run(['Stories'])
      expect(await ids(stories)).toHaveLength(12)
    })

    it('of an older run is nothing to a full sync', async () => {
      const source = await start()
      source.builds.push(...items(12))
      source.instead = ({ query }) => (query.get('after') === '10' ? { status: 503, body: {} } : undefined)
      await run(['Builds'], { fullSync: true })
      source.instead = undefined
      source.asked.length = 0
      await run(['Builds'], { fullSync: true })
      expect(source.asked).toHaveLength(3)
    })

    it('of a run that is given up leaves no tag that vouches for what never came', async () => {
      const source = await start()
      source.builds.push(...items(3))
      await run(['Builds'])
      source.builds.push(...items(12, 100).map((item) => ({ ...item, changed: new Date().toISOString() })))
      source.instead = ({ query }) => (query.get('after') === '10' ? { status: 503, body: {} } : undefined)
      await run(['Builds'])
      source.instead = undefined
      // The run is started again a day later.
      source.now = () => Date.now() + 25 * 3_600_000
      await run(['Builds'])
      expect(await ids(builds)).toHaveLength(15)
    })
  })

  describe('an answer that is no list', () => {
    const answers = {
      'nothing at all': { text: '' },
      'a web page': { text: '<html>We will be right back</html>', headers: { 'content-type': 'text/html' } },
      'an object without a list': { body: {} },
      'a complaint': { body: { errors: ['try later'] } },
      null: { body: null },
    }
    it.each(Object.entries(answers))('but %s is asked for again, and ends no list', async (_name, answer) => {
      const source = await start()
      source.builds.push(...items(12))
      let left = 2
      source.instead = ({ query }) => (query.get('after') === '5' && left-- > 0 ? answer : undefined)
      const { Builds } = await run(['Builds'])
      expect(Builds?.remarks).toBeUndefined()
      expect(await ids(builds)).toHaveLength(12)
      expect(await receipt('builds')).toMatchObject({ status: 'complete', received: 12 })
    })

    it.each(Object.entries(answers))('but %s, for good, is a gap and not complete', async (_name, answer) => {
      const source = await start()
      source.builds.push(...items(12))
      source.instead = ({ query }) => (query.get('after') === '5' ? answer : undefined)
      const { Builds } = await run(['Builds'])
      expect(Builds).toMatchObject({ list: 'lost', remarks: [expect.stringMatching(/builds\?after=5 failed 4 times/)] })
      expect(await receipt('builds')).toMatchObject({ status: 'failed', last_success_at: null })
      expect(await states()).toEqual([])
      source.instead = undefined
      await run(['Builds'])
      expect(await ids(builds)).toHaveLength(12)
      expect(await gaps()).toEqual([])
    })
  })

  describe('one list', () => {
    it.each([403, 404, 451])('that is refused with %i costs itself alone', async (status) => {
      const source = await start()
      source.stories.push(...items(3))
      source.builds.push(...items(3))
      source.instead = ({ path }) =>
        path.endsWith('/builds') ? { status, body: { message: 'not for you' } } : undefined
      const { Builds } = await run(['Builds', 'Stories', 'Tasks'])
      expect(Builds).toMatchObject({ list: 'lost', remarks: [expect.stringContaining('not for you')] })
      expect(await gaps()).toMatchObject([
        { subtask: 'collectBuilds', kind: 'lost', status, address: expect.stringContaining('/boards/7/builds') },
      ])
      expect(await ids(tasks)).toHaveLength(3)
      source.instead = undefined
      await run(['Builds'])
      expect(await ids(builds)).toHaveLength(3)
      expect(await gaps()).toEqual([])
    })

    it('of many that is refused costs itself alone, is asked for again, and then left', async () => {
      const source = await start()
      source.stories.push(...items(4))
      source.instead = ({ path }) => (path === '/stories/2/tasks' ? { status: 403, body: {} } : undefined)
      await run(['Stories', 'Tasks'])
      expect(await ids(tasks)).toEqual([100, 300, 400])
      expect(await gaps()).toMatchObject([{ kind: 'lost', status: 403, input: { story: 2 } }])
      const asked = async () => {
        source.asked.length = 0
        await run(['Tasks'])
        return source.asked
      }
      for (let turn = 0; turn < 3; turn++) expect(await asked()).toContain('/stories/2/tasks')
      expect(await asked()).not.toContain('/stories/2/tasks')
      expect((await receipt('tasks'))?.status).toBe('gap')
      // The record changes.
      source.instead = undefined
      Object.assign(source.stories[1] ?? {}, { changed: new Date(Date.now() + 1000).toISOString() })
      await run(['Stories', 'Tasks'])
      expect(await ids(tasks)).toEqual([100, 200, 300, 400])
      expect(await gaps()).toEqual([])
    })

    it('that is refused in a full sync keeps what is stored of it', async () => {
      const source = await start()
      source.stories.push(...items(4))
      await run(['Stories', 'Tasks'])
      source.instead = ({ path }) => (path === '/stories/2/tasks' ? { status: 403, body: {} } : undefined)
      await run(['Stories', 'Tasks'], { fullSync: true })
      expect(await ids(tasks)).toEqual([100, 200, 300, 400])
    })

    it('after another that is refused stands for all', async () => {
      const source = await start()
      source.stories.push(...items(40))
      source.instead = ({ path }) => (path.endsWith('/tasks') ? { status: 403, body: { message: 'no' } } : undefined)
      await run(['Stories'])
      source.asked.length = 0
      const { Tasks } = await run(['Tasks'])
      expect(source.asked.length).toBeLessThan(40)
      expect(Tasks?.remarks).toHaveLength(1)
      expect(await gaps()).toMatchObject([{ list: '', status: 403 }])
      source.instead = undefined
      await run(['Tasks'])
      expect(await ids(tasks)).toHaveLength(40)
      expect(await gaps()).toEqual([])
    })
  })

  it('a scope that is gone fails, names itself, and keeps what is stored', async () => {
    const source = await start()
    source.stories.push(...items(3))
    await run(['Stories'])
    source.instead = () => ({ status: 404, body: { message: 'Not Found' } })
    await expect(run(['Stories'])).rejects.toThrow(/boards\/7 answers 404: the board is gone.*kept/)
    expect(await ids(stories)).toHaveLength(3)
  })

  it('a token that is refused fails at once', async () => {
    const source = await start()
    source.instead = () => ({ status: 401, body: { message: 'who are you?' } })
    await expect(run(['Stories'])).rejects.toThrow(/accepts none of the credentials/)
    expect(await gaps()).toEqual([])
  })

  it('a source that cannot be reached fails at once', async () => {
    await start()
    const { connections } = settingsTables(madeUpSpec)
    await test.database.kysely.updateTable(connections.name).set({ endpoint: 'http://127.0.0.1:9/' }).execute()
    await expect(run(['Stories'])).rejects.toThrow(/failed 4 times/)
    expect(await gaps()).toEqual([])
  })

  describe('a source', () => {
    it('that repeats a page for ever is stopped, and nothing is lost', async () => {
      const source = await start()
      source.builds.push(...items(12))
      let page = 0
      source.instead = ({ path }) =>
        path.endsWith('/builds') ? { body: { items: source.builds.slice(0, 5), next: `page-${++page}` } } : undefined
      const { Builds } = await run(['Builds'])
      expect(Builds).toMatchObject({ list: 'lost', remarks: [expect.stringMatching(/sent the same page twice/)] })
      expect(source.asked.length).toBeLessThan(5)
      source.instead = undefined
      await run(['Builds'])
      expect(await ids(builds)).toHaveLength(12)
      expect(await receipt('builds')).toMatchObject({ status: 'complete' })
    })

    it('that repeats the same two pages in turn is stopped too', async () => {
      const source = await start()
      let page = 0
      source.instead = () => ({ body: { items: items(5, (page % 2) * 10), next: `page-${++page}` } })
      expect((await run(['Builds'])).Builds?.remarks).toEqual([expect.stringMatching(/sent the same page twice/)])
    })

    it.each([false, true])(
      'that gives its records other ids is named, and all is as there (full sync: %s)',
      async (fullSync) => {
        const source = await start()
        const numbered = (first: number) => items(8, first).map((item, index) => ({ ...item, number: index + 1 }))
        source.stories.push(...numbered(1))
        await run(['Stories'])
        source.stories.splice(0, 8, ...numbered(1001))
        Object.assign(source.stories[3] ?? {}, { changed: new Date().toISOString() })
        const { Stories } = await run(['Stories'], { fullSync })
        expect(Stories?.remarks?.join()).toMatch(
          fullSync ? /seems to have changed the ids/ : /number 4 had the id 4 and has 1004 now/,
        )
        expect(await ids(stories)).toEqual([1001, 1002, 1003, 1004, 1005, 1006, 1007, 1008])
        expect((await run(['Stories'])).Stories?.remarks).toBeUndefined()
      },
    )

    it('that gives its records other ids is also named by a run that was interrupted and resumed', async () => {
      const source = await start()
      source.stories.push(...items(8))
      await run(['Stories'], { timeAfter: new Date('2023-12-01') })
      source.stories.splice(0, 8, ...items(8, 1001))
      const everything = { timeAfter: new Date('2023-01-01') }
      const controller = new AbortController()
      const stopped = run(['Stories'], {
        ...everything,
        signal: controller.signal,
        progress: ({ done }) => done === 5 && controller.abort(new Error('cut off')),
      })
      await expect(stopped).rejects.toThrow('cut off')
      source.asked.length = 0
      const { Stories } = await run(['Stories'], everything)
      expect(source.asked[0]).toContain('page=2')
      expect(Stories?.remarks?.join()).toMatch(/none of the 8 stored records came again, but 8 others did/)
      expect(await ids(stories)).toEqual(items(8, 1001).map(({ id }) => id))
    })

    it("that answers with another board's records is named, and nothing of theirs is stored", async () => {
      const source = await start()
      source.stories.push(...items(3))
      await run(['Stories'])
      source.instead = ({ path }) =>
        path.endsWith('/stories')
          ? { body: { total: 2, items: items(2, 50).map((item) => ({ ...item, board: 8 })) } }
          : undefined
      const { Stories } = await run(['Stories'])
      expect(Stories?.remarks).toEqual([expect.stringMatching(/2 records that do not belong/)])
      expect(await ids(stories)).toEqual([1, 2, 3])
      source.instead = undefined
      source.stories.push(...items(1, 60).map((item) => ({ ...item, changed: new Date().toISOString() })))
      await run(['Stories'])
      expect(await ids(stories)).toEqual([1, 2, 3, 60])
    })
  })
})
