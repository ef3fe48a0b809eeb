/** Calculations that the planted organisation does not cover, each with a few rows by hand. */
import { sql } from 'kysely'
import { beforeEach, expect, it } from 'vitest'
import type { TableRow } from '../../src/database/table.ts'
import { write } from '../../src/database/write.ts'
import { commitParents, refs, repoCommits, repos } from '../../src/domain/code.ts'
import { projectMapping, pullRequestIssues } from '../../src/domain/crossdomain.ts'
import {
  cicdDeploymentCommits,
  cicdDeployments,
  cicdPipelineCommits,
  cicdPipelines,
  cicdTasks,
} from '../../src/domain/devops.ts'
import { accounts, userAccounts, users } from '../../src/domain/people.ts'
import { pullRequests } from '../../src/domain/pull-requests.ts'
import { boardIssues, incidents, issueAssignees, issues } from '../../src/domain/ticket.ts'
import { plugins } from '../../src/plugins/index.ts'
import { allTables } from '../../src/tables.ts'
import { describeEachWithTables } from '../support/databases.ts'
import { emptyTables } from '../support/empty-tables.ts'

const at = (day: number, hour = 0, second = 0) => new Date(Date.UTC(2024, 0, day, hour, 0, second))
const map = (table: string, row_id: string, project_name = 'p') => projectMapping.row({ project_name, table, row_id })

describeEachWithTables('calculations', (test) => {
  const run = async (plugin: string, subtask: string, options: Record<string, unknown>, fullSync = false) => {
    const found = plugins.find((each) => each.name === plugin)?.subtasks.find((each) => each.name === subtask)
    const signal = new AbortController().signal
    return found!.run({ database: test.database, options, fullSync, signal, progress: () => {} })
  }
  const plant = (...rows: TableRow[]) => write(test.database, rows)
  const read = async (table: string, ...columns: string[]) => {
    const { rows } = await sql<Record<string, unknown>>`select ${sql.join(columns.map((each) => sql.id(each)))}
      from ${sql.table(table)} order by ${sql.join(columns.map((each) => sql.id(each)))}`.execute(test.database.kysely)
    return rows.map((row) => columns.map((each) => row[each]))
  }
  const filledByTests = allTables.filter(({ name }) => !name.startsWith('_weir'))
  beforeEach(() => emptyTables(test.database, filledByTests))

  it('deployments: which pipelines deploy, where to, and what was there before', async () => {
    const pipeline = (id: string, result: string, more = {}) =>
      cicdPipelines.row({
        id,
        result,
        cicd_scope_id: 's',
        name: id,
        created_date: at(1),
        finished_date: at(1, 2),
        duration_sec: 90.9,
        ...more,
      })
    const task = (pipeline_id: string, name: string, more = {}) =>
      cicdTasks.row({ id: `${pipeline_id} ${name}`, pipeline_id, result: 'SUCCESS', cicd_scope_id: 's', ...more })
    await plant(
      map('cicd_scopes', 's'),
      pipeline('by type', 'FAILURE', { type: 'DEPLOYMENT', environment: 'qa' }),
      pipeline('by task', 'SUCCESS'),
      task('by task', 'deploy', { type: 'DEPLOYMENT' }),
      task('by task', 'stage', { environment: 'STAGING' }),
      task('by task', 'test', { environment: 'TESTING' }),
      pipeline('skipped', '', { type: 'DEPLOYMENT' }),
      pipeline('skipped task', 'SUCCESS'),
      task('skipped task', 'deploy', { type: 'DEPLOYMENT', result: '' }),
      pipeline('elsewhere', 'SUCCESS', { type: 'DEPLOYMENT', cicd_scope_id: 'other' }),
      cicdPipelineCommits.row({
        pipeline_id: 'by task',
        commit_sha: 'c1',
        repo_url: 'u',
        branch: 'main',
        repo_id: 'r',
      }),
      cicdDeployments.row({ id: 'native', cicd_scope_id: 's' }),
      cicdDeployments.row({ id: 'gone', cicd_scope_id: 's', subtask_name: 'dora.generateDeployments' }),
    )
    for (let turn = 0; turn < 2; turn++) {
      await run('dora', 'generateDeployments', { projectName: 'p' })
      await run('dora', 'generateDeploymentCommits', { projectName: 'p' })
    }
    expect(await read('cicd_deployments', 'id', 'environment', 'result', 'subtask_name')).toEqual([
      ['by task', 'STAGING', 'SUCCESS', 'dora.generateDeployments'],
      ['by type', 'qa', 'FAILURE', 'dora.generateDeployments'],
      ['native', '', '', ''],
    ])
    expect(
      await read('cicd_deployment_commits', 'id', 'commit_sha', 'ref_name', 'started_date', 'duration_sec'),
    ).toEqual([['by task:u', 'c1', 'main', new Date(at(1, 2).getTime() - 90_000), 90.9]])
    await run('dora', 'generateDeployments', { scopeId: 'other' })
    expect((await read('cicd_deployments', 'id')).flat()).toContain('elsewhere')
  })

  it('incidents: an issue on two boards is one, and one that is none any more goes', async () => {
    await plant(
      map('boards', 'b1'),
      map('boards', 'b2'),
      issues.row({
        id: 'i',
        issue_key: 'K',
        type: 'INCIDENT',
        assignee_id: 'ann',
        assignee_name: 'Ann',
        created_date: at(1),
      }),
      issues.row({ id: 'was', type: 'BUG' }),
      boardIssues.row({ board_id: 'b1', issue_id: 'i' }),
      boardIssues.row({ board_id: 'b2', issue_id: 'i' }),
      boardIssues.row({ board_id: 'b1', issue_id: 'was' }),
      issueAssignees.row({ issue_id: 'i', assignee_id: 'ann', assignee_name: 'Ann' }),
      issueAssignees.row({ issue_id: 'i', assignee_id: 'bob', assignee_name: 'Bob' }),
      incidents.row({ id: 'was', table: 'boards', scope_id: 'b1' }),
      incidents.row({ id: 'from a pager', table: 'boards', scope_id: 'b1' }),
    )
    await run('dora', 'ConvertIssuesToIncidents', { projectName: 'p' })
    expect(await read('incidents', 'id', 'incident_key', 'table', 'scope_id')).toEqual([
      ['from a pager', '', 'boards', 'b1'],
      ['i', 'K', 'boards', 'b2'],
    ])
    expect(await read('incident_assignees', 'incident_id', 'assignee_id')).toEqual([
      ['i', 'ann'],
      ['i', 'bob'],
    ])
  })

  it('an incident comes from the latest success strictly before it', async () => {
    const deployed = (id: string, day: number, more = {}) =>
      cicdDeploymentCommits.row({
        id,
        commit_sha: id,
        cicd_deployment_id: id,
        cicd_scope_id: 's',
        repo_url: 'u',
        result: 'SUCCESS',
        environment: 'PRODUCTION',
        finished_date: at(day),
        ...more,
      })
    const happened = (id: string, created_date: Date) =>
      incidents.row({ id, table: 'boards', scope_id: 'b', created_date })
    await plant(
      map('cicd_scopes', 's'),
      map('boards', 'b'),
      deployed('first', 1),
      deployed('staging', 2, { environment: 'STAGING' }),
      deployed('failed', 2, { result: 'FAILURE' }),
      deployed('second', 3),
      happened('before all', at(1)),
      happened('after first', at(3)),
      happened('after second', at(3, 0, 1)),
    )
    await run('dora', 'ConnectIncidentToDeployment', { projectName: 'p' })
    expect(await read('project_incident_deployment_relationships', 'id', 'deployment_id')).toEqual([
      ['after first', 'first'],
      ['after second', 'second'],
    ])
  })

  it('ranges: finished pairs rest, unknown commits are tried again, a full run repairs', async () => {
    const deployed = (id: string, commit_sha: string, before: string) =>
      cicdDeploymentCommits.row({
        id,
        commit_sha,
        cicd_scope_id: 's',
        repo_url: 'u',
        result: 'SUCCESS',
        prev_success_deployment_commit_id: before,
      })
    const held = (sha: string, parent?: string) => [
      repoCommits.row({ repo_id: 'r', commit_sha: sha }),
      ...(parent ? [commitParents.row({ commit_sha: sha, parent_commit_sha: parent })] : []),
    ]
    await plant(
      map('cicd_scopes', 's'),
      map('repos', 'r'),
      ...held('a'),
      ...held('b', 'a'),
      deployed('1', 'a', ''),
      deployed('2', 'b', '1'),
      deployed('3', 'd', '2'),
    )
    const ranges = () => read('commits_diffs', 'new_commit_sha', 'old_commit_sha', 'sorting_index', 'commit_sha')
    await run('refdiff', 'calculateDeploymentCommitsDiff', { projectName: 'p' })
    expect(await ranges()).toEqual([
      ['a', '', 1, 'a'],
      ['b', 'a', 1, 'b'],
      ['d', 'b', 1, 'd'],
    ])
    expect(await read('_tool_refdiff_finished_commits_diffs', 'new_commit_sha', 'old_commit_sha')).toEqual([
      ['a', ''],
      ['b', 'a'],
    ])
    await plant(...held('c', 'b'), ...held('d', 'c'), ...held('a', 'root'))
    await run('refdiff', 'calculateDeploymentCommitsDiff', { projectName: 'p' })
    expect(await ranges()).toEqual([
      ['a', '', 1, 'a'],
      ['b', 'a', 1, 'b'],
      ['d', 'b', 1, 'd'],
      ['d', 'b', 2, 'c'],
    ])
    await run('refdiff', 'calculateDeploymentCommitsDiff', { projectName: 'p' }, true)
    expect((await ranges()).slice(0, 2)).toEqual([
      ['a', '', 1, 'a'],
      ['a', '', 2, 'root'],
    ])
    expect(await run('refdiff', 'calculateDeploymentCommitsDiff', { projectName: 'p' })).toMatchObject({ rows: 0 })
  })

  it('tags: pairs, order, issues and cherry-picks between them', async () => {
    const tag = (name: string, commit_sha: string) =>
      refs.row({
        id: `r:refs/tags/${name}`,
        repo_id: 'r',
        name: `refs/tags/${name}`,
        commit_sha,
        ref_type: 'TAG',
        created_date: at(1),
      })
    await plant(
      repos.row({ id: 'r', name: 'repo' }),
      ...['a', 'b', 'c'].map((sha) => repoCommits.row({ repo_id: 'r', commit_sha: sha })),
      commitParents.row({ commit_sha: 'b', parent_commit_sha: 'a' }),
      commitParents.row({ commit_sha: 'c', parent_commit_sha: 'b' }),
      tag('v1.9.0', 'b'),
      tag('v1.10.0', 'c'),
      tag('v1.2.0', 'a'),
      tag('other', 'a'),
      pullRequests.row({
        id: 'pr',
        base_repo_id: 'r',
        pull_request_key: 7,
        merge_commit_sha: 'c',
        title: 'Fix',
        url: 'u7',
      }),
      pullRequests.row({
        id: 'picked',
        base_repo_id: 'r',
        pull_request_key: 8,
        title: 'cherry-pick #7',
        base_ref: 'release',
      }),
      pullRequestIssues.row({ pull_request_id: 'pr', issue_id: 'i', issue_key: '3', pull_request_key: 7 }),
    )
    const options = { repoId: 'r', tagsPattern: 'v\\d', tagsLimit: 2, tagsOrder: 'reverse semver' }
    await run('refdiff', 'calculateCommitsDiff', options)
    await run('refdiff', 'calculateIssuesDiff', options)
    expect(await read('commits_diffs', 'new_commit_sha', 'old_commit_sha', 'commit_sha')).toEqual([['c', 'b', 'c']])
    expect(await read('ref_commits', 'new_ref_id', 'old_ref_id')).toEqual([
      ['r:refs/tags/v1.10.0', 'r:refs/tags/v1.9.0'],
    ])
    expect(await read('refs_issues_diffs', 'issue_id', 'issue_number', 'new_ref_commit_sha')).toEqual([['i', '3', 'c']])
    await run('refdiff', 'calculateCommitsDiff', {
      repoId: 'r',
      pairs: [{ newRef: 'refs/tags/v1.10.0', oldRef: 'refs/tags/v1.2.0' }],
    })
    expect(await read('commits_diffs', 'new_commit_sha', 'old_commit_sha', 'commit_sha')).toHaveLength(3)
    await expect(
      run('refdiff', 'calculateCommitsDiff', { repoId: 'r', pairs: [{ newRef: 'x', oldRef: 'y' }] }),
    ).rejects.toThrow(/no ref x/)
    process.env.GITHUB_PR_TITLE_PATTERN = 'cherry-pick #(\\d+)'
    try {
      await run('refdiff', 'calculatePrCherryPick', { repoId: 'r' })
    } finally {
      delete process.env.GITHUB_PR_TITLE_PATTERN
    }
    expect(await read('refs_pr_cherrypicks', 'parent_pr_id', 'cherrypick_pr_keys', 'cherrypick_base_branches')).toEqual(
      [['pr', '8', 'release']],
    )
    expect(await read('pull_requests', 'id', 'parent_pr_id')).toContainEqual(['picked', 'pr'])
  })

  it('links: the first text that names a key decides, links of the tool stay, old ones go', async () => {
    const request = (id: string, more: object) =>
      pullRequests.row({ id, base_repo_id: 'r', pull_request_key: 1, ...more })
    await plant(
      map('repos', 'r'),
      map('boards', 'b'),
      ...['1', '2', '3'].flatMap((key) => [
        issues.row({ id: `i${key}`, issue_key: key }),
        boardIssues.row({ board_id: 'b', issue_id: `i${key}` }),
      ]),
      request('title', { title: 'Closes #1 and #2', description: '#3' }),
      request('branch', { title: 'none', description: 'none', head_ref: 'fix#3' }),
      request('tool', { title: '#1' }),
      pullRequestIssues.row({ pull_request_id: 'tool', issue_id: 'i1', _raw_data_table: '_raw_tool' }),
      pullRequestIssues.row({ pull_request_id: 'branch', issue_id: 'i1', _raw_data_remark: 'pull_requests,' }),
    )
    const options = { projectName: 'p', prToIssueRegexp: '#(\\d+)' }
    for (let turn = 0; turn < 2; turn++) await run('linker', 'LinkPrToIssue', options)
    expect(
      await read('pull_request_issues', 'pull_request_id', 'issue_id', '_raw_data_table', '_raw_data_remark'),
    ).toEqual([
      ['branch', 'i3', '', 'pull_requests,'],
      ['title', 'i1', '', 'pull_requests,'],
      ['title', 'i2', '', 'pull_requests,'],
      ['tool', 'i1', '_raw_tool', ''],
    ])
    await expect(run('linker', 'LinkPrToIssue', { projectName: 'p' })).rejects.toThrow(/prToIssueRegexp is missing/)
    await expect(run('linker', 'LinkPrToIssue', { projectName: 'p', prToIssueRegexp: '(' })).rejects.toThrow(
      /does not compile/,
    )
  })

  it('links: pull requests that name more numbers than a statement takes', async () => {
    const titleOf = (number: number) => Array.from({ length: 70 }, (_, index) => `#${number * 70 + index}`).join(' ')
    await plant(
      map('repos', 'r'),
      map('boards', 'b'),
      ...['5', '69999'].flatMap((key) => [
        issues.row({ id: `i${key}`, issue_key: key }),
        boardIssues.row({ board_id: 'b', issue_id: `i${key}` }),
      ]),
      ...Array.from({ length: 1000 }, (_, number) =>
        pullRequests.row({ id: `pr${number}`, base_repo_id: 'r', pull_request_key: number, title: titleOf(number) }),
      ),
    )
    await run('linker', 'LinkPrToIssue', { projectName: 'p', prToIssueRegexp: '#(\\d+)' })
    expect(await read('pull_request_issues', 'pull_request_id', 'issue_id')).toEqual([
      ['pr0', 'i5'],
      ['pr999', 'i69999'],
    ])
  })

  it('deployments keep an unknown record unknown', async () => {
    await plant(
      map('cicd_scopes', 's'),
      cicdPipelines.row({ id: 'd', cicd_scope_id: 's', type: 'DEPLOYMENT', result: 'SUCCESS' }),
      cicdPipelineCommits.row({ pipeline_id: 'd', commit_sha: 'c', repo_url: 'u' }),
    )
    await sql`update cicd_pipelines set _raw_data_id = null`.execute(test.database.kysely)
    await sql`update cicd_pipeline_commits set _raw_data_id = null`.execute(test.database.kysely)
    await run('dora', 'generateDeployments', { projectName: 'p' })
    await run('dora', 'generateDeploymentCommits', { projectName: 'p' })
    expect(await read('cicd_deployments', 'id', '_raw_data_id')).toEqual([['d', null]])
    expect(await read('cicd_deployment_commits', 'id', '_raw_data_id')).toEqual([['d:u', null]])
  })

  it('people and projects', async () => {
    await plant(
      users.row({ id: 'u1', email: 'one@x', name: 'One' }),
      users.row({ id: 'u2', email: '', name: 'two' }),
      accounts.row({ id: 'by mail', email: 'one@x' }),
      accounts.row({ id: 'by full name', full_name: 'One', user_name: 'two' }),
      accounts.row({ id: 'by name', user_name: 'two' }),
      accounts.row({ id: 'nobody' }),
      accounts.row({ id: 'owned', email: 'one@x' }),
      userAccounts.row({ account_id: 'owned', user_id: 'u2' }),
      map('repos', 'old'),
      map('repos', 'kept', 'q'),
    )
    await run('org', 'connectUserAccountsExact', {})
    expect(await read('user_accounts', 'account_id', 'user_id')).toEqual([
      ['by full name', 'u1'],
      ['by mail', 'u1'],
      ['by name', 'u2'],
      ['owned', 'u2'],
    ])
    await run('org', 'setProjectMapping', {
      projectMappings: [{ projectName: 'p', scopes: [{ table: 'boards', rowId: 'new' }] }],
    })
    expect(await read('project_mapping', 'project_name', 'table', 'row_id', '_raw_data_params')).toEqual([
      ['p', 'boards', 'new', 'p'],
      ['q', 'repos', 'kept', ''],
    ])
    await expect(run('dora', 'calculateChangeLeadTime', {})).rejects.toThrow(/no projectName/)
  })
})
