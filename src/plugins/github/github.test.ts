/** Runs from a fake GitHub over HTTP to the domain tables, on both database engines and with both APIs. */
import { afterEach, beforeAll, beforeEach, expect, it, vi } from 'vitest'
import { type FakeGithub, startFakeGithub } from '../../../tests/fake-github/fake-github.ts'
import type { FakeGithubOptions } from '../../../tests/fake-github/settings.ts'
import { DEFAULT_TOKEN } from '../../../tests/fake-github/tokens.ts'
import { describeOneWithTables } from '../../../tests/support/databases.ts'
import { emptyTables } from '../../../tests/support/empty-tables.ts'
import { migrate } from '../../database/migrate.ts'
import { readAll } from '../../database/read.ts'
import { write } from '../../database/write.ts'
import { domainTables } from '../../domain/index.ts'
import { issues } from '../../domain/ticket.ts'
import { kitTables } from '../../plugin-kit/define/tables.ts'
import { receipts } from '../../plugin-kit/raw/receipts.ts'
import type { Plugin } from '../../plugin-kit/spec/plugin.ts'
import { settingsTables } from '../../plugin-kit/task/settings-tables.ts'
import { systemTables } from '../../system/index.ts'
import { githubGraphql } from './graphql-plugin.ts'
import { repos } from './kit.ts'
import { github, githubSpec } from './plugin.ts'

const NAME = 'acme/web'
const SCOPE_CONFIG = {
  deploymentPattern: 'deploy',
  productionPattern: 'production',
  envNamePattern: '(?i)prod',
  issueTypeBug: 'bug',
  issuePriority: 'priority',
  prType: 'type',
  prBodyClosePattern:
    '(?mi)(fix|close|fixes|closes)[\\s]*.*(((and )?(#|https:\\/\\/github.com\\/%s\\/issues\\/)\\d+[ ]*)+)',
}
const plugins = [github, githubGraphql]

describeOneWithTables('GitHub', (test) => {
  const tables = [
    ...new Set([...systemTables, ...kitTables, ...domainTables, ...plugins.flatMap((each) => each.tables)]),
  ]
  let fake: FakeGithub

  beforeAll(() => migrate(test.database, tables))
  beforeEach(() => emptyTables(test.database, tables))
  afterEach(async () => {
    vi.unstubAllEnvs()
    expect(fake.violations).toEqual([])
    await fake.stop()
  })

  const empty = () => emptyTables(test.database, tables)

  async function start(options: FakeGithubOptions = {}, repository = NAME) {
    fake = await startFakeGithub(options)
    await connect(repository)
  }

  async function connect(repository = NAME, token = DEFAULT_TOKEN) {
    const { connections } = settingsTables(githubSpec)
    const found = fake.world.find(repository) ?? fake.world.findRenamed(repository)
    await write(test.database, [
      connections.row({ id: 1, name: 'fake', endpoint: fake.url, token, auth_method: 'AccessToken' }),
      repos.row({
        connection_id: 1,
        github_id: found?.id ?? 1,
        name: repository.split('/')[1],
        full_name: repository,
        html_url: `https://github.com/${repository}`,
      }),
    ])
  }

  async function run(plugin: Plugin, { fullSync = false, repository = NAME } = {}) {
    const options = { connectionId: 1, fullName: repository, scopeConfig: SCOPE_CONFIG }
    const signal = new AbortController().signal
    for (const subtask of plugin.subtasks.filter(({ isDefault }) => isDefault)) {
      const { quarantined } = await subtask.run({
        database: test.database,
        options,
        fullSync,
        signal,
        progress: () => {},
      })
      expect([subtask.name, quarantined]).toEqual([subtask.name, 0])
    }
  }

  /** Reads every domain row, without the times of writing and the origin. */
  async function domain(): Promise<Record<string, string[]>> {
    const found: Record<string, string[]> = {}
    for (const table of domainTables) {
      const rows = await readAll(test.database, { table, isLiteral: true })
      const plain = rows.map(({ created_at, updated_at, _raw_data_id, _raw_data_table, ...row }: any) =>
        JSON.stringify(row),
      )
      if (plain.length > 0) found[table.name] = plain.sort()
    }
    return found
  }
  const idIn = (row: string): string => JSON.parse(row).id
  const countsOf = (rows: Record<string, string[]>) =>
    Object.fromEntries(Object.entries(rows).map(([name, list]) => [name, list.length]))

  it('stores the same by REST and by GraphQL, and all of it', async () => {
    await start({
      world: {
        repositories: [
          { name: NAME, jobsPerRun: [0, 3], statusesPerDeployment: [0, 4] },
          { name: 'acme/other', pullRequests: 3 },
        ],
      },
    })
    await run(github)
    const rest = await domain()
    await empty()
    await connect()
    await run(githubGraphql)
    const graphql = await domain()
    expect(countsOf(graphql)).toEqual(countsOf(rest))
    expect(graphql).toEqual(rest)
    const {
      pullRequests,
      runs,
      jobs,
      deployments,
      releases,
      reviews,
      reviewComments,
      issues: tickets,
    } = fake.world.repository(NAME)
    expect(countsOf(rest)).toMatchObject({
      issues: [...tickets].length,
      pull_requests: [...pullRequests].length,
      cicd_pipelines: [...runs].length,
      cicd_tasks: [...jobs].length,
      cicd_deployments: [...deployments].length,
      cicd_releases: [...releases].filter(({ publishedAt }) => publishedAt).length,
    })
    const told = [...reviews].filter(({ state, author }) => state !== 'PENDING' && author !== null).length
    const comments = rest.pull_request_comments?.filter((row) => !row.includes('"NORMAL"')).length
    expect(comments).toBe(told + [...reviewComments].length)
  })

  it('reads lists inside of records to their end', async () => {
    await start({
      world: {
        repositories: [
          {
            name: NAME,
            issues: 2,
            pullRequests: 3,
            workflowRuns: 2,
            deployments: 2,
            releases: 0,
            commitsPerPullRequest: [101, 130],
            reviewsPerPullRequest: [101, 120],
            commentsPerReview: 0,
            jobsPerRun: [101, 140],
            statusesPerDeployment: 3,
          },
        ],
      },
    })
    await run(githubGraphql)
    const { pullCommits, jobs } = fake.world.repository(NAME)
    expect(countsOf(await domain())).toMatchObject({
      pull_request_commits: [...pullCommits].length,
      cicd_tasks: [...jobs].length,
    })
  })

  it.each(plugins)('asks $name for little when nothing has changed', async (plugin) => {
    await start()
    await run(plugin)
    const before = await domain()
    fake.requests.clear()
    await run(plugin)
    expect(await domain()).toEqual(before)
    const counted = Object.entries(fake.requests.byTemplate()).filter(([template]) => template !== '/graphql')
    expect(counted.filter(([, { counted }]) => counted > 1)).toEqual([])
    const operations = fake.requests.entries.flatMap(({ operation }) => operation ?? [])
    expect(operations).toEqual([...new Set(operations)])
  })

  it.each(plugins)('ends with $name where a full run would, after many changes', async (plugin) => {
    await start()
    await run(plugin)
    const { pullRequests, issues, deployments, runs, statuses } = fake.world.repository(NAME)
    const pull = [...pullRequests][3]!
    const running = [...runs].at(-1)!
    const deployment = [...deployments].find(({ index }) => statuses.childrenOf(index).length === 0)!
    const change = { repository: NAME }
    fake.update({ ...change, forcePush: pull.number })
    fake.update({
      ...change,
      edit: 'pullRequests',
      index: [...pullRequests][0]!.number,
      with: { labels: [], requestedReviewers: [] },
    })
    fake.update({
      ...change,
      edit: 'issues',
      index: [...issues][1]!.number,
      with: { state: 'closed', labels: ['bug'], assignees: [] },
    })
    fake.update({ ...change, add: 'issues' })
    fake.update({ ...change, add: 'pullRequests' })
    fake.update({ ...change, add: 'reviews', parent: pull.number })
    fake.update({ ...change, add: 'comments', parent: pull.number })
    fake.update({ ...change, edit: 'runs', index: running.index, with: { status: 'completed', conclusion: 'success' } })
    fake.update({ ...change, add: 'runs' })
    fake.update({ ...change, add: 'statuses', parent: deployment.index, with: { state: 'success' } })
    fake.update({ ...change, add: 'deployments' })
    fake.update({ ...change, add: 'releases' })
    await run(plugin)
    const followed = await domain()
    await empty()
    await connect()
    await run(plugin)
    const again = await domain()
    // The fake moves the comments of an issue or pull request that changes, without reporting it.
    for (const rows of [followed, again]) {
      const { issue_comments = [], pull_request_comments = [] } = rows
      Object.assign(rows, {
        issue_comments: issue_comments.map(idIn),
        pull_request_comments: pull_request_comments.map(idIn),
      })
    }
    expect(countsOf(followed)).toEqual(countsOf(again))
    expect(followed).toEqual(again)
  })

  it.each(plugins)('reads with $name a repository without commits, and one without issues', async (plugin) => {
    await start(
      {
        world: {
          repositories: [
            {
              name: 'acme/empty',
              issues: 0,
              pullRequests: 0,
              workflowRuns: 0,
              milestones: 0,
              commits: 0,
              deployments: 0,
              releases: 0,
            },
            { name: NAME, hasIssues: false, issues: 0 },
          ],
        },
      },
      'acme/empty',
    )
    await run(plugin, { repository: 'acme/empty' })
    expect(countsOf(await domain())).toEqual({ repos: 1, boards: 1, board_repos: 1, cicd_scopes: 1 })
    await connect(NAME)
    await run(plugin)
    const counts = countsOf(await domain())
    expect(counts.issues).toBeUndefined()
    expect(counts.pull_requests).toBe(30)
  })

  it('leaves out excluded bots, the same by REST and by GraphQL', async () => {
    vi.stubEnv('GITHUB_PR_EXCLUDELIST', 'DEPENDABOT[bot]')
    await start()
    const byBot = [...fake.world.repository(NAME).pullRequests].filter(({ author }) => author === 'dependabot[bot]')
    expect(byBot.length).toBeGreaterThan(0)
    const found: Record<string, string[]>[] = []
    for (const plugin of plugins) {
      await empty()
      await connect()
      await run(plugin)
      found.push(await domain())
    }
    expect(found[0]).toEqual(found[1])
    expect(found[0]?.pull_requests?.length).toBe(30 - byBot.length)
  })

  it.each(plugins)('keeps with $name a text of 60,000 characters whole', async (plugin) => {
    await start()
    const [issue] = [...fake.world.repository(NAME).issues]
    const body = `${'ö'.repeat(59_999)}"`
    fake.update({ repository: NAME, edit: 'issues', index: issue?.number ?? 0, with: { body } })
    await run(plugin)
    const rows = await readAll(test.database, { table: issues, where: { issue_key: String(issue?.number) } })
    expect(rows.map(({ description }) => description === body)).toEqual([true])
  })

  it('names what a token lacks, and collects the rest', async () => {
    await start({ tokens: [{ token: DEFAULT_TOKEN, scopes: ['repo'] }] })
    await run(githubGraphql)
    const where = { raw_table: '_raw_github_graphql_accounts' }
    const [receipt] = await readAll(test.database, { table: receipts, where })
    expect(receipt?.status).not.toBe('complete')
    expect(receipt?.message).toMatch(/forbidden.*read:user/i)
    expect(countsOf(await domain())).toMatchObject({ issues: 40 })
  })

  it.each(plugins)('says with $name that a repository is gone', async (plugin) => {
    await start({}, 'acme/gone')
    await expect(run(plugin, { repository: 'acme/gone' })).rejects.toThrow(/404|Could not resolve|gone/i)
  })

  it.each(plugins)('follows with $name a repository to its new name', async (plugin) => {
    await start({}, 'acme/old-name')
    await run(plugin, { repository: 'acme/old-name' })
    expect(countsOf(await domain())).toMatchObject({ issues: 5, pull_requests: 5 })
  })
})
