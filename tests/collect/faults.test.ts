/** Faults during a collection: each has a defined outcome, and the next run continues from there. */
import { describe, expect, it } from 'vitest'
import { openDatabase } from '../../src/database/open.ts'
import { UnavailableError } from '../../src/errors.ts'
import type { Progress, Subtask } from '../../src/plugin-kit/spec/subtask.ts'
import { githubGraphql } from '../../src/plugins/github/graphql-plugin.ts'
import { github } from '../../src/plugins/github/plugin.ts'
import type { FaultKind } from '../fake-github/faults.ts'
import { cutConnections } from '../support/cut-connections.ts'
import { describeEachWithTables } from '../support/databases.ts'
import { openGateway } from '../support/gateway.ts'
import { SMALL, useFake } from './support/fake.ts'
import {
  connect,
  differences,
  doubled,
  gapsOf,
  NAME,
  type RunOptions,
  receiptOf,
  runGithub,
  storedIds,
} from './support/github.ts'

const ISSUES = { ...SMALL, issues: 230, pullRequests: 10 }
const named =
  (...names: string[]) =>
  ({ name }: Subtask) =>
    names.includes(name)
const issues = named('Collect Issues', 'Extract Issues')
const pullRequests = named('Collect Pull Requests', 'Extract Pull Requests')
const commits = named('Collect PR Commits', 'Extract PR Commits')

describeEachWithTables('while collecting', (test) => {
  const start = useFake(test)
  const run = (options: RunOptions) => runGithub(test.database, github, options)

  const passing: FaultKind[] = [
    'too-many-requests',
    'bad-gateway',
    'secondary-limit',
    'cut-off',
    'malformed-json',
    'slow',
  ]
  it.each(passing)('%s delays a list, and takes nothing from it', async (kind) => {
    const fake = await start(ISSUES)
    fake.failNext(kind, { path: 'page=2', retryAfterSeconds: 0, delayMilliseconds: 50 })
    await run({ only: issues })
    expect(fake.requests.counts().faults).toBe(1)
    expect((await storedIds(test.database)).issues).toHaveLength(230)
    expect(await doubled(test.database)).toEqual([])
  })

  it.each(['too-many-nodes', 'graphql-timeout'] as const)('%s halves what is asked for by name', async (kind) => {
    const fake = await start({ ...SMALL, workflowRuns: 30 })
    const about = (word: string) => (subtask: Subtask) => subtask.name.includes(word) && subtask.step !== 'convert'
    await runGithub(test.database, githubGraphql, { only: about('Workflow Runs') })
    // Fails the first batch and its first half.
    fake.failNext(kind, { path: '/graphql', times: kind === 'too-many-nodes' ? 2 : 4 })
    await runGithub(test.database, githubGraphql, { only: about('Job') })
    expect((await storedIds(test.database)).jobs).toHaveLength(fake.world.repository(NAME).jobs.size)
    expect(await doubled(test.database)).toEqual([])
  })

  it('a database that goes away ends the run; the next one continues with the page that was lost', async () => {
    const fake = await start({ ...SMALL, pullRequests: 90 })
    await run({ only: pullRequests })
    const gateway = await openGateway(test.url)
    const database = await openDatabase(gateway.url)
    let away: Promise<void> | undefined
    const progress = ({ done = 0 }: Progress) => {
      if (done >= 60) away ??= gateway.stop()
    }
    await expect(runGithub(database, github, { only: commits, progress })).rejects.toThrow()
    await away
    await gateway.start()
    const before = fake.requests.entries.length
    await runGithub(database, github, { only: commits })
    expect(fake.requests.entries.length - before).toBeLessThan(90)
    const { pullCommits } = fake.world.repository(NAME)
    expect((await storedIds(database)).pullCommits).toHaveLength(pullCommits.size)
    expect(await doubled(database)).toEqual([])
    await database.close()
    await gateway.close()
  })

  it('connections that the server ends take nothing from a list, and the next run does not meet them', async () => {
    const fake = await start({ ...SMALL, pullRequests: 90 })
    await run({ only: pullRequests })
    let cut: Promise<void> | undefined
    const progress = ({ done = 0 }: Progress) => {
      if (done >= 60) cut ??= cutConnections(test)
    }
    // The run fails only if one of the connections was in use at that moment.
    await run({ only: commits, progress }).catch((error) =>
      expect(test.database.explain(error) ?? error).toBeInstanceOf(UnavailableError),
    )
    await cut
    await run({ only: commits })
    const { pullCommits } = fake.world.repository(NAME)
    expect((await storedIds(test.database)).pullCommits).toHaveLength(pullCommits.size)
    expect(await doubled(test.database)).toEqual([])
  })

  it('a list that answers 410 half-way is no empty list', async () => {
    const fake = await start(ISSUES)
    fake.failNext('gone', { path: 'page=3' })
    const { 'Collect Issues': lost } = await run({ only: issues })
    expect(lost).toMatchObject({ list: 'lost', remarks: [expect.stringMatching(/410 in the middle of a list/)] })
    expect(await receiptOf(test.database, 'github_api_issues')).toMatchObject({
      status: 'failed',
      last_success_at: null,
    })
    await run({ only: issues })
    expect((await storedIds(test.database)).issues).toHaveLength(230)
    expect(await doubled(test.database)).toEqual([])
    expect(await receiptOf(test.database, 'github_api_issues')).toMatchObject({ status: 'complete', received: 240 })
  })

  it('what is added and deleted between two pages hides no other record', async () => {
    const fake = await start(ISSUES)
    const [gone] = [...fake.world.repository(NAME).issues]
    const changes = [
      { repository: NAME, remove: 'issues' as const, index: gone?.index ?? 0 },
      { repository: NAME, add: 'issues' as const },
    ]
    fake.failNext('changed-totals', { path: '/issues?', changes })
    await run({ only: issues })
    const stored = new Set((await storedIds(test.database)).issues)
    const missing = [...fake.world.repository(NAME).issues].filter(({ id }) => !stored.has(String(id)))
    // Issues created after the run began are left to the next run.
    expect(missing.filter(({ createdAt }) => createdAt < '2025')).toEqual([])
    await run({ only: issues })
    expect((await storedIds(test.database)).issues).toContain(
      String([...fake.world.repository(NAME).issues].at(-1)?.id),
    )
  })

  describe('a token', () => {
    it('that is revoked half-way leaves the work to the others', async () => {
      const fake = await start(ISSUES, { tokens: ['one', 'two'] }, { token: 'one,two' })
      fake.failNext('revoked-token', { path: 'page=2' })
      const told: string[] = []
      await run({ only: issues, log: (line) => told.push(line) })
      expect((await storedIds(test.database)).issues).toHaveLength(230)
      expect(told.filter((line) => /no longer used: 401/.test(line))).toHaveLength(1)
    })

    it('that was the only one is named by its connection; with a new one the run continues', async () => {
      const fake = await start(ISSUES, { tokens: ['secret-one', 'two'] }, { token: 'secret-one' })
      fake.failNext('revoked-token', { path: 'page=3' })
      const failed = run({ only: issues })
      await expect(failed).rejects.toThrow(/Connection "fake".*accepts none of the credentials.*save new ones/)
      await expect(failed).rejects.not.toThrow(/secret-one/)
      await connect(test.database, { url: fake.url, token: 'two', githubId: fake.world.repository(NAME).id })
      fake.requests.clear()
      await run({ only: issues })
      expect((await storedIds(test.database)).issues).toHaveLength(230)
      const first = fake.requests.entries.filter(({ url, status }) => status === 200 && !url.includes('page=2'))
      // At the end the run asks for everything that changed in the meantime.
      expect(first.filter(({ url }) => !/[?&](page=3|since=)/.test(url))).toEqual([])
    })
  })

  it.each([1, 3])('%i tokens give as many budgets; then the run says until when it waits', async (count) => {
    const BUDGET = 12
    const tokens = Array.from({ length: count }, (_, index) => ({ token: `token-${index}`, limits: { core: BUDGET } }))
    const fake = await start(
      { ...SMALL, pullRequests: 60 },
      { tokens },
      { token: tokens.map(({ token }) => token).join(',') },
    )
    const controller = new AbortController()
    const waits: Date[] = []
    const progress = ({ waitingUntil }: Progress) => {
      if (!waitingUntil) return
      waits.push(waitingUntil)
      controller.abort(new Error('stopped while waiting'))
    }
    const all = (subtask: Subtask) => pullRequests(subtask) || commits(subtask)
    await expect(run({ only: all, progress, signal: controller.signal })).rejects.toThrow('stopped while waiting')
    expect(fake.requests.counts().counted).toBe(count * BUDGET)
    // The hourly limit began with the first request. Weir adds a second in case the vendor's clock differs.
    const minutes = ((waits[0]?.getTime() ?? 0) - Date.now()) / 60_000
    expect(minutes).toBeGreaterThan(55)
    expect(minutes).toBeLessThan(61)
  })

  it('a spent quota only delays a run', async () => {
    const tokens = [{ token: 'one', limits: { core: 15 } }]
    const fake = await start({ ...SMALL, pullRequests: 30 }, { tokens, windowSeconds: 2 }, { token: 'one' })
    await run({ only: (subtask) => pullRequests(subtask) || commits(subtask) })
    expect(fake.requests.entries.length).toBeGreaterThan(30)
    const { pullCommits } = fake.world.repository(NAME)
    expect((await storedIds(test.database)).pullCommits).toHaveLength(pullCommits.size)
  })

  it('a server that answers nothing but 502 to a list costs that list, with a message that says so', async () => {
    const fake = await start()
    fake.failNext('bad-gateway', { path: '/milestones', times: 1000 })
    const results = await run({})
    const { remarks = [] } = results['Collect Milestones'] ?? {}
    expect(remarks).toEqual([expect.stringMatching(/milestones.* failed 4 times, last with: 502/)])
    expect(await gapsOf(test.database)).toMatchObject([{ subtask: 'Collect Milestones', kind: 'lost', status: 502 }])
    expect(await receiptOf(test.database, 'github_milestones')).toMatchObject({ status: 'failed' })
    expect(Object.keys(await differences(test.database, fake.world.repository(NAME)))).toEqual([
      'milestones',
      'commits',
    ])
  })
})
