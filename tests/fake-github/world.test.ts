import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createWorld, type FakeGithub, startFakeGithub } from './fake-github.ts'
import { all, get } from './testing.ts'
import type { Collections } from './world/repository.ts'

describe('a generated world', () => {
  test('is the same for the same seed and another for another', () => {
    const list = (seed: number) => [...createWorld({ seed }).repository('acme/web').pullRequests]
    expect(list(1)).toEqual(list(1))
    expect(list(1)).not.toEqual(list(2))
  })

  test('has the sizes asked for, and every id once', () => {
    const world = createWorld({
      repositories: [
        { name: 'acme/web', issues: 300, pullRequests: 200, workflowRuns: 500, jobsPerRun: 4 },
        { name: 'acme/api', issues: 0, pullRequests: 50, reviewsPerPullRequest: [2, 2] },
      ],
    })
    expect(world.totals('acme/web')).toMatchObject({ issues: 300, pullRequests: 200, runs: 500, jobs: 2000 })
    expect(world.totals('acme/api')).toMatchObject({ issues: 0, pullRequests: 50, reviews: 100 })
    for (const kind of Object.keys(world.totals('acme/web')) as (keyof Collections)[]) {
      const ids = world.repositories.flatMap((repository) => [...repository[kind]].map((each) => each.nodeId))
      expect(new Set(ids).size, kind).toBe(ids.length)
    }
  })

  test('lies within its time', () => {
    const world = createWorld({ from: '2024-01-01T00:00:00Z', until: '2024-02-01T00:00:00Z' })
    const { issues, comments, runs, statuses, reviewComments } = world.repository('acme/web')
    for (const each of [issues, comments, runs, statuses, reviewComments].flatMap((records) => [
      ...(records as Iterable<{ createdAt: string; updatedAt: string }>),
    ])) {
      expect(each.createdAt >= '2024-01-01T00:00:00Z').toBe(true)
      expect(each.updatedAt <= '2024-02-01T00:00:00Z').toBe(true)
      expect(each.updatedAt >= each.createdAt).toBe(true)
    }
  })
})

describe('changes', () => {
  let fake: FakeGithub
  beforeEach(async () => {
    fake = await startFakeGithub()
    fake.clock.set('2025-05-05T05:05:05Z')
  })
  afterEach(() => fake.stop())
  const now = '2025-05-05T05:05:05Z'
  const since = (path: string) => all(fake, `${path}?state=all&since=${now}`)

  test('a new issue, an edited one, a comment: all show under since', async () => {
    const opened = fake.update({ repository: 'acme/web', add: 'issues', with: { title: 'Opened', author: 'user-3' } })!
    fake.update({ repository: 'acme/web', edit: 'issues', index: 1, with: { state: 'closed', closedAt: now } })
    fake.update({ repository: 'acme/web', add: 'comments', parent: 2, with: { body: 'Hello' } })
    const found = await since('/repos/acme/web/issues')
    expect(found.map((each) => each.number).toSorted((a, b) => a - b)).toEqual([1, 2, opened.index])
    expect(found.find((each) => each.number === opened.index)).toMatchObject({
      title: 'Opened',
      state: 'open',
      created_at: now,
    })
    const comments = await all(fake, `/repos/acme/web/issues/comments?since=${now}`)
    expect(comments.map((each) => each.body)).toContain('Hello')
  })

  test('a pull request is merged, reviewed, force-pushed', async () => {
    const { pullRequests, pullCommits } = fake.world.repository('acme/web')
    const pull = [...pullRequests].find((each) => each.state === 'open')!
    const before = pullCommits.childrenOf(pull.number).map((each) => each.sha)
    fake.update({ repository: 'acme/web', forcePush: pull.number })
    const path = `/repos/acme/web/pulls/${pull.number}`
    const after = (await all(fake, `${path}/commits`)).map((each) => each.sha)
    expect(after).toHaveLength(before.length)
    expect(after.filter((sha) => before.includes(sha))).toEqual([])
    fake.update({
      repository: 'acme/web',
      add: 'reviews',
      parent: pull.number,
      with: { state: 'APPROVED', author: 'user-2' },
    })
    expect((await all(fake, `${path}/reviews`)).at(-1)).toMatchObject({ state: 'APPROVED', submitted_at: now })
    fake.update({
      repository: 'acme/web',
      edit: 'pullRequests',
      index: pull.number,
      with: { state: 'closed', closedAt: now, mergedAt: now },
    })
    expect((await get(fake, path)).body).toMatchObject({ merged: true, updated_at: now, head: { sha: after.at(-1) } })
  })

  test('a run ends, a repository is renamed, archived and deleted', async () => {
    const run = [...fake.world.repository('acme/web').runs].at(-1)!
    expect(run.status).toBe('in_progress')
    fake.update({
      repository: 'acme/web',
      edit: 'runs',
      index: run.index,
      with: { status: 'completed', conclusion: 'success' },
    })
    expect((await get(fake, `/repos/acme/web/actions/runs/${run.id}`)).body).toMatchObject({
      status: 'completed',
      updated_at: now,
    })
    fake.update({ repository: 'acme/web', rename: 'acme/site' })
    expect((await get(fake, '/repos/acme/web')).status).toBe(301)
    fake.update({ repository: 'acme/site', archive: true })
    expect((await get(fake, '/repos/acme/site')).body.archived).toBe(true)
    fake.update({ repository: 'acme/site', delete: true })
    expect((await get(fake, '/repos/acme/site')).status).toBe(404)
  })

  test('an issue that is removed takes its comments and events with it, and leaves no trace', async () => {
    const { issues, comments } = fake.world.repository('acme/web')
    const [issue] = [...issues]
    const added = fake.update({ repository: 'acme/web', add: 'comments', parent: issue!.number })!
    const path = '/repos/acme/web/issues/comments'
    expect((await all(fake, path)).map(({ id }) => id)).toContain(added.id)
    fake.clock.advance(60_000)
    fake.update({ repository: 'acme/web', remove: 'issues', index: issue!.index })
    expect((await all(fake, path)).map(({ id }) => id)).not.toContain(added.id)
    expect(comments.get(added.index)).toBeUndefined()
    expect((await get(fake, `/repos/acme/web/issues/${issue!.number}`)).status).toBe(404)
    expect(await all(fake, '/repos/acme/web/issues?state=all&since=2025-05-05T05:05:30Z')).toEqual([])
  })

  test('close, reopen, merge, relabel and unassign are changes of the ticket; what a comment loses is none', async () => {
    const { issues, pullRequests } = fake.world.repository('acme/web')
    const issue = [...issues].find((each) => each.state === 'open')!
    const pull = [...pullRequests].find((each) => each.state === 'open')!
    fake.update({ repository: 'acme/web', close: issue.number })
    fake.update({ repository: 'acme/web', edit: 'issues', index: 1, with: { labels: ['brand new'], assignees: [] } })
    fake.update({ repository: 'acme/web', merge: pull.number })
    expect((await get(fake, `/repos/acme/web/issues/${issue.number}`)).body).toMatchObject({
      state: 'closed',
      closed_at: now,
      updated_at: now,
    })
    expect((await get(fake, '/repos/acme/web/issues/1')).body).toMatchObject({
      labels: [{ name: 'brand new' }],
      assignees: [],
      updated_at: now,
    })
    expect((await get(fake, `/repos/acme/web/pulls/${pull.number}`)).body).toMatchObject({
      merged: true,
      merged_at: now,
    })
    const comment = fake.update({ repository: 'acme/web', add: 'comments', parent: issue.number })!
    fake.clock.advance(60_000)
    fake.update({ repository: 'acme/web', remove: 'comments', index: comment.index })
    expect((await get(fake, `/repos/acme/web/issues/${issue.number}`)).body).toMatchObject({ updated_at: now })
    fake.update({ repository: 'acme/web', reopen: issue.number })
    expect((await get(fake, `/repos/acme/web/issues/${issue.number}`)).body).toMatchObject({
      state: 'open',
      closed_at: null,
      updated_at: '2025-05-05T05:06:05Z',
    })
  })

  test('a push moves the head, a status the deployment, a rerun the jobs of its run', async () => {
    const { pullRequests, deployments, runs } = fake.world.repository('acme/web')
    const [pull, deployment, run] = [[...pullRequests][0]!, [...deployments][0]!, [...runs][0]!]
    fake.update({ repository: 'acme/web', add: 'pullCommits', parent: pull.number })
    const pushed = (await get(fake, `/repos/acme/web/pulls/${pull.number}`)).body
    const commits = await all(fake, `/repos/acme/web/pulls/${pull.number}/commits`)
    expect(pushed).toMatchObject({ updated_at: now, head: { sha: commits.at(-1).sha } })
    fake.update({ repository: 'acme/web', add: 'statuses', parent: deployment.index, with: { state: 'failure' } })
    expect((await all(fake, `/repos/acme/web/deployments/${deployment.id}/statuses`))[0].state).toBe('failure')
    const listed = await all(fake, '/repos/acme/web/deployments')
    expect(listed.find(({ id }) => id === deployment.id).updated_at).toBe(now)
    const jobs = async () =>
      (await all(fake, `/repos/acme/web/actions/runs/${run.id}/jobs`, (body) => body.jobs)).map(({ id }) => id)
    const before = await jobs()
    fake.update({ repository: 'acme/web', rerun: run.index })
    expect((await jobs()).filter((id) => before.includes(id))).toEqual([])
    expect((await get(fake, `/repos/acme/web/actions/runs/${run.id}`)).body).toMatchObject({
      run_attempt: 2,
      created_at: run.createdAt,
      updated_at: now,
      status: 'queued',
    })
  })
})
