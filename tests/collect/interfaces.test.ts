/** REST and GraphQL lead to the same rows. */
import { expect, test } from 'vitest'
import type { Database } from '../../src/database/database.ts'
import { readRows } from '../../src/database/read.ts'
import { domainTables } from '../../src/domain/index.ts'
import { githubGraphql } from '../../src/plugins/github/graphql-plugin.ts'
import { github } from '../../src/plugins/github/plugin.ts'
import { describeOneWithTables } from '../support/databases.ts'
import { useFake } from './support/fake.ts'
import { connect, emptyGithub, NAME, runGithub } from './support/github.ts'

const tool = (name: string) => `_tool_github_${name}`
/** Tables for answers to requests that only one of the two plugins makes. */
const OF_ONE = ['pull_request_details', 'deployment_statuses', 'deployment_refs', 'release_authors', 'tags'].map(tool)
const ORIGIN = ['created_at', 'updated_at', '_raw_data_id', '_raw_data_table', '_raw_data_remark']
/** Columns that one of the two interfaces cannot fill. */
const UNKNOWN: Record<string, readonly string[]> = {
  // Lists over REST leave these out: the tables `pull_request_details` and `deployment_statuses` have them.
  [tool('pull_requests')]: [
    'additions',
    'deletions',
    'comments',
    'commits',
    'review_comments',
    'merged',
    'merged_by_name',
    'merged_by_id',
  ],
  [tool('deployments')]: [
    'state',
    'latest_status_state',
    'latest_updated_date',
    'finished_date',
    'display_title',
    'repository_id',
  ],
  // Check runs do not know their runner.
  [tool('jobs')]: ['labels', 'runner_name', 'runner_group_id'],
}

const tables = [...new Set([...github.tables, ...domainTables])].filter(
  ({ name }) => !name.startsWith('_raw_') && !OF_ONE.includes(name),
)

/** Tables that must have rows in this world. Otherwise the comparison would prove little. */
const FILLED = [
  ...[
    'issues',
    'pull_requests',
    'pull_request_reviews',
    'pull_request_commits',
    'reviewers',
    'commits',
    'repo_commits',
  ].map(tool),
  ...[
    'issue_comments',
    'pull_request_comments',
    'runs',
    'jobs',
    'deployments',
    'releases',
    'accounts',
    'account_orgs',
  ].map(tool),
  'issues',
  'pull_requests',
  'pull_request_comments',
  'cicd_tasks',
  'cicd_deployment_commits',
  'cicd_releases',
  'accounts',
]

async function rowsOf(database: Database): Promise<Record<string, string[]>> {
  const found: Record<string, string[]> = {}
  for (const table of tables) {
    const rows: string[] = []
    const hidden = [...ORIGIN, ...(UNKNOWN[table.name] ?? [])]
    for await (const row of readRows(database, { table, isLiteral: true })) {
      const visible = Object.entries(row as object).filter(([column]) => !hidden.includes(column))
      rows.push(JSON.stringify(Object.fromEntries(visible)))
    }
    if (rows.length > 0) found[table.name] = rows.sort()
  }
  return found
}

describeOneWithTables('both interfaces', (database) => {
  const start = useFake(database)

  test('give equal rows, in every table', async () => {
    const fake = await start({ name: NAME, issues: 40, pullRequests: 30, deployments: 12, releases: 12, commits: 10 })
    await runGithub(database.database, github)
    const rest = await rowsOf(database.database)
    await emptyGithub(database.database)
    await connect(database.database, { url: fake.url, githubId: fake.world.find(NAME)!.id })
    await runGithub(database.database, githubGraphql)
    const graphql = await rowsOf(database.database)
    expect(Object.keys(rest)).toEqual(expect.arrayContaining(FILLED))
    expect(graphql).toEqual(rest)
  })
})
