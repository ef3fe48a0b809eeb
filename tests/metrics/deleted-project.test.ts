/** A project that is deleted or loses scopes leaves the same rows as if it had never had them. */
import { sql } from 'kysely'
import { beforeEach, expect, it } from 'vitest'
import { projectService } from '../../src/control-plane/projects/projects.ts'
import type { BlueprintService, ServiceContext } from '../../src/control-plane/services.ts'
import { commitParents, repoCommits } from '../../src/domain/code.ts'
import { cicdDeploymentCommits } from '../../src/domain/devops.ts'
import { issueAssignees } from '../../src/domain/ticket.ts'
import { projects } from '../../src/system/projects.ts'
import { describeEachWithTables } from '../support/databases.ts'
import { at, INPUTS, incident, KEPT, map, onBoard, pipeline, RESULTS, request, workbench } from './workbench.ts'

/** A deployment that the tool itself reports. */
const deployed = (id: string, day: number, scope: string) =>
  cicdDeploymentCommits.row({
    id,
    commit_sha: `c${day}`,
    cicd_scope_id: scope,
    repo_url: 'tool',
    environment: 'PRODUCTION',
    result: 'SUCCESS',
    finished_date: at(day),
  })

describeEachWithTables('a project that is deleted', (test) => {
  const { plant, execute, run, runProject, results, empty } = workbench(() => test.database)
  const service = () =>
    projectService({ database: test.database, changed: () => {} } as unknown as ServiceContext, {} as BlueprintService)
  const ids = async (table: string, column: string) =>
    (await execute(sql`select distinct ${sql.ref(column)} as id from ${sql.table(table)} order by 1`)).map(
      ({ id }: { id: string }) => id,
    )
  const commits = [1, 2, 3, 4, 5, 6]
  /** Project a has s1 and z1 alone, and shares s2 and the repository with b. i2 is on boards of both. */
  const plantBoth = () =>
    plant(
      projects.row({ name: 'a' }),
      projects.row({ name: 'b' }),
      ...['a', 'b'].flatMap((project) => [map(project, 'cicd_scopes', 's2'), map(project, 'repos', 'r')]),
      map('a', 'cicd_scopes', 's1'),
      map('a', 'boards', 'z1'),
      map('b', 'boards', 'b2'),
      ...['i1', 'i2', 'i3'].flatMap((id) => [
        incident(id, { assignee_id: 'ann' }),
        issueAssignees.row({ issue_id: id, assignee_id: 'bob' }),
      ]),
      ...['i1', 'i2'].map((id) => onBoard('z1', id)),
      ...['i2', 'i3'].map((id) => onBoard('b2', id)),
      ...commits.flatMap((day) => [
        repoCommits.row({ repo_id: 'r', commit_sha: `c${day}` }),
        commitParents.row({ commit_sha: `c${day}`, parent_commit_sha: `c${day - 1}` }),
      ]),
      ...pipeline('p1', 'c1', 1, 's1'),
      ...pipeline('p3', 'c3', 3, 's1'),
      ...pipeline('p2', 'c2', 2, 's2'),
      ...pipeline('p4', 'c4', 4, 's2'),
      ...[1, 5].map((day) => deployed(`t${day}`, day, 's1')),
      ...[2, 6].map((day) => deployed(`t${day}`, day, 's2')),
      ...[1, 2, 3].map((key) => request(`pr${key}`, key, { title: `Fix #${key}`, merge_commit_sha: `c${key}` })),
    )
  /** Returns the rows of all result tables and of the tables that are kept with them. */
  const all = () => results(undefined, [...RESULTS, ...KEPT.filter((name) => name !== '_weir_calculations')])
  beforeEach(async () => {
    await empty(INPUTS, RESULTS, KEPT, ['projects'])
    await plantBoth()
  })

  for (const order of [
    ['a', 'b'],
    ['b', 'a'],
  ]) {
    it(`leaves those of another that shares its scopes (${order} ran)`, async () => {
      for (const project of order) await runProject(project)
      await service().remove('a')
      const after = await all()
      await empty(INPUTS, RESULTS, KEPT)
      await plantBoth()
      await execute(sql`delete from project_mapping where project_name = 'a'`)
      await runProject('b')
      expect(after).toEqual(await all())
      expect(await ids('cicd_deployments', 'id')).toEqual(['p2', 'p4'])
      expect(await ids('incidents', 'scope_id')).toEqual(['b2'])
    })
  }

  it('keeps nothing of scopes that were taken out of it', async () => {
    const regroup = () =>
      run('setProjectMapping', {
        projectMappings: [
          { projectName: 'a', scopes: ['repos r', 'cicd_scopes s2'].map((each) => scopeOf(each.split(' '))) },
        ],
      })
    const scopeOf = ([table, rowId]: readonly string[]) => ({ table, rowId })
    for (const project of ['a', 'b']) await runProject(project)
    await regroup()
    for (const project of ['a', 'b']) await runProject(project)
    const after = await all()
    await empty(INPUTS, RESULTS, KEPT)
    await plantBoth()
    await regroup()
    for (const project of ['a', 'b']) await runProject(project)
    expect(after).toEqual(await all())
    expect(await ids('cicd_deployments', 'id')).toEqual(['p2', 'p4'])
    expect(await ids('incidents', 'id')).toEqual(['i2', 'i3'])
    expect(await ids('project_mapping', 'project_name')).toEqual(['a', 'b'])
  })

  it('leaves nothing when it was the only one', async () => {
    const before = await all()
    for (const project of ['a', 'b']) await runProject(project)
    await service().remove('b')
    await service().remove('a')
    expect(await all()).toEqual(before)
  })

  it('takes along what was calculated under its former name', async () => {
    await service().remove('a')
    const before = await all()
    await runProject('b')
    await service()
      .update('b', { name: 'c' })
      .catch(() => {})
    await runProject('c')
    await service().remove('c')
    expect(await all()).toEqual(before)
  })

  it('makes nothing that was not there', async () => {
    const before = await all()
    await service().remove('a')
    expect(await all()).toEqual(before)
  })

  it('leaves histories of boards that somebody named by hand, and ranges between tags', async () => {
    await service().remove('b')
    await plant(onBoard('by hand', 'i1'), onBoard('by hand', 'i9'), incident('i9'))
    await runProject('a')
    for (const name of ['ConvertIssueStatusHistory', 'ConvertIssueAssigneeHistory']) {
      await run(name, { projectName: 'a', scopeIds: ['by hand'] })
    }
    const wanted = { owner: 'repo r', new_commit_sha: 'c4', old_commit_sha: 'c2' }
    await execute(sql`insert into _weir_wanted_ranges (owner, new_commit_sha, old_commit_sha)
      values (${sql.join(Object.values(wanted))})`)
    await service().remove('a')
    expect(await ids('issue_status_history', 'issue_id')).toEqual(['i1', 'i9'])
    expect(await ids('issue_assignee_history', 'issue_id')).toEqual(['i1'])
    expect(await execute(sql`select new_commit_sha, commit_sha from commits_diffs order by 2`)).toEqual(
      ['c3', 'c4'].map((commit_sha) => ({ new_commit_sha: 'c4', commit_sha })),
    )
  })
})
