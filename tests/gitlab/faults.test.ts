/** Faults during a collection from GitLab: each has a defined outcome, and the next run continues from there. */
import { expect, it } from 'vitest'
import type { Progress } from '../../src/plugin-kit/spec/subtask.ts'
import { doubled, gapsOf, receiptOf } from '../collect/support/github.ts'
import type { FaultKind } from '../fake-github/faults.ts'
import { describeOneWithTables } from '../support/databases.ts'
import { connect, differences, namesOf, PATH, type RunOptions, runGitlab, storedIds } from './support.ts'
import { useFakeGitlab } from './use-fake.ts'

const MANY = { issues: 230 }
const issues = namesOf('Collect Issues', 'Extract Issues')
const commits = namesOf('Collect Merge Requests', 'Extract Merge Requests', 'Collect MR Commits', 'Extract MR Commits')

describeOneWithTables('while collecting from GitLab', (test) => {
  const start = useFakeGitlab(test)
  const run = (options: RunOptions = {}) => runGitlab(test.database, options)

  const passing: FaultKind[] = ['too-many-requests', 'bad-gateway', 'cut-off', 'malformed-json', 'slow']
  it.each(passing)('%s delays a list, and takes nothing from it', async (kind) => {
    const fake = await start(MANY)
    fake.failNext(kind, { path: 'page=2', retryAfterSeconds: 0, delayMilliseconds: 50 })
    await run({ only: issues })
    expect(fake.requests.counts().faults).toBe(1)
    expect((await storedIds(test.database)).issues).toHaveLength(230)
    expect(await doubled(test.database)).toEqual([])
  })

  it('one fault in ten requests leaves nothing out', async () => {
    const kinds = ['too-many-requests', 'bad-gateway', 'cut-off', 'malformed-json'] as const
    const fake = await start({}, { faults: { every: 10, kinds, retryAfterSeconds: 0 } })
    await run()
    expect(fake.requests.counts().faults).toBeGreaterThan(3)
    expect(await differences(test.database, fake.world.project(PATH))).toEqual({})
    expect(await gapsOf(test.database)).toEqual([])
  })

  it('what is added between two pages hides no other record', async () => {
    const fake = await start(MANY)
    const changes = [0, 1, 2].map((number) => ({ project: PATH, act: 'edit issue', with: [number, 1] }))
    fake.failNext('changed-totals', { path: '/issues?', changes: changes as never })
    await run({ only: issues })
    expect((await storedIds(test.database)).issues).toHaveLength(230)
    await run({ only: issues })
    const [row] = await test.database.kysely
      .selectFrom('_tool_gitlab_issues')
      .select('title')
      .where('number', '=', 1)
      .execute()
    expect(row?.title).toMatch(/!$/)
  })

  it('a token that is revoked is named by its connection; with a new one the run continues', async () => {
    const fake = await start(MANY, { tokens: [{ token: 'secret-one' }, { token: 'two' }] }, 'secret-one')
    fake.failNext('revoked-token', { path: 'page=3' })
    const failed = run({ only: issues })
    await expect(failed).rejects.toThrow(/Connection "fake".*accepts none of the credentials.*save new ones/)
    await expect(failed).rejects.not.toThrow(/secret-one/)
    await connect(test.database, { url: fake.url, token: 'two' }, fake.world.project(PATH))
    await run({ only: issues })
    expect((await storedIds(test.database)).issues).toHaveLength(230)
  })

  it('a token with too few scopes is told what it lacks', async () => {
    await start({}, { tokens: [{ token: 'narrow', scopes: ['read_repository'] }] }, 'narrow')
    await expect(run()).rejects.toThrow(/403 insufficient_scope/)
  })

  it('a spent limit only delays a run', async () => {
    const fake = await start({ mergeRequests: 30 }, { limit: 15, windowSeconds: 2 })
    await run({ only: commits })
    expect(fake.requests.entries.length).toBeGreaterThan(30)
    expect((await differences(test.database, fake.world.project(PATH))).commits).toBeUndefined()
  })

  it('a run that waits for the limit says until when', async () => {
    const fake = await start({ mergeRequests: 30 }, { limit: 12, windowSeconds: 600 })
    const controller = new AbortController()
    const waits: Date[] = []
    const progress = ({ waitingUntil }: Progress) => {
      if (!waitingUntil) return
      waits.push(waitingUntil)
      controller.abort(new Error('stopped while waiting'))
    }
    await expect(run({ only: commits, progress, signal: controller.signal })).rejects.toThrow('stopped while waiting')
    expect(fake.requests.counts().counted).toBe(12)
    expect(((waits[0]?.getTime() ?? 0) - Date.now()) / 60_000).toBeGreaterThan(9)
  })

  it('a list that answers nothing but 502 costs that list', async () => {
    const fake = await start()
    fake.failNext('bad-gateway', { path: '/deployments', times: 1000 })
    await run()
    expect(await gapsOf(test.database)).toMatchObject([{ subtask: 'Collect Deployments', kind: 'lost', status: 502 }])
    expect(await receiptOf(test.database, 'gitlab_api_deployments')).toMatchObject({ status: 'failed' })
    expect(Object.keys(await differences(test.database, fake.world.project(PATH)))).toEqual(['deployments'])
  })
})
