/** Problems of an Azure DevOps server or its token: each has a message, and changes nothing that is stored. */
import { expect, it } from 'vitest'
import { testConnection } from '../../src/control-plane/connections/test-connection.ts'
import { write } from '../../src/database/write.ts'
import { openAwaitedClient } from '../../src/plugin-kit/task/connection.ts'
import { repos } from '../../src/plugins/azuredevops-go/kit.ts'
import { type FakeAzureDevops, TOKEN } from '../fake-azuredevops/fake-azuredevops.ts'
import { ORGANIZATION, PROJECT } from '../fake-azuredevops/world.ts'
import { describeOneWithTables } from '../support/databases.ts'
import { repositoryRow, spec, useAzureDevops } from './support.ts'

const signal = AbortSignal.timeout(600_000)
const settingsOf = ({ url }: FakeAzureDevops, more = {}) => ({
  endpoint: url,
  organization: ORGANIZATION,
  token: TOKEN,
  ...more,
})
const check = (fake: FakeAzureDevops, more = {}) =>
  testConnection(spec, settingsOf(fake, more), { mask: () => ({}) }, { isSaved: false, signal })
const only = ({ name }: { name: string }) => /(collectRepo|PullRequests|ApiBuilds)$/.test(name)

describeOneWithTables('of Azure DevOps', (test) => {
  const azure = useAzureDevops(test)
  const webOf = ({ repositories }: FakeAzureDevops) => repositories[0]?.id ?? ''

  it('a connection test names the rights that a token lacks', async () => {
    const fake = await azure.start()
    expect(await check(fake)).toMatchObject({ success: true })
    fake.failures.push(
      { path: '/build/', status: 401, stays: true },
      { path: '/release/', status: 403, stays: true },
      { path: '/wit/', status: 203, isPage: true, stays: true },
    )
    expect(await check(fake)).toMatchObject({
      success: false,
      message: 'The token lacks Build (Read), Release (Read), Work Items (Read): make one with these rights.',
    })
  })

  it.each([203, 200])('a page to sign in with status %i is a token that is refused', async (status) => {
    const fake = await azure.start()
    fake.openPullRequest(0)
    await azure.run(webOf(fake), { only })
    fake.failures.push({ path: '/pullrequests', status, isPage: true, stays: true })
    const failed = azure.run(webOf(fake), { only })
    await expect(failed).rejects.toThrow(
      new RegExp(
        `Connection "azure".*accepts none of the credentials \\(.*${status} with the page to sign in.*save new ones`,
      ),
    )
    await expect(failed).rejects.not.toThrow(TOKEN)
    expect(await azure.rows('pull_requests', 'id')).toHaveLength(1)
    fake.failures.push({ path: '/projects', status, isPage: true, stays: true })
    await expect(check(fake)).rejects.toThrow(/accepts none of the credentials/)
  })

  it('a wrong token, and a Server without a collection, are told by the connection test', async () => {
    const fake = await azure.start()
    await expect(check(fake, { token: 'wrong' })).rejects.toThrow(/203 with the page to sign in/)
    await expect(check(fake, { organization: '' })).rejects.toThrow(/organization is missing.*Add the name of one/)
  })

  it('an organization without projects is connected, and offers nothing', async () => {
    const fake = await azure.start()
    fake.projects.length = 0
    expect(await check(fake)).toMatchObject({ success: true, message: expect.stringContaining('has no projects yet') })
    const client = openAwaitedClient(spec, settingsOf(fake))
    const listed = await spec.scope.remote?.list({ client, settings: settingsOf(fake), signal })
    await client.close()
    expect(listed).toEqual({ children: [] })
  })

  it('what can be collected is a tree of projects, and can be searched', async () => {
    const fake = await azure.start()
    const [, disabled] = fake.repositories
    if (disabled) disabled.isDisabled = true
    const settings = settingsOf(fake)
    const client = openAwaitedClient(spec, settings)
    const list = async (group?: string) => {
      const found = await spec.scope.remote?.list({ client, settings, signal, ...(group && { group }) })
      return found?.children ?? []
    }
    const [project] = await list()
    expect(project).toMatchObject({ type: 'group', id: `${ORGANIZATION}/${PROJECT.name}` })
    const [board, web, elsewhere, ...none] = await list(project?.id)
    expect(none).toEqual([])
    expect(board).toMatchObject({ id: PROJECT.id, data: { type: 'Board', url: `${fake.url}acme/Shop%20Floor` } })
    expect(web?.data).toMatchObject({ type: 'TfsGit', remoteUrl: 'https://dev.azure.com/acme/Shop%20Floor/_git/web' })
    expect((await list(elsewhere?.id)).map(({ id }) => id)).toEqual(['e1-acme/tool-1', 'e1-acme/tool-2'])
    const search = async (text: string) => {
      const found = await spec.scope.remote?.search?.({ client, settings, signal, search: text, page: 1, pageSize: 10 })
      return found?.children.map(({ name }) => name)
    }
    expect(await search('WEB')).toEqual(['web'])
    expect(await search('shop')).toEqual([`${PROJECT.name} (boards)`, 'web'])
    await client.close()
  })

  it('a limit, a broken answer and an empty one delay a run, and take nothing from it', async () => {
    const fake = await azure.start()
    for (let count = 0; count < 60; count++) fake.openPullRequest(0)
    fake.failures.push(
      { path: '$skip=40', status: 429 },
      { path: '$skip=60', status: 503 },
      { path: '/build/', status: 500 },
    )
    await azure.run(webOf(fake), { only })
    expect(await azure.rows('pull_requests', 'id')).toHaveLength(60)
    expect(await azure.rows('_weir_gaps', 'raw_table')).toEqual([])
  })

  it('what is switched off is a gap, and a project that is deleted in the middle a sentence', async () => {
    const fake = await azure.start()
    const web = webOf(fake)
    fake.openPullRequest(0)
    fake.queueBuild(0)
    fake.failures.push({ path: '/build/builds', status: 404, stays: true })
    await azure.run(web, { only })
    expect(await azure.rows('_weir_gaps', 'raw_table', 'status')).toEqual([
      { raw_table: '_raw_azuredevops_go_api_builds', status: 404 },
    ])
    fake.repositories.length = 0
    fake.projects.length = 0
    await expect(azure.run(web, { only })).rejects.toThrow(
      /is gone, was renamed, or is hidden.*collected of it is kept/,
    )
    expect(await azure.rows('pull_requests', 'id')).toHaveLength(1)
  })

  it.each([false, true])(
    'of a repository that is disabled everything is kept, and a sentence says why (all again: %s)',
    async (fullSync) => {
      const fake = await azure.start()
      const web = webOf(fake)
      fake.say(fake.openPullRequest(0), 1)
      fake.queueBuild(0)
      await azure.run(web)
      const stored = () =>
        Promise.all(
          ['pull_requests', 'pull_request_comments', 'pull_request_commits'].map(async (table) =>
            (await azure.rows(table, '_raw_data_id')).map(Number),
          ),
        )
      const before = await stored()
      expect(before.map(({ length }) => length)).toEqual([1, 1, 1])
      if (fake.repositories[0]) fake.repositories[0].isDisabled = true
      fake.queueBuild(0)
      await azure.run(web, { fullSync })
      expect(await stored()).toEqual(before)
      // The builds of a disabled repository can still be read.
      expect(await azure.rows('cicd_pipelines', 'id')).toHaveLength(2)
      const told = await azure.rows('_weir_gaps', 'raw_table', 'reason')
      const gap = told.find(({ raw_table }) => raw_table === '_raw_azuredevops_go_api_pull_requests')
      expect(gap?.reason).toMatch(/404.*The repository is disabled: what was collected of it is kept. Enable it/)
      if (fake.repositories[0]) fake.repositories[0].isDisabled = false
      await azure.run(web, { fullSync })
      expect(await azure.rows('_weir_gaps', 'reason')).toEqual([])
    },
  )

  it.each([false, true])(
    'releases, environments and boards that are switched off are gaps, and their rows stay (all again: %s)',
    async (fullSync) => {
      const fake = await azure.start()
      const web = webOf(fake)
      const build = fake.queueBuild(0)
      fake.finishDeployment(fake.deploy(build, 1), 'succeeded')
      fake.finishRelease(fake.release(build, 'Production'), 'succeeded')
      const sprint = fake.addIteration('Sprint 1', '2020-01-01T00:00:00Z', '2020-01-14T00:00:00Z')
      fake.addWorkItem('Bug', { 'System.IterationId': sprint.id, 'System.Tags': 'web' })
      const runBoth = async (options = {}) => {
        await azure.run(web, options)
        await azure.run(PROJECT.id, options)
      }
      const stored = () =>
        Promise.all(
          ['cicd_deployments', 'issues', 'issue_labels', 'sprints', 'sprint_issues'].map(async (table) =>
            (await azure.rows(table, '_raw_data_id')).map(Number),
          ),
        )
      await runBoth()
      const before = await stored()
      expect(before.map(({ length }) => length)).toEqual([2, 1, 1, 1, 1])
      for (const path of ['/release/', '/distributedtask/', '/wit/']) {
        fake.failures.push({ path, status: 404, stays: true })
      }
      await runBoth({ fullSync })
      expect(await stored()).toEqual(before)
      const told = (await azure.rows('_weir_gaps', 'raw_table')).map(({ raw_table }) =>
        raw_table.replace('_raw_azuredevops_go_api_', ''),
      )
      expect(told).toEqual(
        expect.arrayContaining(['environments', 'iterations', 'release_deployments', 'work_item_types', 'work_items']),
      )
      fake.failures.length = 0
      await runBoth({ fullSync })
      expect(await azure.rows('_weir_gaps', 'raw_table')).toEqual([])
      expect((await stored()).map(({ length }) => length)).toEqual([2, 1, 1, 1, 1])
    },
  )

  it('a project that never had releases or environments is one without', async () => {
    const fake = await azure.start()
    fake.queueBuild(0)
    for (const path of ['/release/', '/distributedtask/']) fake.failures.push({ path, status: 404, stays: true })
    await azure.run(webOf(fake))
    expect(await azure.rows('_weir_gaps', 'raw_table')).toEqual([])
    expect(await azure.rows('cicd_pipelines', 'id')).toHaveLength(1)
  })

  it('a repository that another connection has is refused', async () => {
    const fake = await azure.start()
    const [web] = fake.repositories.map(repositoryRow)
    if (web) await write(test.database, [repos.row({ connection_id: 0, ...web })])
    await expect(azure.run(webOf(fake), { only })).rejects.toThrow(/web is also a scope of connection 0: remove it/)
  })

  it('dates without a zone are read, and what is no date is put aside', async () => {
    const fake = await azure.start()
    fake.openPullRequest(0, { creationDate: '2026-01-31T12:00:00' })
    fake.openPullRequest(0, { creationDate: 'soon' })
    await azure.run(webOf(fake), { only })
    expect(await azure.rows('pull_requests', 'created_date')).toEqual([
      { created_date: new Date('2026-01-31T12:00:00Z') },
    ])
    expect(await azure.rows('_weir_quarantine', 'reason')).toEqual([
      { reason: expect.stringContaining('"soon" is not a date') },
    ])
  })
})
