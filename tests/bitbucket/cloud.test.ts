/** Everything in Bitbucket Cloud is collected, later runs ask only for news, and refusals are reported. */
import { expect, it } from 'vitest'
import { bitbucket } from '../../src/plugins/bitbucket/plugin.ts'
import { gapsOf } from '../collect/support/github.ts'
import { type FakeCloud, LOGIN, startFakeCloud } from '../fake-bitbucket/cloud.ts'
import { CLOUD_CHANGES } from '../fake-bitbucket/cloud-world.ts'
import { describeOneWithTables } from '../support/databases.ts'
import { useFake } from './support.ts'

const NAME = 'acme/web'
const REPO = `bitbucket:BitbucketRepo:1:${NAME}`
const HOUR = 3_600_000

const FEW = 6
/** A few more than one page of pull requests. */
const MANY = 52

/** Creates pull requests, issues, and pipelines that deploy. */
function fill(fake: FakeCloud, pullRequests = FEW): void {
  const [repo] = fake.world.repos
  if (!repo) return
  const at = (hours: number) => new Date(fake.clock.now() - hours * HOUR).toISOString()
  const change = (name: keyof typeof CLOUD_CHANGES, number: number, hours = 100) =>
    CLOUD_CHANGES[name](fake.world, repo, number, at(hours))
  for (let number = 0; number < pullRequests; number++) change('open pull request', number, 300)
  change('push', 0)
  change('merge', 0)
  change('decline', 1)
  change('approve', 2)
  change('comment', 2)
  for (let number = 0; number < 3; number++) change('open issue', number)
  change('change issue', 0)
  change('comment issue', 1)
  for (let number = 0; number < 3; number++) change('start pipeline', number, 90 - number)
  change('finish pipeline', 0, 80)
  change('finish pipeline', 0, 79)
}

describeOneWithTables('collecting from Bitbucket Cloud', (test) => {
  const { start, run, rows } = useFake(test, {
    plugin: bitbucket,
    connection: { ...LOGIN, uses_api_token: true },
    scope: { bitbucket_id: NAME, name: 'web', html_url: `https://bitbucket.org/${NAME}` },
    start: (limit) => startFakeCloud([NAME, 'acme/api'], limit === undefined ? {} : { limit }),
  })
  const pull = async (key: number) =>
    (await rows('pull_requests')).find(({ pull_request_key }) => Number(pull_request_key) === key)

  it('stores everything, in the words of all tools', async () => {
    const fake = await start()
    fill(fake, MANY)
    const [ready] = [...(fake.world.repos[0]?.steps.values() ?? [])].flat()
    Object.assign(ready ?? {}, { state: { name: 'READY' }, started_on: '2026-05-01T10:00:00Z' })
    const results = await run({ issueStatusTodo: 'new', deploymentPattern: 'deploy', productionPattern: 'production' })
    expect(Object.values(results).filter(({ quarantined }) => quarantined > 0)).toEqual([])
    expect(await gapsOf(test.database)).toEqual([])
    expect(await rows('cicd_tasks')).toContainEqual(
      expect.objectContaining({ original_status: 'READY', status: 'IN_PROGRESS' }),
    )
    expect(await rows('pull_requests')).toHaveLength(MANY)
    const merge = fake.world.repos[0]?.pullRequests[0]?.merge_commit
    expect(await pull(1)).toMatchObject({
      status: 'MERGED',
      base_repo_id: REPO,
      head_repo_id: REPO,
      merge_commit_sha: merge.hash,
      merged_date: new Date(merge.date),
    })
    expect((await pull(2)).closed_date).toEqual(new Date(fake.world.repos[0]?.pullRequests[1]?.updated_on))
    expect(await rows('pull_request_commits', 'commit_sha')).toHaveLength(MANY + 1)
    const comments = await rows('pull_request_comments', 'type')
    expect(comments.map(({ type, status }) => [type, status])).toEqual([
      ['REVIEW', 'APPROVED'],
      ['pullrequest_comment', ''],
    ])
    expect(await rows('pull_request_reviewers', 'pull_request_id')).toHaveLength(MANY)
    expect((await rows('issues')).map(({ status }) => status).sort()).toEqual(['', 'TODO', 'TODO'])
    expect(await rows('issue_comments')).toHaveLength(1)
    const runs = await rows('cicd_pipelines')
    expect(runs.map(({ status }) => status).sort()).toEqual(['DONE', 'DONE', 'IN_PROGRESS'])
    expect(runs.every(({ cicd_scope_id }) => cicd_scope_id === REPO)).toBe(true)
    const tasks = (await rows('cicd_tasks')).map(({ name, type, environment }) => [name, type, environment])
    expect(tasks).toContainEqual(['deploy to production', 'DEPLOYMENT', 'PRODUCTION'])
    expect(tasks).toContainEqual(['deploy to staging', 'DEPLOYMENT', ''])
    expect(tasks).toHaveLength(7)
    const [environment] = fake.world.repos[0]?.deployments ?? []
    const known = fake.world.repos[0]?.environments.find(({ uuid }) => uuid === environment?.environment.uuid)
    const kind = known?.environment_type.name.toUpperCase()
    const deployed = await rows('cicd_deployment_commits')
    expect(deployed).toHaveLength(2)
    expect(deployed[0].commit_sha).toHaveLength(40)
    expect(deployed.map((each) => [each.environment, each.original_environment])).toContainEqual([
      kind === 'TEST' ? 'TESTING' : kind,
      known?.name,
    ])
    expect((await rows('accounts')).map(({ full_name }) => full_name).sort()).toEqual(['Ada', 'Bob', 'Cleo'])
  })

  it('asks again only for what changed', async () => {
    const fake = await start()
    fill(fake)
    await run()
    fake.requests.length = 0
    const [repo] = fake.world.repos
    if (repo) CLOUD_CHANGES.comment(fake.world, repo, 4, new Date(fake.clock.now()).toISOString())
    if (repo) CLOUD_CHANGES['finish pipeline'](fake.world, repo, 1, new Date(fake.clock.now()).toISOString())
    await run()
    expect(fake.requests.filter((url) => /pullrequests\/\d/.test(url)).map((url) => url.split('?')[0])).toEqual([
      '/2.0/repositories/acme/web/pullrequests/5/comments',
      '/2.0/repositories/acme/web/pullrequests/5/commits',
    ])
    expect(fake.requests.filter((url) => url.includes('/commit/'))).toEqual([])
    expect(fake.requests.filter((url) => url.includes('/steps/'))).toHaveLength(1)
    expect((await rows('pull_request_comments', 'type')).length).toBe(3)
    expect((await rows('cicd_pipelines')).map(({ status }) => status)).toEqual(['DONE', 'DONE', 'DONE'])
  })

  it('waits where Bitbucket says that the limit is reached, and repeats what was cut off', async () => {
    const fake = await start(4)
    fill(fake)
    fake.failures.push({ part: '/pipelines/' }, { part: '/issues', status: 502, body: '<html>502</html>' })
    await run()
    expect(await rows('pull_requests')).toHaveLength(FEW)
    expect(await rows('issues')).toHaveLength(3)
    expect(await rows('cicd_pipelines')).toHaveLength(3)
  })

  it('takes a repository without issues as one, and a missing right as a gap', async () => {
    const fake = await start()
    fill(fake)
    Object.assign(fake.world.repos[0] ?? {}, { hasIssues: false })
    fake.missing.add('read:pipeline:bitbucket')
    await run()
    const told = (await gapsOf(test.database)).map(({ subtask, status }) => `${subtask} ${status}`)
    expect(told.sort()).toEqual(['Collect Deployments 403', 'Collect Environments 403', 'Collect Pipelines 403'])
    expect(await rows('pull_requests')).toHaveLength(FEW)
    expect(await rows('issues')).toEqual([])
  })

  it.each([false, true])(
    'keeps what was collected before something is switched off (all again: %s)',
    async (fullSync) => {
      const fake = await start()
      fill(fake)
      await run()
      const stored = async () => {
        const tables = ['issues', 'issue_comments', 'cicd_pipelines', 'cicd_tasks', 'cicd_deployments'] as const
        return Promise.all(tables.map((table) => rows(table).then((found) => found.map(({ id }) => id))))
      }
      const before = await stored()
      expect(before.every((ids) => ids.length > 0)).toBe(true)
      const [repo] = fake.world.repos
      Object.assign(repo ?? {}, { hasIssues: false, hasPipelines: false })
      await run({}, { fullSync })
      expect(await stored()).toEqual(before)
      const told = await gapsOf(test.database)
      for (const name of ['Collect Issues', 'Collect Pipelines', 'Collect Environments', 'Collect Deployments']) {
        const gap = told.find(({ subtask }) => subtask === name)
        expect(gap?.reason).toMatch(
          /404: it was switched off, or is not there any more. What was collected of it is kept/,
        )
      }
      Object.assign(repo ?? {}, { hasIssues: true, hasPipelines: true })
      await run({}, { fullSync })
      expect(await gapsOf(test.database)).toEqual([])
      expect(await stored()).toEqual(before)
    },
  )

  it('takes a repository without pipelines as one', async () => {
    const fake = await start()
    fill(fake)
    Object.assign(fake.world.repos[0] ?? {}, { hasPipelines: false })
    await run()
    expect(await gapsOf(test.database)).toEqual([])
    expect(await rows('pull_requests')).toHaveLength(FEW)
  })

  it('reads an archived repository as any other', async () => {
    const fake = await start()
    fill(fake)
    Object.assign(fake.world.repos[0] ?? {}, { isArchived: true })
    await run()
    expect(await gapsOf(test.database)).toEqual([])
    expect(await rows('pull_requests')).toHaveLength(FEW)
    expect(await rows('issues')).toHaveLength(3)
  })

  it('keeps records without authors, of lost forks, and in unknown states', async () => {
    const fake = await start()
    fill(fake)
    const [first, second] = fake.world.repos[0]?.pullRequests ?? []
    Object.assign(first ?? {}, { author: null, closed_by: null, participants: [{ user: null, role: 'PARTICIPANT' }] })
    if (first) first.source.repository = null
    Object.assign(second ?? {}, { state: 'DECLINED' })
    Object.assign(fake.world.repos[0]?.pipelines[1] ?? {}, { state: { name: 'BROODING' }, target: {} })
    const results = await run()
    expect(Object.values(results).filter(({ quarantined }) => quarantined > 0)).toEqual([])
    expect(await pull(1)).toMatchObject({ author_id: '', author_name: '', head_repo_id: '' })
    expect((await rows('cicd_pipelines')).map(({ status }) => status).sort()).toEqual(['DONE', 'IN_PROGRESS', 'OTHER'])
  })

  it('collects a renamed repository under the name that it was added by', async () => {
    const fake = await start()
    fill(fake)
    const [repo] = fake.world.repos
    if (repo) repo.renamedTo = 'acme/shop'
    for (const { source, destination } of repo?.pullRequests ?? []) {
      source.repository = destination.repository = { full_name: 'acme/shop' }
    }
    await run()
    expect(await pull(1)).toMatchObject({ base_repo_id: REPO, head_repo_id: REPO })
  })

  it('says of a repository that is gone that it is, and keeps what was collected', async () => {
    const fake = await start()
    fill(fake)
    await run()
    if (fake.world.repos[0]) fake.world.repos[0].isDeleted = true
    await expect(run()).rejects.toThrow(/repositories\/acme\/web answers 404: the repository is gone, was renamed/)
    expect(await rows('pull_requests')).toHaveLength(FEW)
  })
  it('keeps the comments of pull requests where the repository is deleted in the middle', async () => {
    const fake = await start()
    fill(fake)
    await run()
    const [repo] = fake.world.repos
    if (!repo) return
    CLOUD_CHANGES.comment(fake.world, repo, 2, new Date(fake.clock.now()).toISOString())
    fake.watchers.push((address) => {
      if (address.includes('/comments')) repo.isDeleted = true
    })
    await expect(run()).rejects.toThrow(/answers 404: the repository is gone/)
    expect((await rows('pull_request_comments', 'type')).length).toBe(2)
  })
})
