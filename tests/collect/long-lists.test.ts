/** Lists that are longer than the source's numbered pages. The rest is asked for by time, or reported as a gap. */
import { expect, it } from 'vitest'
import { definePlugin } from '../../src/plugin-kit/define/define-plugin.ts'
import type { Entity } from '../../src/plugin-kit/spec/entity.ts'
import { githubSpec } from '../../src/plugins/github/plugin.ts'
import { describeOneWithTables } from '../support/databases.ts'
import { SMALL, useFake } from './support/fake.ts'
import { domainRows, emptyGithub, NAME, receiptOf, runGithub, storedIds } from './support/github.ts'

/** Replaces the limit of 400 pages, so that a test need not create 40,000 records. */
const MOST_PAGES = 3

function withShortPaging(entity: Entity): Entity {
  const { collect } = entity.spec
  if (!collect?.longList) return entity
  const longList = { ...collect.longList, mostPages: MOST_PAGES }
  return { ...entity, spec: { ...entity.spec, collect: { ...collect, longList } } }
}
const github = definePlugin({ ...githubSpec, entities: githubSpec.entities.map(withShortPaging) })

const about =
  (...labels: string[]) =>
  ({ name }: { name: string }) =>
    labels.some((label) => name.endsWith(` ${label}`))
const pullRequests = about('Pull Requests', 'PR Details')
const listOfPulls = 'github_api_pull_requests'

describeOneWithTables('a list past the last page', (test) => {
  const start = useFake(test)
  const repository = { ...SMALL, issues: 400, pullRequests: 350 }
  const isCapped = { pagingCap: MOST_PAGES * 100 }
  const idsOf = (records: Iterable<{ id: number }>) => [...records].map(({ id }) => String(id)).sort()
  /** Returns the rows with a known author. GitHub says nothing about a deleted author in lists, and calls it `ghost` elsewhere. */
  const rowsWithAuthor = async () => {
    const { pull_requests = [] } = await domainRows(test.database)
    return pull_requests.filter((row) => !['', 'ghost'].includes(JSON.parse(row).author_name))
  }
  const receipt = (raw: string) => receiptOf(test.database, raw)

  /** Runs until this many records have come, and then stops. */
  async function runUntil(count: number, only: ReturnType<typeof about>): Promise<void> {
    const stop = new AbortController()
    const progress = ({ done = 0 }) => {
      if (done >= count) stop.abort()
    }
    await expect(runGithub(test.database, github, { only, signal: stop.signal, progress })).rejects.toThrow()
  }

  it('continues by time of change, and is complete', async () => {
    const fake = await start(repository, isCapped)
    await runGithub(test.database, github, { only: about('Issues') })
    expect((await storedIds(test.database)).issues).toEqual(idsOf(fake.world.repository(NAME).issues))
    expect(await receipt('github_api_issues')).toMatchObject({ status: 'complete', message: '' })
    // Issues and pull requests are 750 in one list: three pages by number, five by time.
    expect(fake.requests.entries.length).toBeLessThanOrEqual(9)
  })

  it('continues where it was interrupted', async () => {
    const fake = await start(repository, isCapped)
    await runUntil(400, about('Issues'))
    fake.requests.clear()
    await runGithub(test.database, github, { only: about('Issues') })
    // Three pages had come already.
    expect(fake.requests.entries.length).toBeLessThanOrEqual(6)
    expect((await storedIds(test.database)).issues).toEqual(idsOf(fake.world.repository(NAME).issues))
  })

  it('of pull requests continues with those that issues name, and gives the same rows', async () => {
    await start(repository)
    await runGithub(test.database, github, { only: pullRequests })
    const whole = await rowsWithAuthor()
    expect(whole.length).toBeGreaterThan(300)

    await emptyGithub(test.database)
    const fake = await start(repository, isCapped)
    await runGithub(test.database, github, { only: pullRequests })
    expect(await rowsWithAuthor()).toEqual(whole)
    expect((await storedIds(test.database)).pullRequests).toHaveLength(350)
    expect(await receipt(listOfPulls)).toMatchObject({ status: 'complete', message: '' })
    const asked = fake.requests.entries.map(({ url }) => url)
    const single = asked.filter((url) => /\/pulls\/\d+$/.test(url))
    // Every pull request is asked for once for its details, and once more if the numbered pages left it out.
    expect(single.length).toBeGreaterThanOrEqual(350 + 50)
    expect(single.length).toBeLessThan(350 + 50 + 20)
  })

  it('of pull requests is complete though it moves while it is read', async () => {
    const fake = await start(repository, isCapped)
    const before = idsOf(fake.world.repository(NAME).pullRequests)
    let added = 0
    const only = about('Pull Requests')
    await runGithub(test.database, github, {
      only,
      progress: ({ done = 0 }) => {
        // Each new pull request comes first and pushes another one off the last page.
        for (; added < 90 && added < done / 3; added++) fake.update({ repository: NAME, add: 'pullRequests' })
      },
    })
    expect(added).toBe(90)
    expect((await storedIds(test.database)).pullRequests).toEqual(expect.arrayContaining(before))
    await runGithub(test.database, github, { only })
    const after = idsOf(fake.world.repository(NAME).pullRequests)
    expect(after).toHaveLength(350 + 90)
    expect((await storedIds(test.database)).pullRequests).toEqual(after)
  })

  it('of pull requests ends at the time from which on data are wanted', async () => {
    const fake = await start(repository, isCapped)
    const times = [...fake.world.repository(NAME).pullRequests].map(({ updatedAt }) => updatedAt).sort()
    const timeAfter = new Date(times[20] as string)
    await runGithub(test.database, github, { only: about('Pull Requests'), timeAfter })
    expect((await storedIds(test.database)).pullRequests).toHaveLength(330)
    expect(await receipt(listOfPulls)).toMatchObject({ status: 'complete' })
  })

  it('of pull requests continues where it was interrupted among the names', async () => {
    const fake = await start(repository, isCapped)
    await runUntil(325, about('Pull Requests'))
    fake.requests.clear()
    await runGithub(test.database, github, { only: about('Pull Requests') })
    // It asks only once more, for everything that changed in the meantime.
    expect(fake.requests.entries.filter(({ url }) => url.includes('/pulls?'))).toMatchObject([{ status: 304 }])
    expect((await storedIds(test.database)).pullRequests).toEqual(idsOf(fake.world.repository(NAME).pullRequests))
  })

  it('of pull requests is a gap where issues are switched off', async () => {
    await start({ ...repository, hasIssues: false }, isCapped)
    await runGithub(test.database, github, { only: about('Pull Requests') })
    expect((await storedIds(test.database)).pullRequests).toHaveLength(300)
    expect(await receipt(listOfPulls)).toMatchObject({ status: 'gap', message: expect.stringContaining('410') })
  })

  it('is a gap where nothing leads further, also when it was interrupted after the last page', async () => {
    await start({ ...repository, eventsPerIssue: 2 }, isCapped)
    const only = about('Events')
    await runUntil(300, only)
    await runGithub(test.database, github, { only })
    expect((await storedIds(test.database)).events).toHaveLength(300)
    const message = expect.stringContaining('no more than 3 pages')
    expect(await receipt('github_api_events')).toMatchObject({ status: 'gap', message })
  })
})
