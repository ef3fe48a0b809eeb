/** Requests to Azure DevOps in first and later runs, and the rows that come from the answers. */
import { expect, it } from 'vitest'
import { write } from '../../src/database/write.ts'
import { repos } from '../../src/plugins/azuredevops-go/kit.ts'
import type { FakeAzureDevops } from '../fake-azuredevops/fake-azuredevops.ts'
import { PROJECT } from '../fake-azuredevops/world.ts'
import { describeOneWithTables } from '../support/databases.ts'
import { useAzureDevops } from './support.ts'

const RULES = {
  envNamePattern: 'prod',
  deploymentPattern: 'deploy',
  productionPattern: 'deploy',
  issueTypeRequirement: 'Story',
  issueTypeBug: 'Bug',
  issueTypeIncident: '(?i)incident',
}
const PR = 'azuredevops_go:AzuredevopsPullRequest:1:'
const REPO = 'azuredevops_go:AzuredevopsRepo:1:'
const USER = 'azuredevops_go:AzuredevopsUser:1:'

describeOneWithTables('collecting from Azure DevOps', (test) => {
  const azure = useAzureDevops(test)
  const { rows } = azure
  const run = (id: string, options = {}) => azure.run(id, { scopeConfig: RULES, ...options })
  const webOf = ({ repositories }: FakeAzureDevops) => repositories[0]?.id ?? ''
  const lists = ({ requests }: FakeAzureDevops) =>
    requests
      .map((path) =>
        path
          .replace(/\?.*$/, '')
          .replace(/^.*_apis\//, '')
          .replace(/[0-9a-f-]{36}/, 'ID'),
      )
      .sort()

  it('reads pull requests with commits, labels, reviewers, comments and votes', async () => {
    const fake = await azure.start()
    const merged = fake.openPullRequest(0, { labels: [{ id: 'x', name: 'feature', active: true }] })
    fake.say(merged, 0, 'why here?')
    fake.say(merged, 1)
    fake.vote(merged, 2, -5)
    fake.vote(merged, 2, 10)
    const merge = fake.now()
    fake.close(merged, 'completed')
    const abandoned = fake.openPullRequest(0, { createdBy: undefined })
    fake.close(abandoned, 'abandoned')
    fake.openPullRequest(0, { isDraft: true })
    fake.openPullRequest(1)
    // The web address of a commit, which Azure DevOps does not always send.
    const seen = 'https://dev.azure.com/acme/_git/web/commit/1'
    Object.assign(merged.commits[0] as object, { remoteUrl: seen })
    await run(webOf(fake))
    const addresses = (await rows('_tool_azuredevops_go_commits', 'web_url')).map(({ web_url }) => web_url)
    expect(addresses.sort()).toEqual([seen, abandoned.commits[0]?.url, expect.stringContaining('/commits/')].sort())
    const pulls = await rows('pull_requests', 'pull_request_key', 'status', 'merged_date', 'author_id', 'is_draft')
    expect(pulls.map((row) => [row.status, row.merged_date, Boolean(row.is_draft)])).toEqual([
      ['MERGED', merge, false],
      ['CLOSED', null, false],
      ['OPEN', null, true],
    ])
    expect(pulls.map(({ author_id }) => author_id)).toEqual([
      `${USER}${merged.createdBy.id}`,
      '',
      expect.stringContaining(USER),
    ])
    expect(await rows('pull_request_labels', 'label_name')).toEqual([{ label_name: 'feature' }])
    const comments = await rows('pull_request_comments', 'type', 'status', 'body', 'account_id', 'pull_request_id')
    const id = `${PR}${merged.pullRequestId}`
    expect(comments.map(({ type, status, pull_request_id }) => [type, status, pull_request_id])).toEqual(
      expect.arrayContaining([
        ['DIFF', '', id],
        ['NORMAL', '', id],
        ['REVIEW', 'CHANGES_REQUESTED', id],
        ['REVIEW', 'APPROVED', id],
      ]),
    )
    expect(comments).toHaveLength(4)
    const reviewers = await rows('pull_request_reviewers', 'reviewer_id', 'pull_request_id', 'user_name')
    expect(reviewers.filter((row) => row.pull_request_id === id).length).toBeGreaterThan(0)
    expect(await rows('pull_request_commits', 'commit_sha')).toHaveLength(3)
    // Everybody who is named has an account, with the id that the records use.
    const accounts = (await rows('accounts', 'id', 'email')).map((row) => row.id)
    expect(accounts).toEqual(expect.arrayContaining([pulls[0].author_id, reviewers[0].reviewer_id]))
    expect(await rows('_weir_gaps', 'raw_table')).toEqual([])
    expect(await rows('_weir_quarantine', 'raw_table')).toEqual([])
  })

  it('reads pages that are smaller than asked for, to the last', async () => {
    const fake = await azure.start()
    for (let count = 0; count < 130; count++) fake.close(fake.openPullRequest(0), 'completed')
    for (let count = 0; count < 90; count++) fake.finishBuild(fake.queueBuild(0), 'succeeded')
    const only = ({ name }: { name: string }) => /Api(PullRequests|Builds)$/.test(name)
    await run(webOf(fake), { only })
    expect(await rows('pull_requests', 'id')).toHaveLength(130)
    expect(await rows('cicd_pipelines', 'id')).toHaveLength(90)
  })

  it('finds changes of old pull requests, and asks nothing about those that stay as they were', async () => {
    const fake = await azure.start()
    const [old, other, closed] = [0, 0, 0].map((at) => fake.openPullRequest(at))
    if (!old || !other || !closed) throw new Error('there are three')
    fake.close(closed, 'abandoned')
    azure.pass(24 * 30)
    await run(webOf(fake))
    azure.pass(24 * 30)
    old.title = 'another title'
    fake.close(other, 'completed')
    fake.say(old, 1)
    await run(webOf(fake))
    const pulls = await rows('pull_requests', 'pull_request_key', 'title', 'status')
    expect(pulls.map(({ title, status }) => [title, status])).toEqual([
      ['another title', 'OPEN'],
      [other.title, 'MERGED'],
      [closed.title, 'CLOSED'],
    ])
    expect(await rows('pull_request_comments', 'id')).toHaveLength(1)
    fake.reactivate(closed)
    azure.pass(24 * 30)
    await run(webOf(fake))
    fake.requests.length = 0
    await run(webOf(fake))
    expect((await rows('pull_requests', 'pull_request_key', 'status')).map(({ status }) => status)).toEqual([
      'OPEN',
      'MERGED',
      'OPEN',
    ])
    expect(lists(fake).filter((path) => path.includes(`pullRequests/${other.pullRequestId}/`))).toEqual([])
  })

  it('asks for the commits of a pull request where its head or its target is another', async () => {
    const fake = await azure.start()
    const [open, forced, moved, behind, closed] = [0, 0, 0, 0, 0].map((at) => fake.openPullRequest(at))
    if (!open || !forced || !moved || !behind || !closed) throw new Error('there are five')
    for (const each of [forced, closed]) fake.push(each)
    fake.close(closed, 'completed')
    await run(webOf(fake))
    const commits = async () => (await rows('pull_request_commits', 'commit_sha')).map(({ commit_sha }) => commit_sha)
    const told = () =>
      fake.pullRequests.flatMap((each) => each.commits.map(({ commitId }) => commitId as string)).sort()
    const asked = () =>
      lists(fake)
        .filter((path) => path.endsWith('/commits'))
        .map((path) => Number(path.split('/').at(-2)))
    expect(await commits()).toEqual(told())
    fake.requests.length = 0
    await run(webOf(fake))
    expect(asked()).toEqual([])
    fake.push(open)
    // Back to the previous commit: the last commit was removed.
    forced.commits.shift()
    forced.lastMergeSourceCommit = { commitId: forced.commits[0]?.commitId }
    moved.targetRefName = 'refs/heads/release'
    behind.lastMergeTargetCommit = { commitId: 'b'.repeat(40) }
    fake.requests.length = 0
    await run(webOf(fake))
    expect(asked()).toEqual([open, forced, moved, behind].map(({ pullRequestId }) => pullRequestId))
    expect(await commits()).toEqual(told())
    fake.requests.length = 0
    await run(webOf(fake), { fullSync: true })
    expect(asked()).toHaveLength(5)
    expect(await commits()).toEqual(told())
  })

  it('follows a build to its end, and one whose stages are run again', async () => {
    const fake = await azure.start()
    const build = fake.queueBuild(0, { definition: { id: 5, name: 'deploy' } })
    await run(webOf(fake))
    expect(await rows('cicd_pipelines', 'status', 'result')).toEqual([{ status: 'IN_PROGRESS', result: '' }])
    fake.finishBuild(build, 'failed')
    await run(webOf(fake))
    const columns = ['status', 'result', 'type', 'environment', 'cicd_scope_id'] as const
    const ended = {
      status: 'DONE',
      type: 'DEPLOYMENT',
      environment: 'PRODUCTION',
      cicd_scope_id: `${REPO}${webOf(fake)}`,
    }
    expect(await rows('cicd_pipelines', ...columns)).toEqual([{ ...ended, result: 'FAILURE' }])
    const tasks = await rows('cicd_tasks', 'name', 'status', 'result', 'type')
    expect(tasks).toEqual([
      { name: 'Build', status: 'DONE', result: 'FAILURE', type: '' },
      { name: 'deploy it', status: 'DONE', result: 'FAILURE', type: 'DEPLOYMENT' },
    ])
    fake.rerunBuild(build)
    fake.finishBuild(build, 'succeeded')
    await run(webOf(fake))
    expect(await rows('cicd_pipelines', ...columns)).toEqual([{ ...ended, result: 'SUCCESS' }])
    expect((await rows('cicd_tasks', 'result')).map(({ result }) => result)).toEqual(['SUCCESS', 'SUCCESS'])
  })

  it('reads what environments and releases deployed of the repository, with its commits', async () => {
    const fake = await azure.start()
    const build = fake.queueBuild(0)
    const elsewhere = fake.queueBuild(1)
    const open = fake.deploy(build, 0)
    fake.finishDeployment(fake.deploy(build, 1), 'succeeded')
    fake.finishDeployment(fake.deploy(elsewhere, 1), 'succeeded')
    for (const each of [build, build, elsewhere]) fake.finishRelease(fake.release(each, 'Production'), 'succeeded')
    const failing = fake.release(build, 'QA')
    await run(webOf(fake), { scopeConfig: { envNamePattern: '(?i)prod' } })
    const deployed = await rows('cicd_deployments', 'environment', 'result', 'status')
    expect(deployed.filter(({ environment }) => environment === 'PRODUCTION')).toEqual(
      Array(3).fill({ environment: 'PRODUCTION', result: 'SUCCESS', status: 'DONE' }),
    )
    expect(deployed.filter(({ status }) => status === 'IN_PROGRESS')).toHaveLength(2)
    const commits = await rows('cicd_deployment_commits', 'commit_sha', 'repo_id', 'repo_url')
    expect(commits).toEqual(
      Array(5).fill({
        commit_sha: build.sourceVersion,
        repo_id: `${REPO}${webOf(fake)}`,
        repo_url: fake.repositories[0]?.webUrl,
      }),
    )
    fake.finishRelease(failing, 'failed')
    fake.finishDeployment(open, 'skipped')
    await run(webOf(fake), { scopeConfig: { envNamePattern: '(?i)prod' } })
    const later = await rows('cicd_deployments', 'environment', 'result', 'status')
    expect(later.filter(({ environment }) => environment !== 'PRODUCTION')).toEqual([
      { environment: 'QA', result: 'FAILURE', status: 'DONE' },
      { environment: 'staging', result: '', status: 'DONE' },
    ])
  })

  it('takes a type that is an incident for one, whatever the tags say', async () => {
    const fake = await azure.start()
    fake.addWorkItem('Incident', { 'System.Tags': 'Bug' })
    fake.addWorkItem('Live Site Incident', { 'System.Tags': 'Bug' })
    fake.addWorkItem('Bug', { 'System.Tags': 'Incident' })
    fake.addWorkItem('Task', { 'System.Tags': 'Bug' })
    const typesWith = async (scopeConfig: Record<string, unknown>) => {
      await run(PROJECT.id, { scopeConfig })
      const found = await rows('issues', 'issue_key', 'type')
      return found.sort((one, other) => Number(one.issue_key) - Number(other.issue_key)).map(({ type }) => type)
    }
    expect(await typesWith(RULES)).toEqual(['INCIDENT', 'INCIDENT', 'INCIDENT', 'BUG'])
    expect(await typesWith({ issueTypeBug: 'Bug' })).toEqual(['INCIDENT', 'BUG', 'BUG', 'BUG'])
    expect(await typesWith({ issueTypeBug: '^(Bug|Incident)$' })).toEqual(['BUG', 'BUG', 'BUG', 'BUG'])
  })

  it('reads boards: types, states by their category, parents, iterations, tags and people', async () => {
    const fake = await azure.start()
    const sprint = fake.addIteration('Sprint 1', '2020-01-01T00:00:00Z', '2020-01-14T00:00:00Z')
    const story = fake.addWorkItem('User Story', {
      'System.IterationId': sprint.id,
      'System.AssignedTo': fake.person(1),
    })
    const bug = fake.addWorkItem('Bug', { 'System.Tags': 'Incident; web', 'System.CreatedBy': 'Ada <ada@example.com>' })
    const odd = fake.addWorkItem('Task', { 'System.State': 'Waiting for Godot' })
    fake.setParent(bug, story)
    await run(PROJECT.id)
    azure.pass()
    const closed = fake.now()
    const done = { 'System.State': 'Shipped', 'Microsoft.VSTS.Common.ClosedDate': closed.toISOString() }
    fake.changeWorkItem(story, { ...done, 'Microsoft.VSTS.Scheduling.StoryPoints': 5 })
    await run(PROJECT.id)
    const idOf = ({ id }: { id?: number }) => `azuredevops_go:AzuredevopsWorkItem:1:${id}`
    const issues = await rows(
      'issues',
      'issue_key',
      'type',
      'status',
      'resolution_date',
      'story_point',
      'parent_issue_id',
    )
    expect(issues).toEqual([
      {
        issue_key: String(story.id),
        type: 'REQUIREMENT',
        status: 'DONE',
        resolution_date: closed,
        story_point: 5,
        parent_issue_id: '',
      },
      expect.objectContaining({ type: 'INCIDENT', status: 'TODO', parent_issue_id: idOf(story) }),
      expect.objectContaining({ type: '', status: 'OTHER', resolution_date: null }),
    ])
    expect(await rows('issue_labels', 'label_name')).toEqual([{ label_name: 'Incident' }, { label_name: 'web' }])
    expect(await rows('sprints', 'name', 'status')).toEqual([{ name: 'Sprint 1', status: 'CLOSED' }])
    expect(await rows('sprint_issues', 'issue_id')).toEqual([{ issue_id: idOf(story) }])
    expect(await rows('board_issues', 'board_id')).toEqual(Array(3).fill({ board_id: `${REPO}${PROJECT.id}` }))
    expect(await rows('issue_assignees', 'assignee_id')).toEqual([{ assignee_id: `${USER}${fake.person(1).id}` }])
    expect((await rows('issues', 'issue_key', 'creator_name'))[1]).toMatchObject({ creator_name: 'Ada' })
    fake.setParent(bug, undefined)
    fake.changeWorkItem(odd, { 'System.IsDeleted': true })
    await run(PROJECT.id)
    const left = await rows('issues', 'issue_key', 'parent_issue_id')
    expect(left.map(({ parent_issue_id }) => parent_issue_id)).toEqual(['', ''])
    expect(fake.requests.filter((path) => path.includes('/git/') || path.includes('/build/'))).toEqual([])
  })

  it('asks of a repository elsewhere for its builds alone, by the name that it has there', async () => {
    const fake = await azure.start()
    const external = { id: 'e1-acme/tool', external_id: 'acme/tool', type: 'github', name: 'github/acme/tool' }
    const url = 'https://github.com/acme/tool'
    const place = { organization_id: 'acme', project_id: PROJECT.name }
    await write(test.database, [repos.row({ connection_id: 1, ...external, ...place, url })])
    const build = fake.queueBuild(0, { repository: { id: 'acme/tool', type: 'github' } })
    fake.finishBuild(build, 'succeeded')
    await run(external.id)
    expect(await rows('cicd_pipeline_commits', 'commit_sha', 'repo_url')).toEqual([
      { commit_sha: build.sourceVersion, repo_url: url },
    ])
    expect(await rows('cicd_scopes', 'id')).toEqual([{ id: `${REPO}${external.id}` }])
    expect(await rows('repos', 'id')).toEqual([])
    expect(fake.requests.filter((path) => path.includes('/git/'))).toEqual([])
  })

  it('follows a repository and a project that were renamed', async () => {
    const fake = await azure.start()
    fake.openPullRequest(0)
    await run(webOf(fake))
    const [project, web] = [fake.projects[0], fake.repositories[0]]
    if (!project || !web) throw new Error('there are both')
    Object.assign(project, { name: 'Shop' })
    Object.assign(web, { name: 'front', project, webUrl: 'https://dev.azure.com/acme/Shop/_git/front' })
    fake.openPullRequest(0)
    await run(web.id)
    expect(await rows('repos', 'name', 'url')).toEqual([{ name: 'Shop/front', url: web.webUrl }])
    expect(await rows('pull_requests', 'id')).toHaveLength(2)
  })
})
