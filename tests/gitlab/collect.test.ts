/** Everything in GitLab is collected, later runs ask only for news, and switched-off or refused data is reported. */
import { expect, it } from 'vitest'
import { doubled, gapsOf, rawRows, receiptOf } from '../collect/support/github.ts'
import { describeOneWithTables } from '../support/databases.ts'
import { generatedIds, gitlabSpec, namesOf, PATH, type RunOptions, runGitlab, storedIds } from './support.ts'
import { useFakeGitlab } from './use-fake.ts'

const mergeRequests = namesOf('Collect Merge Requests', 'Extract Merge Requests')

describeOneWithTables('collecting from GitLab', (test) => {
  const start = useFakeGitlab(test)
  const run = (options: RunOptions = {}) => runGitlab(test.database, options)
  const rowsOf = (table: string): Promise<any[]> => test.database.kysely.selectFrom(table).selectAll().execute()

  it('stores everything once', async () => {
    const fake = await start()
    const results = await run()
    expect(await storedIds(test.database)).toEqual(generatedIds(fake.world.project(PATH)))
    expect(await doubled(test.database)).toEqual([])
    expect(Object.values(results).filter(({ quarantined }) => quarantined > 0)).toEqual([])
    expect(await gapsOf(test.database)).toEqual([])
  })

  it('tells merge requests, issues, runs, deployments and releases in the words of all tools', async () => {
    const fake = await start()
    await run({ scopeConfig: { envNamePattern: 'production', deploymentPattern: 'deploy', issueTypeBug: 'bug' } })
    const project = fake.world.project(PATH)
    const id = `gitlab:GitlabProject:1:${project.id}`
    const count = (things: readonly any[], where: (thing: any) => boolean) => things.filter(where).length
    const pulls = await rowsOf('pull_requests')
    for (const [state, status] of [
      ['opened', 'OPEN'],
      ['merged', 'MERGED'],
      ['closed', 'CLOSED'],
    ]) {
      const expected = count(project.mergeRequests, (each) => each.state === state)
      expect(count(pulls, (each) => each.status === status && each.base_repo_id === id)).toBe(expected)
    }
    const issues = await rowsOf('issues')
    const bugs = count(project.issues, ({ labels, type }) => type !== 'INCIDENT' && labels.includes('bug'))
    expect(count(issues, ({ type }) => type === 'BUG')).toBe(bugs)
    const incidents = count(project.issues, ({ type }) => type === 'INCIDENT')
    expect(count(issues, ({ type }) => type === 'INCIDENT')).toBe(incidents)
    const runs = await rowsOf('cicd_pipelines')
    expect(runs).toHaveLength(project.pipelines.length)
    expect(count(runs, ({ is_child }) => Boolean(is_child))).toBe(2)
    const deployments = await rowsOf('cicd_deployments')
    const production = count(project.deployments, ({ environment }) => environment === 'production')
    expect(count(deployments, ({ environment }) => environment === 'PRODUCTION')).toBe(production)
    const approvals = project.mergeRequests.flatMap(({ notes }) =>
      notes.filter(({ body }) => body === 'approved this merge request'),
    )
    const reviews = await rowsOf('pull_request_comments')
    expect(count(reviews, ({ type, status }) => type === 'REVIEW' && status === 'APPROVED')).toBe(approvals.length)
    const releases = await rowsOf('cicd_releases')
    expect(releases.filter(({ is_latest }) => Boolean(is_latest)).map(({ tag_name }) => tag_name)).toEqual(['v3.0'])
    expect(await rowsOf('cicd_tasks')).toHaveLength(generatedIds(project).jobs?.length ?? 0)
  })

  it('finds the issues that merge requests close, by number and by address', async () => {
    const fake = await start({ issues: 9 })
    await run({ scopeConfig: { prBodyClosePattern: gitlabSpec.scopeConfig.fields.prBodyClosePattern?.suggestion } })
    const expected = fake.world.project(PATH).mergeRequests.flatMap(({ iid, description }) => {
      const numbers = [...description.matchAll(/[#/](\d+)/g)].map(([, number]) => number)
      return [...new Set(numbers)].map((number) => `${iid} closes ${number}`)
    })
    const links = await rowsOf('pull_request_issues')
    const found = links.map(({ pull_request_key, issue_key }) => `${pull_request_key} closes ${issue_key}`)
    expect(found.sort()).toEqual(expected.sort())
    expect(expected.length).toBeGreaterThan(3)
  })

  it('costs a request a list when nothing changed, and none for each record', async () => {
    const fake = await start()
    await run()
    const before = await rawRows(test.database)
    fake.requests.clear()
    await run()
    const lists = Object.entries(fake.requests.byTemplate())
    // There are three lists of pipelines: GitLab's own, child pipelines, and those of other tools.
    const most = (template: string) => (template.endsWith('/pipelines') ? 3 : 2)
    expect(lists.filter(([template, { requests }]) => requests > most(template))).toEqual([])
    expect(lists.filter(([template]) => /\{(iid|pipeline)\}/.test(template))).toEqual([])
    expect(await rawRows(test.database)).toEqual(before)
  })

  it('asks again only for the merge request and the pipeline that changed', async () => {
    const fake = await start()
    await run()
    fake.update({ project: PATH, act: 'force push', with: [4] })
    fake.update({ project: PATH, act: 'retry pipeline', with: [1] })
    const project = fake.world.project(PATH)
    fake.requests.clear()
    await run()
    expect(await storedIds(test.database)).toEqual(generatedIds(project))
    const asked = fake.requests.entries
      .map(({ url }) => url)
      .filter((url) => /\/(merge_requests|pipelines)\/\d/.test(url))
    const [iid, id] = [project.mergeRequests[4]?.iid, project.pipelines[1]?.id]
    expect(asked.filter((url) => !new RegExp(`/(merge_requests/${iid}|pipelines/${id})\\b`).test(url))).toEqual([])
    expect(asked).toHaveLength(4)
  })

  it('finds a job that ended in a pipeline that continues running', async () => {
    const fake = await start()
    fake.update({ project: PATH, act: 'start pipeline', with: [0] })
    await run()
    fake.clock.advance(3_600_000)
    fake.update({ project: PATH, act: 'finish job', with: [0] })
    await run()
    expect(await storedIds(test.database)).toEqual(generatedIds(fake.world.project(PATH)))
  })

  it('continues past 10,000 records, where GitLab counts no further', async () => {
    const fake = await start({ mergeRequests: 10_150, commitsPerMergeRequest: 1, notesPerMergeRequest: 0 })
    await run({ only: mergeRequests })
    expect((await storedIds(test.database)).mergeRequests).toHaveLength(10_150)
    expect(fake.requests.counts().requests).toBe(102)
    const receipt = await receiptOf(test.database, 'gitlab_api_merge_requests')
    expect(receipt).toMatchObject({ status: 'complete', received: 10_150, stored: 10_150 })
  })

  it('takes what is switched off for a gap, and collects the rest', async () => {
    const fake = await start({ disabled: { issues: 403, pipelines: 403, deployments: 404, releases: 403 } })
    const results = await run()
    const { issues, pipelines, deployments, releases, jobs, ...rest } = generatedIds(fake.world.project(PATH))
    expect(await storedIds(test.database)).toEqual({
      ...rest,
      issues: [],
      pipelines: [],
      deployments: [],
      releases: [],
      jobs: [],
    })
    const told = (await gapsOf(test.database)).map(({ subtask, status }) => `${subtask} ${status}`)
    expect(told.sort()).toEqual([
      'Collect Child Pipelines 403',
      'Collect Deployments 404',
      'Collect External Pipelines 403',
      'Collect Issues 403',
      'Collect Latest Release 403',
      'Collect Pipelines 403',
      'Collect Releases 403',
    ])
    expect(results['Collect Issues']).toMatchObject({ list: 'lost' })
  })

  it('keeps a merge request whose fork is gone', async () => {
    const fake = await start()
    fake.update({ project: PATH, act: 'lose fork', with: [0] })
    await run()
    const [made] = fake.world.project(PATH).mergeRequests
    const [row] = (await rowsOf('pull_requests')).filter(
      ({ pull_request_key }) => Number(pull_request_key) === made?.iid,
    )
    expect(row.head_repo_id).toBe('gitlab:GitlabProject:1:0')
  })

  it('follows a project that was moved and archived', async () => {
    const fake = await start()
    await run()
    const project = fake.world.project(PATH)
    Object.assign(project, { path: 'acme/shop/web', archived: true })
    fake.world.version++
    fake.update({ project: 'acme/shop/web', act: 'open issue', with: [1] })
    await run()
    expect(await storedIds(test.database)).toEqual(generatedIds(project))
    const [scope] = await rowsOf('_tool_gitlab_projects')
    expect(scope).toMatchObject({ path_with_namespace: 'acme/shop/web', name: 'web' })
    expect(Boolean(scope.archived)).toBe(true)
    expect((await rowsOf('repos'))[0]).toMatchObject({ name: 'acme/shop/web' })
  })

  it('says of a project that is gone that it is, and keeps what was collected', async () => {
    const fake = await start()
    await run()
    const before = await storedIds(test.database)
    Object.assign(fake.world.project(PATH), { isDeleted: true })
    fake.world.version++
    await expect(run()).rejects.toThrow(/projects\/70 answers 404: the project is gone, was renamed, or is hidden/)
    expect(await storedIds(test.database)).toEqual(before)
  })

  it('leaves out trigger jobs and tags unless they are asked for', async () => {
    const fake = await start()
    const [pipeline] = fake.world.project(PATH).pipelines
    pipeline?.bridges.push({ ...pipeline.jobs[0]!, id: 99_001, name: 'trigger', status: 'success' })
    await run()
    expect(fake.requests.entries.filter(({ url }) => /bridges|tags/.test(url))).toEqual([])
    expect((await rowsOf('cicd_tasks')).map(({ name }) => name)).not.toContain('trigger')
    await run({ only: () => true })
    expect((await rowsOf('cicd_tasks')).map(({ name }) => name)).toContain('trigger')
    expect(await rowsOf('_tool_gitlab_tags')).toHaveLength(3)
  })
})
