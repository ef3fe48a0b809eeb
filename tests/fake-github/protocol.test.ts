import { afterEach, describe, expect, test } from 'vitest'
import { DEFAULT_TOKEN, type FakeGithub, type FakeGithubOptions, startFakeGithub } from './fake-github.ts'
import { all, get, linkTo, query } from './testing.ts'

let fake: FakeGithub
const start = async (options: FakeGithubOptions = {}): Promise<void> => {
  fake = await startFakeGithub(options)
}
afterEach(() => fake.stop())

describe('lists', () => {
  test('Link headers lead through everything once, and by repository id', async () => {
    await start()
    const { headers } = await get(fake, '/repos/acme/web/pulls?state=all&per_page=7&page=2')
    const id = fake.world.repository('acme/web').id
    expect(linkTo(headers, 'next')).toBe(`${fake.url}/repositories/${id}/pulls?state=all&per_page=7&page=3`)
    expect(linkTo(headers, 'last')).toContain('page=5')
    expect(linkTo(headers, 'prev')).toContain('page=1')
    expect(linkTo(headers, 'first')).toContain('page=1')
    const found = await all(fake, '/repos/acme/web/pulls?state=all&per_page=7')
    const expected = [...fake.world.repository('acme/web').pullRequests].map((pull) => pull.id)
    expect(found.map((pull) => pull.id).toSorted()).toEqual(expected.toSorted())
  })

  test('issues include pull requests, under another id', async () => {
    await start()
    const { issues, pullRequests } = fake.world.repository('acme/web')
    const found = await all(fake, '/repos/acme/web/issues?state=all&per_page=100')
    expect(found).toHaveLength(issues.size + pullRequests.size)
    const pull = found.find((each) => each.pull_request !== undefined)
    expect(pull.id).not.toBe(pullRequests.get(pull.number)!.id)
    expect(pull.node_id).toBe(pullRequests.get(pull.number)!.nodeId)
  })

  test('since, sort and direction', async () => {
    await start()
    const since = '2024-01-01T00:00:00Z'
    const found = await all(
      fake,
      `/repos/acme/web/issues?state=all&since=${since}&sort=updated&direction=asc&per_page=9`,
    )
    const times: string[] = found.map((each) => each.updated_at)
    expect(times).toEqual(times.toSorted())
    const { issues, pullRequests } = fake.world.repository('acme/web')
    expect(times).toHaveLength([...issues, ...pullRequests].filter((each) => each.updatedAt >= since).length)
    const comments = await all(fake, `/repos/acme/web/issues/comments?since=${since}`)
    expect(comments.length).toBeGreaterThan(0)
    expect(comments.every((each) => each.updated_at >= since)).toBe(true)
    const newest = await get(fake, '/repos/acme/web/pulls?state=all')
    expect(newest.body[0].created_at >= newest.body.at(-1).created_at).toBe(true)
  })

  test('runs: a filtered list counts all but serves a thousand', async () => {
    await start({ world: { repositories: [{ name: 'acme/web', workflowRuns: 1500, jobsPerRun: 1 }] } })
    const created = encodeURIComponent('2020-01-01..2030-01-01')
    const runs = await all(
      fake,
      `/repos/acme/web/actions/runs?created=${created}&per_page=100`,
      (body) => body.workflow_runs,
    )
    expect(runs).toHaveLength(1000)
    const beyond = await get(fake, `/repos/acme/web/actions/runs?created=${created}&per_page=100&page=11`)
    expect(beyond.body).toEqual({ total_count: 1500, workflow_runs: [] })
    const half = encodeURIComponent(`${runs.at(-1).created_at}..*`)
    expect(
      (await get(fake, `/repos/acme/web/actions/runs?created=${half}&per_page=1`)).body.total_count,
    ).toBeGreaterThanOrEqual(1000)
    const unfiltered = await all(fake, '/repos/acme/web/actions/runs?per_page=100', (body) => body.workflow_runs)
    expect(unfiltered).toHaveLength(1500)
  })

  test('paging ends at a cap', async () => {
    await start({ pagingCap: 60 })
    const { status, body } = await get(fake, '/repos/acme/web/issues/events?per_page=30&page=3')
    expect(status).toBe(422)
    expect(body.message).toContain('pagination is limited')
  })
})

describe('repositories in odd states', () => {
  test('renamed, gone, empty, archived, private, without issues', async () => {
    await start({
      tokens: [DEFAULT_TOKEN, { token: 'ghp_public', scopes: ['public_repo'] }],
      world: {
        repositories: [
          { name: 'acme/new', formerNames: ['acme/old'] },
          { name: 'acme/gone', gone: true },
          { name: 'acme/empty', commits: 0, issues: 0, pullRequests: 0 },
          { name: 'acme/attic', archived: true },
          { name: 'acme/secret', private: true },
          { name: 'acme/quiet', hasIssues: false },
        ],
      },
    })
    const moved = await get(fake, '/repos/acme/old/issues?state=all')
    expect(moved.status).toBe(301)
    const target = moved.headers.get('location')!
    expect(target).toBe(`${fake.url}/repositories/${fake.world.repository('acme/new').id}/issues?state=all`)
    expect((await get(fake, target)).status).toBe(200)
    expect((await get(fake, '/repos/acme/gone')).status).toBe(404)
    expect((await get(fake, '/repos/acme/empty/commits')).status).toBe(409)
    expect((await get(fake, '/repos/acme/empty/issues')).body).toEqual([])
    expect((await get(fake, '/repos/acme/attic')).body.archived).toBe(true)
    expect((await get(fake, '/repos/acme/secret')).status).toBe(200)
    expect((await get(fake, '/repos/acme/secret', { authorization: 'token ghp_public' })).status).toBe(404)
    expect((await get(fake, '/repos/acme/quiet/issues')).status).toBe(410)
    const renamed = await query(fake, '{ repository(owner: "acme", name: "old") { nameWithOwner } }')
    expect(renamed.body.data.repository.nameWithOwner).toBe('acme/new')
    const gone = await query(fake, '{ repository(owner: "acme", name: "gone") { id } }')
    expect(gone.body).toMatchObject({
      data: { repository: null },
      errors: [{ type: 'NOT_FOUND', path: ['repository'] }],
    })
    expect(fake.violations).toEqual([])
  })
})

describe('conditional requests', () => {
  test('an unchanged page costs nothing, a changed one does', async () => {
    await start()
    const path = '/repos/acme/web/issues?state=all'
    const first = await get(fake, path)
    const etag = first.headers.get('etag')!
    const again = await get(fake, path, { 'if-none-match': etag })
    expect([again.status, again.body]).toEqual([304, ''])
    expect(again.headers.get('x-ratelimit-used')).toBe('1')
    fake.update({ repository: 'acme/web', add: 'issues', with: { title: 'New' } })
    const changed = await get(fake, path, { 'if-none-match': etag })
    expect([changed.status, changed.body[0].title]).toEqual([200, 'New'])
    expect(fake.requests.byTemplate()['/repos/{owner}/{repo}/issues']).toMatchObject({
      requests: 3,
      counted: 2,
      notModified: 1,
    })
  })

  test('Last-Modified of single records', async () => {
    await start()
    const index = [...fake.world.repository('acme/web').pullRequests][0]!.number
    const path = `/repos/acme/web/pulls/${index}`
    const { headers } = await get(fake, path)
    const modified = headers.get('last-modified')!
    expect((await get(fake, path, { 'if-modified-since': modified })).status).toBe(304)
    fake.update({ repository: 'acme/web', edit: 'pullRequests', index, with: { title: 'Changed' } })
    expect((await get(fake, path, { 'if-modified-since': modified })).status).toBe(200)
  })

  test('ETags can be made to differ by token', async () => {
    await start({ etagPerToken: true, tokens: [DEFAULT_TOKEN, 'ghp_second'] })
    const etag = (await get(fake, '/user/orgs')).headers.get('etag')!
    const other = { authorization: 'token ghp_second', 'if-none-match': etag }
    expect((await get(fake, '/user/orgs', other)).status).toBe(200)
  })
})

describe('limits and rights', () => {
  test('a spent token is refused until its window ends; others continue', async () => {
    await start({ tokens: [{ token: DEFAULT_TOKEN, limits: { core: 2, graphql: 1 } }, 'ghp_second'] })
    await get(fake, '/user')
    const last = await get(fake, '/user')
    expect(last.headers.get('x-ratelimit-remaining')).toBe('0')
    const spent = await get(fake, '/user')
    expect(spent.status).toBe(403)
    expect(spent.body.message).toContain('API rate limit exceeded for user ID 1001')
    expect((await get(fake, '/user', { authorization: 'Bearer ghp_second' })).status).toBe(200)
    expect((await get(fake, '/rate_limit')).body.resources).toMatchObject({
      core: { remaining: 0 },
      graphql: { remaining: 1 },
    })
    await query(fake, '{ viewer { login } }')
    expect((await query(fake, '{ viewer { login } }')).body.errors[0].type).toBe('RATE_LIMITED')
    fake.clock.advance(3600_000)
    expect((await get(fake, '/user')).status).toBe(200)
    expect(fake.requests.byToken().ghp_second).toMatchObject({ requests: 1, counted: 1 })
  })

  test('bad, revoked and weak tokens', async () => {
    await start({
      tokens: [
        DEFAULT_TOKEN,
        { token: 'github_pat_issues', permissions: { metadata: 'read', issues: 'read' } },
        { token: 'ghp_weak', scopes: ['repo'] },
      ],
    })
    expect(await get(fake, '/user', { authorization: 'Bearer nonsense' })).toMatchObject({
      status: 401,
      body: { message: 'Bad credentials' },
    })
    expect((await get(fake, '/user')).headers.get('x-oauth-scopes')).toContain('repo')
    const fine = { authorization: 'Bearer github_pat_issues' }
    expect((await get(fake, '/repos/acme/web/issues', fine)).status).toBe(200)
    const refused = await get(fake, '/repos/acme/web/actions/runs', fine)
    expect(refused.body.message).toBe('Resource not accessible by personal access token')
    expect([refused.status, refused.headers.get('x-accepted-github-permissions')]).toEqual([403, 'actions=read'])
    const text = '{ repository(owner: "acme", name: "web") { pullRequests(first: 1) { totalCount } } }'
    expect((await query(fake, text, {}, fine)).body.errors[0]).toMatchObject({ type: 'FORBIDDEN' })
    const weak = { authorization: 'Bearer ghp_weak' }
    expect((await get(fake, '/user/orgs', weak)).status).toBe(403)
    const email = await query(fake, '{ user(login: "user-2") { email } }', {}, weak)
    expect(email.body.errors[0].type).toBe('INSUFFICIENT_SCOPES')
    fake.revoke('ghp_weak')
    expect((await get(fake, '/user', weak)).status).toBe(401)
    expect(fake.violations).toEqual([])
  })

  test('too many requests at a time meet the secondary limit', async () => {
    await start({ maximumConcurrency: 3, latencyMilliseconds: 100 })
    const answers = await Promise.all(Array.from({ length: 8 }, () => get(fake, '/user')))
    const refused = answers.filter(({ status }) => status === 403)
    expect(refused.length).toBeGreaterThan(0)
    expect(refused[0]!.headers.get('retry-after')).toBe('1')
    expect(fake.peakConcurrency).toBe(8)
  })
})
