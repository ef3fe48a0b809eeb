/** Two projects that share boards, repositories and pipelines: results do not depend on which one ran when, or on the other. */
import fc from 'fast-check'
import { sql } from 'kysely'
import { beforeEach, expect, it } from 'vitest'
import { commitParents, repoCommits } from '../../src/domain/code.ts'
import { pullRequestIssues } from '../../src/domain/crossdomain.ts'
import { cicdDeploymentCommits } from '../../src/domain/devops.ts'
import { accounts, users } from '../../src/domain/people.ts'
import { issueAssignees, issueChangelogs } from '../../src/domain/ticket.ts'
import { metricNamed } from '../../src/metrics/index.ts'
import { REFERENCE } from '../../src/metrics/policy/policy.ts'
import { readMetric } from '../../src/metrics/read/read.ts'
import { describeEachWithTables } from '../support/databases.ts'
import { calculate } from './calculate.ts'
import {
  at,
  INPUTS,
  incident,
  KEPT,
  LASTING,
  map,
  onBoard,
  pipeline,
  RESULTS,
  request,
  workbench,
} from './workbench.ts'

describeEachWithTables('projects that share scopes', (test) => {
  const { plant, execute, run, runProject, results, empty } = workbench(() => test.database)
  const value = async (project: string, metric: string) => {
    const filter = { project, environment: 'PRODUCTION', policy: REFERENCE, from: at(1), to: at(31) }
    return (await readMetric(test.database, metricNamed(metric), filter)).value
  }
  beforeEach(() => empty(INPUTS, RESULTS, KEPT))

  it('an incident on boards of both counts in both, whoever runs last', async () => {
    await plant(
      ...['a', 'b'].map((project) => map(project, 'cicd_scopes', 's')),
      map('a', 'boards', 'b1'),
      map('b', 'boards', 'b2'),
      incident('i1'),
      onBoard('b1', 'i1'),
      onBoard('b2', 'i1'),
      ...pipeline('p1', 'c1', 5),
      ...pipeline('p2', 'c2', 10),
    )
    const keys = async (project: string) => [
      await value(project, 'time-to-restore-service'),
      await value(project, 'failed-deployment-recovery-time'),
      await value(project, 'change-failure-rate'),
    ]
    const expected = [1440, 2 * 1440 - 60, 0.5]
    await calculate(test.database, 'a')
    expect(await keys('a')).toEqual(expected)
    for (const project of ['b', 'a', 'a', 'b']) {
      await calculate(test.database, project)
      expect(await keys('a')).toEqual(expected)
      expect(await keys('b')).toEqual(expected)
    }
  })

  it('an incident goes with its issue, and stays while one project has it', async () => {
    const ids = async () => (await execute(sql`select id, scope_id from incidents order by id`)).map(Object.values)
    await plant(
      map('a', 'boards', 'b1'),
      map('b', 'boards', 'b2'),
      ...['i1', 'i2', 'i3'].flatMap((id) => [incident(id, { assignee_id: 'ann' }), onBoard('b2', id)]),
      onBoard('b1', 'i1'),
    )
    await calculate(test.database, 'a')
    await calculate(test.database, 'b')
    expect(await ids()).toEqual([
      ['i1', 'b2'],
      ['i2', 'b2'],
      ['i3', 'b2'],
    ])
    await execute(sql`delete from board_issues where board_id = 'b2' and issue_id in ('i1', 'i2', 'i3')`)
    await execute(sql`delete from issues where id = 'i3'`)
    await calculate(test.database, 'b')
    expect(await ids()).toEqual([['i1', 'b1']])
    expect(await execute(sql`select incident_id from incident_assignees`)).toEqual([{ incident_id: 'i1' }])
  })

  it('no step of one leaves the other without its deployments or their chain', async () => {
    await plant(
      ...['a', 'b'].flatMap((project) => [map(project, 'repos', 'r'), map(project, 'cicd_scopes', 's')]),
      ...['c0', 'c1', 'c2'].map((commit_sha) => repoCommits.row({ repo_id: 'r', commit_sha })),
      commitParents.row({ commit_sha: 'c1', parent_commit_sha: 'c0' }),
      commitParents.row({ commit_sha: 'c2', parent_commit_sha: 'c1' }),
      ...pipeline('p1', 'c0', 5),
      ...pipeline('p2', 'c2', 10),
      request('pr', 1, { merge_commit_sha: 'c1' }),
    )
    await calculate(test.database, 'a')
    await calculate(test.database, 'b')
    const before = await value('a', 'change-lead-time')
    expect(before).toBeGreaterThan(0)
    for (const step of ['generateDeployments', 'generateDeploymentCommits', 'enrichPrevSuccessDeploymentCommits']) {
      await run(step, { projectName: 'b' })
      await run('calculateChangeLeadTime', { projectName: 'a' })
      expect(await value('a', 'change-lead-time')).toBe(before)
    }
  })

  it('a deployment keeps what was before it when it is written again, and loses it when it fails', async () => {
    const deployed = (id: string, day: number, result = 'SUCCESS') =>
      cicdDeploymentCommits.row({
        id,
        commit_sha: id,
        cicd_scope_id: 's',
        repo_url: 'u',
        environment: 'PRODUCTION',
        result,
        finished_date: at(day),
      })
    const chain = async () =>
      (
        await execute(
          sql`select prev_success_deployment_commit_id as previous from cicd_deployment_commits order by id`,
        )
      ).map(({ previous }: { previous: string }) => previous)
    await plant(map('a', 'cicd_scopes', 's'), deployed('1', 1), deployed('2', 2), deployed('3', 3))
    await run('enrichPrevSuccessDeploymentCommits', { projectName: 'a' })
    expect(await chain()).toEqual(['', '1', '2'])
    await plant(deployed('1', 1), deployed('2', 2), deployed('3', 3))
    expect(await chain()).toEqual(['', '1', '2'])
    await plant(deployed('2', 2, 'FAILURE'))
    expect(await run('enrichPrevSuccessDeploymentCommits', { projectName: 'a' })).toMatchObject({ rows: 2 })
    expect(await chain()).toEqual(['', '', '1'])
    expect(await run('enrichPrevSuccessDeploymentCommits', { projectName: 'a' })).toMatchObject({ rows: 0 })
  })

  it('ranges, deployments and histories of what is gone go', async () => {
    await plant(
      map('a', 'repos', 'r'),
      map('a', 'cicd_scopes', 's'),
      map('a', 'boards', 'b1'),
      ...['c0', 'c1', 'c2'].map((commit_sha) => repoCommits.row({ repo_id: 'r', commit_sha })),
      commitParents.row({ commit_sha: 'c1', parent_commit_sha: 'c0' }),
      commitParents.row({ commit_sha: 'c2', parent_commit_sha: 'c1' }),
      ...pipeline('p1', 'c0', 1),
      ...pipeline('p2', 'c1', 2),
      ...pipeline('p3', 'c2', 3),
      incident('i1'),
      incident('i2', { assignee_id: 'ann' }),
      onBoard('b1', 'i1'),
      onBoard('b1', 'i2'),
    )
    await runProject('a')
    await execute(sql`delete from cicd_pipelines where id = 'p2'`)
    await execute(sql`delete from cicd_pipeline_commits where pipeline_id = 'p2'`)
    await execute(sql`delete from issues where id = 'i2'`)
    await execute(sql`delete from board_issues where issue_id = 'i2'`)
    await runProject('a')
    const after = await results()
    await empty(RESULTS, KEPT)
    await runProject('a')
    expect(after).toEqual(await results())
    expect(await execute(sql`select distinct new_commit_sha, old_commit_sha from commits_diffs order by 1`)).toEqual([
      { new_commit_sha: 'c0', old_commit_sha: '' },
      { new_commit_sha: 'c2', old_commit_sha: 'c0' },
    ])
  })

  it('a link stays while the pattern of one project finds it; an emptied pattern finds none', async () => {
    const links = async () =>
      (await execute(sql`select pull_request_id, issue_id from pull_request_issues order by 1, 2`)).map(
        ({ pull_request_id, issue_id }: Record<string, string>) => `${pull_request_id} ${issue_id}`,
      )
    await plant(
      ...['a', 'b'].flatMap((project) => [map(project, 'repos', 'r'), map(project, 'boards', 'b1')]),
      ...['i1', 'i2'].flatMap((id) => [incident(id), onBoard('b1', id)]),
      request('pr1', 1, { title: 'Fix #1' }),
      request('pr2', 2, { title: 'Fix No2', head_ref: '2' }),
    )
    const link = (projectName: string, prToIssueRegexp: string) =>
      run('LinkPrToIssue', { projectName, prToIssueRegexp })
    for (const [project, pattern] of [
      ['a', '#\\d+'],
      ['b', '\\b\\d+$'],
      ['a', '#\\d+'],
    ] as const) {
      await link(project, pattern)
    }
    expect(await links()).toEqual(['pr1 i1', 'pr2 i2'])
    await link('b', '')
    expect(await links()).toEqual(['pr1 i1'])
    await execute(sql`delete from pull_requests where id = 'pr1'`)
    await link('a', '#\\d+')
    expect(await links()).toEqual([])
  })

  it('a link that came with a moved database stays until the linker of its own project runs', async () => {
    const moved = { _raw_data_table: '', _raw_data_remark: 'pull_requests,' }
    const links = async () =>
      (await execute(sql`select pull_request_id, issue_id from pull_request_issues order by 1, 2`)).map(
        ({ pull_request_id, issue_id }: Record<string, string>) => `${pull_request_id} ${issue_id}`,
      )
    const link = (projectName: string, prToIssueRegexp: string) =>
      run('LinkPrToIssue', { projectName, prToIssueRegexp })
    await plant(
      ...['a', 'b'].map((project) => map(project, 'repos', 'r')),
      map('a', 'boards', 'b1'),
      map('b', 'boards', 'b2'),
      incident('i1'),
      onBoard('b1', 'i1'),
      incident('i2'),
      onBoard('b2', 'i2'),
      incident('i3'),
      onBoard('b2', 'i3'),
      request('pr1', 1, { title: 'Fix #1, see B-2' }),
      ...['i1', 'i2', 'i3'].map((issue_id) =>
        pullRequestIssues.row({ pull_request_id: 'pr1', issue_id, issue_key: issue_id.slice(1), ...moved }),
      ),
    )
    await link('a', 'nothing')
    expect(await links()).toEqual(['pr1 i2', 'pr1 i3'])
    await link('a', '#\\d+')
    expect(await links()).toEqual(['pr1 i1', 'pr1 i2', 'pr1 i3'])
    await link('b', '\\b2$')
    expect(await links()).toEqual(['pr1 i1', 'pr1 i2'])
    await link('a', '')
    expect(await links()).toEqual(['pr1 i2'])
  })

  it('accounts follow their owners, unless they were given away by hand', async () => {
    const owners = async () =>
      (await execute(sql`select account_id, user_id from user_accounts order by 1`)).map(Object.values)
    await plant(
      users.row({ id: 'u1', email: 'one@x' }),
      users.row({ id: 'u2', email: 'two@x' }),
      accounts.row({ id: 'a1', email: 'one@x' }),
      accounts.row({ id: 'a2', email: 'two@x' }),
    )
    await execute(sql`insert into user_accounts (account_id, user_id) values ('by hand', 'u1')`)
    await run('connectUserAccountsExact', {})
    await plant(users.row({ id: 'u1', email: 'two@x' }), users.row({ id: 'u2', email: 'one@x' }))
    await run('connectUserAccountsExact', {})
    expect(await owners()).toEqual([
      ['a1', 'u2'],
      ['a2', 'u1'],
      ['by hand', 'u1'],
    ])
    await execute(sql`delete from accounts where id = 'a1'`)
    await execute(sql`delete from users where id = 'u1'`)
    await run('connectUserAccountsExact', {})
    expect(await owners()).toEqual([['by hand', 'u1']])
  })

  it('generated histories: every order of runs, and runs side by side, give what an empty database gets', async () => {
    const issue = fc.constantFrom('i1', 'i2', 'i3')
    const board = fc.constantFrom('b1', 'b2')
    const day = fc.integer({ min: 1, max: 9 })
    const pattern = fc.constantFrom('#\\d+', '\\d+$', '')
    const operation = fc.oneof(
      fc.record({ does: fc.constant('put issue' as const), issue, board, type: fc.constantFrom('INCIDENT', 'BUG') }),
      fc.record({ does: fc.constant('take from board' as const), issue, board }),
      fc.record({ does: fc.constant('remove issue' as const), issue }),
      fc.record({
        does: fc.constant('put pipeline' as const),
        day,
        scope: fc.constantFrom('s1', 's2'),
        result: fc.constantFrom('SUCCESS', 'FAILURE'),
      }),
      fc.record({ does: fc.constant('remove pipeline' as const), day }),
      fc.record({ does: fc.constant('put request' as const), day, issue }),
      fc.record({ does: fc.constant('run' as const), project: fc.constantFrom('a', 'b'), pattern }),
      fc.record({ does: fc.constant('run both' as const), pattern }),
    )
    type Operation = (typeof operation extends fc.Arbitrary<infer Value> ? Value : never) & Record<string, any>
    const perform = async (each: Operation): Promise<unknown> => {
      switch (each.does) {
        case 'put issue':
          return plant(
            incident(each.issue, { type: each.type, assignee_id: 'ann' }),
            onBoard(each.board, each.issue),
            issueAssignees.row({ issue_id: each.issue, assignee_id: 'bob' }),
            issueChangelogs.row({
              id: `c${each.issue}`,
              issue_id: each.issue,
              field_name: 'status',
              original_from_value: 'open',
              original_to_value: each.type,
              created_date: at(12),
            }),
          )
        case 'take from board':
          return execute(sql`delete from board_issues where board_id = ${each.board} and issue_id = ${each.issue}`)
        case 'remove issue':
          for (const table of ['board_issues', 'issue_assignees', 'issue_changelogs']) {
            await execute(sql`delete from ${sql.table(table)} where issue_id = ${each.issue}`)
          }
          return execute(sql`delete from issues where id = ${each.issue}`)
        case 'put pipeline':
          return plant(...pipeline(`p${each.day}`, `c${each.day}`, each.day, each.scope, { result: each.result }))
        case 'remove pipeline':
          await execute(sql`delete from cicd_pipeline_commits where pipeline_id = ${`p${each.day}`}`)
          return execute(sql`delete from cicd_pipelines where id = ${`p${each.day}`}`)
        case 'put request':
          return plant(
            request(`pr${each.day}`, each.day, {
              title: `Fix #${each.issue.slice(1)}`,
              merge_commit_sha: `c${each.day}`,
            }),
          )
        case 'run':
          return runProject(each.project, each.pattern)
        case 'run both':
          return Promise.all(['a', 'b'].map((project) => runProject(project, each.pattern)))
      }
    }
    const commits = Array.from({ length: 9 }, (_, index) => index + 1)
    await fc.assert(
      fc.asyncProperty(
        fc.array(operation, { minLength: 3, maxLength: 12 }),
        fc.boolean(),
        async (history, isTurned) => {
          await empty(INPUTS, RESULTS, KEPT)
          await plant(
            ...['b1', 'b2'].map((id) => map('a', 'boards', id)),
            map('b', 'boards', 'b2'),
            ...['s1', 's2'].map((id) => map('b', 'cicd_scopes', id)),
            map('a', 'cicd_scopes', 's1'),
            map('a', 'repos', 'r'),
            map('b', 'repos', 'r'),
            ...commits.flatMap((day) => [
              repoCommits.row({ repo_id: 'r', commit_sha: `c${day}` }),
              commitParents.row({ commit_sha: `c${day}`, parent_commit_sha: `c${day - 1}` }),
            ]),
          )
          for (const each of history) await perform(each)
          for (const project of isTurned ? ['b', 'a', 'b'] : ['a', 'b', 'a']) await runProject(project)
          const after = await results()
          const stamped = await results([], LASTING)
          for (const project of ['a', 'b']) await runProject(project)
          expect(await results([], LASTING)).toEqual(stamped)
          await empty(RESULTS, KEPT)
          for (const project of ['a', 'b']) await runProject(project)
          expect(after).toEqual(await results())
        },
      ),
      { numRuns: Number(process.env.FULL_SIZE ? 200 : 8), endOnFailure: false },
    )
  }, 300_000)
})
