/** Everything in Bitbucket Data Center is collected, later runs ask only for possible changes, and refusals are reported. */
import { expect, it } from 'vitest'
import { bitbucketServer } from '../../src/plugins/bitbucket-server/plugin.ts'
import { gapsOf } from '../collect/support/github.ts'
import { type FakeDataCenter, type ServerChange, startFakeDataCenter, TOKEN } from '../fake-bitbucket/data-center.ts'
import { describeOneWithTables } from '../support/databases.ts'
import { useFake } from './support.ts'

const NAME = 'WEB/repos/shop'
const PULL = `bitbucket_server:BitbucketServerPullRequest:1:${NAME}`
const MONTH = 30 * 24 * 3_600_000

const FEW = 8
/** A few more than one page of pull requests. */
const MANY = 102

/** Creates pull requests that are a month old. */
function fill(fake: FakeDataCenter, pullRequests = FEW): void {
  const [repo] = fake.repos
  const change = (name: ServerChange, number: number) => repo && fake.change(name, repo, number)
  fake.clock.advance(-MONTH)
  for (let number = 0; number < pullRequests; number++) change('open', number)
  change('push', 0)
  change('comment', 0)
  change('comment', 0)
  change('reply', 0)
  change('approve', 0)
  change('ask for work', 0)
  change('merge', 0)
  change('decline', 0)
  fake.clock.advance(MONTH)
}

describeOneWithTables('collecting from Bitbucket Data Center', (test) => {
  const { start, run, rows } = useFake(test, {
    plugin: bitbucketServer,
    connection: { username: '', password: TOKEN },
    scope: { bitbucket_id: NAME, name: 'shop', html_url: 'https://bitbucket.example.com/shop' },
    start: (limit) => startFakeDataCenter([['WEB', 'shop']], limit === undefined ? {} : { limit }),
  })

  it('stores everything, in the words of all tools', async () => {
    const fake = await start()
    fill(fake, MANY)
    const results = await run({ prType: 'feat|fix', prComponent: 'component/\\w+' })
    expect(Object.values(results).filter(({ quarantined }) => quarantined > 0)).toEqual([])
    expect(await gapsOf(test.database)).toEqual([])
    const pulls = await rows('pull_requests')
    expect(pulls).toHaveLength(MANY)
    const merged = fake.repos[0]?.activities.get(1)?.find(({ action }) => action === 'MERGED')
    expect(pulls.find(({ id }) => id === `${PULL}:1`)).toMatchObject({
      status: 'MERGED',
      type: 'feat',
      component: 'component/ui',
      merge_commit_sha: merged?.commit.id,
      merged_by_name: merged?.user.displayName,
      merged_date: new Date(merged?.createdDate),
    })
    expect(pulls.find(({ id }) => id === `${PULL}:2`)).toMatchObject({ status: 'CLOSED', merged_date: null })
    const comments = await rows('pull_request_comments')
    expect(comments.map(({ type, status }) => `${type} ${status}`.trim()).sort()).toEqual([
      'DIFF',
      'NORMAL',
      'NORMAL',
      'REVIEW APPROVED',
      'REVIEW CHANGES_REQUESTED',
    ])
    expect(new Set(comments.map(({ created_date }) => created_date.getTime())).size).toBeLessThan(6)
    expect(comments.every(({ created_date }) => created_date.getTime() < fake.clock.now() - MONTH + 60_000)).toBe(true)
    expect(await rows('pull_request_reviewers', 'pull_request_id')).toHaveLength(MANY)
    const [commit] = await rows('pull_request_commits', 'commit_sha')
    expect(commit).toMatchObject({ commit_author_name: 'Git Name', commit_author_email: 'git@example.com' })
    expect((await rows('accounts')).map(({ full_name }) => full_name).sort()).toEqual(['ADA', 'BOB', 'CLEO'])
    const [repo] = await rows('repos')
    expect(repo.url).toBe('https://bitbucket.example.com/projects/WEB/repos/shop/browse')
  })

  it('asks again for the activities of open pull requests, and of no others', async () => {
    const fake = await start()
    const [repo] = fake.repos
    fill(fake)
    for (const pullRequest of repo?.pullRequests.slice(4) ?? []) {
      Object.assign(pullRequest, { state: 'DECLINED', closedDate: pullRequest.updatedDate })
    }
    await run()
    fake.requests.length = 0
    if (repo) fake.change('comment', repo, 0)
    await run()
    const asked = fake.requests.filter((url) => /pull-requests\/\d/.test(url)).map((url) => url.split('?')[0])
    expect(asked.map((path) => path?.split('pull-requests/')[1]).sort()).toEqual(['3/activities', '4/activities'])
    expect((await rows('pull_request_comments')).length).toBe(6)
  })

  it('forgets a pull request that was deleted', async () => {
    const fake = await start()
    fill(fake)
    await run()
    if (fake.repos[0]) fake.change('delete pull request', fake.repos[0], 0)
    await run()
    expect((await rows('pull_requests')).map(({ id }) => id)).not.toContain(`${PULL}:1`)
    expect(await rows('pull_request_comments')).toEqual([])
  })

  it('waits where the server says that the limit is reached, and repeats what was cut off', async () => {
    const fake = await start(3)
    fill(fake)
    fake.failures.push({ part: '/commits' }, { part: '/activities', status: 502, body: '<html>502</html>' })
    await run()
    expect(await rows('pull_requests')).toHaveLength(FEW)
    expect((await rows('pull_request_comments')).length).toBe(5)
  })

  it('keeps records without authors and in unknown states', async () => {
    const fake = await start()
    fill(fake)
    Object.assign(fake.repos[0]?.pullRequests[5] ?? {}, { author: null, state: 'BROODING', reviewers: undefined })
    const results = await run()
    expect(Object.values(results).filter(({ quarantined }) => quarantined > 0)).toEqual([])
    const odd = (await rows('pull_requests')).find(({ id }) => id === `${PULL}:6`)
    expect(odd).toMatchObject({ status: 'BROODING', author_id: '' })
  })

  it('reads an archived repository as any other', async () => {
    const fake = await start()
    fill(fake)
    if (fake.repos[0]) fake.repos[0].isArchived = true
    await run()
    expect(await gapsOf(test.database)).toEqual([])
    expect(await rows('pull_requests')).toHaveLength(FEW)
  })

  it('says of a repository that is gone that it is, and keeps what was collected', async () => {
    const fake = await start()
    fill(fake)
    await run()
    if (fake.repos[0]) fake.repos[0].isDeleted = true
    await expect(run()).rejects.toThrow(/repos\/shop answers 404: the repository is gone, was renamed/)
    expect(await rows('pull_requests')).toHaveLength(FEW)
  })
})
