/** Later runs ask only for new data and end with the same rows as a full run. Receipts tell what was asked and what came. */
import { expect, it } from 'vitest'
import { selectSubtasks } from '../../src/control-plane/plan/select-subtasks.ts'
import type { Subtask } from '../../src/plugin-kit/spec/subtask.ts'
import { githubGraphql } from '../../src/plugins/github/graphql-plugin.ts'
import { github } from '../../src/plugins/github/plugin.ts'
import { describeOneWithTables } from '../support/databases.ts'
import { SMALL, useFake } from './support/fake.ts'
import { NAME, plugins, type RunOptions, rawRows, receiptOf, runGithub, storedIds } from './support/github.ts'

const isAbout =
  (...words: string[]) =>
  ({ name, step }: Subtask) =>
    step !== 'convert' && words.some((word) => name.endsWith(word))

describeOneWithTables('a later run', (test) => {
  const start = useFake(test)
  const run = (options: RunOptions, plugin = github) => runGithub(test.database, plugin, options)

  it('that finds nothing changed costs no counted request where the API can say so', async () => {
    const fake = await start()
    await run({})
    const before = await rawRows(test.database)
    fake.requests.clear()
    await run({})
    const counted = Object.entries(fake.requests.byTemplate()).map(([template, { counted: most }]) => ({
      template,
      most,
    }))
    expect(counted.filter(({ most }) => most > 1)).toEqual([])
    expect(fake.requests.counts().notModified).toBeGreaterThan(20)
    // Unfinished runs are listed again, in the same window as possible new runs.
    const runs = '_raw_github_api_runs'
    const after = await rawRows(test.database)
    expect({ ...after, [runs]: after[runs]?.distinct }).toEqual({ ...before, [runs]: before[runs]?.distinct })
    const receipt = await receiptOf(test.database, 'github_api_pull_requests')
    expect(receipt).toMatchObject({ status: 'complete', requests: 1, counted_requests: 0, received: 0, stored: 20 })
  })

  it.each(plugins)('with $name asks again only for the pull request that changed', async (plugin) => {
    const fake = await start()
    const about = isAbout('Pull Requests', 'PR Commits', 'PR Reviews', 'PR Details')
    await run({ only: about }, plugin)
    const pull = [...fake.world.repository(NAME).pullRequests][4]!
    fake.update({ repository: NAME, forcePush: pull.number })
    fake.requests.clear()
    await run({ only: about }, plugin)
    const { pullCommits } = fake.world.repository(NAME)
    const stored = (await storedIds(test.database)).pullCommits
    expect(stored).toEqual([...pullCommits].map(({ sha }) => sha).sort())
    const asked = fake.requests.entries.filter(({ url }) => /\/pulls\/\d+/.test(url)).map(({ url }) => url)
    expect(asked.filter((url) => !url.includes(`/pulls/${pull.number}`))).toEqual([])
    expect(fake.requests.entries.length).toBeLessThanOrEqual(4)
  })

  it('with an earlier beginning asks for everything from there', async () => {
    const fake = await start({ ...SMALL, issues: 60 })
    const only = isAbout('Issues')
    const middle = new Date('2024-01-01T00:00:00Z')
    await run({ only, timeAfter: middle })
    const changedSince = (time: Date) =>
      [...fake.world.repository(NAME).issues].filter(({ updatedAt }) => new Date(updatedAt) >= time).length
    expect(changedSince(middle)).toBeLessThan(60)
    expect((await storedIds(test.database)).issues).toHaveLength(changedSince(middle))
    expect((await receiptOf(test.database, 'github_api_issues'))?.since).toEqual(middle)
    const earlier = new Date('2023-06-01T00:00:00Z')
    await run({ only, timeAfter: earlier })
    expect((await storedIds(test.database)).issues).toHaveLength(changedSince(earlier))
    expect((await receiptOf(test.database, 'github_api_issues'))?.since).toEqual(earlier)
  })

  it('does not see that an issue was deleted, and a full one does', async () => {
    const fake = await start()
    const only = isAbout('Issues')
    await run({ only })
    const [gone] = [...fake.world.repository(NAME).issues]
    fake.update({ repository: NAME, remove: 'issues', index: gone?.index ?? 0 })
    await run({ only })
    expect((await storedIds(test.database)).issues).toHaveLength(20)
    await run({ only, fullSync: true })
    expect((await storedIds(test.database)).issues).toHaveLength(19)
    expect(await receiptOf(test.database, 'github_api_issues')).toMatchObject({ status: 'complete', stored: 39 })
  })

  it('over GraphQL sees that an issue was deleted though there is a start date, at the cost of one request', async () => {
    const fake = await start({ ...SMALL, issues: 150 })
    const only = isAbout('Issues')
    const timeAfter = new Date('2024-01-01T00:00:00Z')
    const issues = () => [...fake.world.repository(NAME).issues]
    const wanted = () => issues().filter(({ updatedAt }) => new Date(updatedAt) >= timeAfter)
    const runAgain = async (options: RunOptions = { only, timeAfter }) => {
      fake.requests.clear()
      await run(options, githubGraphql)
      return fake.requests.entries.filter(({ operation }) => operation === 'issuesIds').length
    }
    await runAgain()
    const [older] = issues().filter(({ updatedAt }) => new Date(updatedAt) < timeAfter)
    expect(wanted().length).toBeGreaterThan(50)
    // The first run asks for all names, since nobody knows how many are from before the start date. Later the total number suffices.
    expect(await runAgain()).toBe(2)
    expect(await runAgain()).toBe(1)
    expect((await storedIds(test.database)).issues).toHaveLength(wanted().length)
    const remove = (index: number) => fake.update({ repository: NAME, remove: 'issues', index })
    remove(wanted()[0]?.index ?? 0)
    expect(await runAgain()).toBe(2)
    expect((await storedIds(test.database)).issues).toHaveLength(wanted().length)
    remove(older?.index ?? 0)
    expect(await runAgain()).toBe(2)
    expect(await runAgain()).toBe(1)
    expect((await storedIds(test.database)).issues).toHaveLength(wanted().length)
    // Now everything is wanted, and deleted issues are not part of it.
    await runAgain({ only, timeAfter: null })
    expect((await storedIds(test.database)).issues).toHaveLength(148)
  })

  it('without collectors asks for nothing, and makes the same of what is stored', async () => {
    const fake = await start()
    await run({})
    const before = await storedIds(test.database)
    fake.requests.clear()
    const selected = new Set(selectSubtasks(github, null, { skipCollectors: true }))
    await run({ only: (subtask) => selected.has(subtask), fullSync: true })
    expect(fake.requests.entries).toEqual([])
    expect(await storedIds(test.database)).toEqual(before)
  })

  it('tells of a list that ends where the vendor lists no further that there is a gap', async () => {
    const fake = await start({ ...SMALL, issues: 60, eventsPerIssue: 5 })
    fake.failNext('bad-gateway', { status: 422, path: 'page=3', times: 9 })
    fake.failNext('bad-gateway', { status: 422, path: 'page=4', times: 9 })
    await run({ only: isAbout('Events') })
    const receipt = await receiptOf(test.database, 'github_api_events')
    expect(receipt).toMatchObject({ status: 'gap', received: 200, last_success_at: null })
    expect(receipt?.message).toMatch(/lists no further than .*page=[34].* \(422\); older records are missing/)
  })

  it('files how many there are, how many came, what it cost and when', async () => {
    const fake = await start({ ...SMALL, workflowRuns: 130 })
    const before = new Date()
    await run({ only: isAbout('Workflow Runs') })
    const receipt = await receiptOf(test.database, 'github_api_runs')
    expect(receipt).toMatchObject({ status: 'complete', expected: 130, received: 130, stored: 130, since: null })
    expect(receipt?.requests).toBe(fake.requests.entries.length)
    expect(receipt?.last_success_at?.getTime()).toBeGreaterThanOrEqual(before.getTime())
  })
})
