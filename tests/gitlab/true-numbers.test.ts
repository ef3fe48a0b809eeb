/** GitLab's own statements are neither overruled by labels nor left out. */
import { expect, it } from 'vitest'
import type { Issue } from '../fake-gitlab/records.ts'
import { describeOneWithTables } from '../support/databases.ts'
import { generatedIds, PATH, type RunOptions, runGitlab, storedIds } from './support.ts'
import { useFakeGitlab } from './use-fake.ts'

const AFTER = new Date('2024-01-01T00:00:00Z')

describeOneWithTables('GitLab in true numbers', (test) => {
  const start = useFakeGitlab(test)
  const run = (options: RunOptions = {}) => runGitlab(test.database, options)
  const rowsOf = (table: string): Promise<any[]> => test.database.kysely.selectFrom(table).selectAll().execute()

  it('an incident stays one whatever its labels say, unless a rule names the type itself', async () => {
    const fake = await start()
    const [incident, task] = fake.world.project(PATH).issues as [Issue, Issue]
    Object.assign(incident, { type: 'INCIDENT', labels: ['type::bug'] })
    Object.assign(task, { type: 'ISSUE', labels: ['type::bug'] })
    const typesWith = async (scopeConfig: Record<string, unknown>) => {
      await run({ scopeConfig })
      const types = new Map((await rowsOf('issues')).map(({ issue_key, type }) => [Number(issue_key), type]))
      return [incident, task].map(({ iid }) => types.get(iid))
    }
    expect(await typesWith({ issueTypeBug: 'type::bug' })).toEqual(['INCIDENT', 'BUG'])
    expect(await typesWith({ issueTypeBug: 'type::bug', issueTypeIncident: '(?i)incident' })).toEqual([
      'INCIDENT',
      'BUG',
    ])
    expect(await typesWith({ issueTypeRequirement: '^incident$', issueTypeBug: 'bug' })).toEqual(['REQUIREMENT', 'BUG'])
    expect(await typesWith({})).toEqual(['INCIDENT', ''])
  })

  it('everyone whom a record names has an account, member or not', async () => {
    const fake = await start()
    const project = fake.world.project(PATH)
    const stranger = fake.world.users.find((user) => !project.members.includes(user))
    // The fake lets all users write, including one who is not a member.
    const accounts = async () => (await rowsOf('accounts')).map(({ id }) => id)
    const idOfStranger = `gitlab:GitlabAccount:1:${stranger?.id}`
    await run()
    expect(await accounts()).toContain(idOfStranger)
    const known = new Set(await accounts())
    const named: [string, string][] = [
      ['pull_requests', 'author_id'],
      ['pull_request_comments', 'account_id'],
      ['pull_request_assignees', 'assignee_id'],
      ['pull_request_reviewers', 'reviewer_id'],
      ['issues', 'creator_id'],
      ['issues', 'assignee_id'],
      ['issue_assignees', 'assignee_id'],
      ['cicd_releases', 'author_id'],
    ]
    for (const [table, column] of named) {
      const ids = (await rowsOf(table)).map((row) => row[column])
      expect(ids.length, table).toBeGreaterThan(0)
      // An id that ends with `:0` is DevLake's id for nobody, which a shared conformance case compares.
      const wrong = ids.filter((id) => id && !id.endsWith(':0') && !known.has(id))
      expect(wrong, `${table}.${column}`).toEqual([])
    }
    const row = (await rowsOf('accounts')).find(({ id }) => id === idOfStranger)
    expect(row).toMatchObject({ user_name: stranger?.username, full_name: stranger?.name })

    // A member has one row, which comes from the list of members. Nobody has two rows.
    const members = (await rowsOf('accounts')).filter(({ _raw_data_table }) => _raw_data_table.endsWith('api_users'))
    expect(members).toHaveLength(project.members.length)

    // A person who is no longer named disappears with the next full collection.
    const others = <Thing>(things: readonly Thing[], of: (thing: Thing) => readonly unknown[]) =>
      things.filter((thing) => !of(thing).includes(stranger))
    const kept = {
      issues: others(project.issues, ({ author, assignees }) => [author, ...assignees]),
      mergeRequests: others(project.mergeRequests, (each) => [
        each.author,
        ...each.assignees,
        ...each.reviewers,
        ...each.notes.map(({ author }) => author),
      ]),
      releases: others(project.releases, ({ author }) => [author]),
    }
    project.issues.splice(0, project.issues.length, ...kept.issues)
    project.mergeRequests.splice(0, project.mergeRequests.length, ...kept.mergeRequests)
    project.releases.splice(0, project.releases.length, ...kept.releases)
    fake.world.version++
    await run({ fullSync: true })
    expect(await accounts()).not.toContain(idOfStranger)
    expect(await accounts()).toHaveLength(project.members.length)
  })

  it('a person who leaves the project keeps the account, as records name it', async () => {
    const fake = await start()
    const project = fake.world.project(PATH)
    await run()
    const author = project.mergeRequests.map((each) => each.author).find((user) => project.members.includes(user))
    project.members.splice(project.members.indexOf(author as never), 1)
    fake.world.version++
    await run()
    const row = (await rowsOf('accounts')).find(({ id }) => id === `gitlab:GitlabAccount:1:${author?.id}`)
    expect(row).toMatchObject({ user_name: author?.username })
    expect(row._raw_data_table).not.toBe('_raw_gitlab_api_users')
  })

  it('pipelines without a time of change come with their jobs, in the first run and in later ones', async () => {
    const fake = await start({ externalPipelines: 4 })
    const project = fake.world.project(PATH)
    const wanted = () => {
      const own = project.pipelines.filter(({ createdAt }) => createdAt >= AFTER.toISOString())
      return generatedIds({ ...project, pipelines: own })
    }
    const stored = async () => {
      const { pipelines, jobs } = await storedIds(test.database)
      return { pipelines, jobs }
    }
    expect(project.pipelines.filter(({ updatedAt }) => updatedAt === null)).toHaveLength(4)
    await run({ timeAfter: AFTER })
    expect(await stored()).toEqual({ pipelines: wanted().pipelines, jobs: wanted().jobs })
    fake.clock.advance(3_600_000)
    fake.update({ project: PATH, act: 'start pipeline', with: [2] })
    fake.update({ project: PATH, act: 'finish job', with: [0] })
    await run({ timeAfter: AFTER })
    expect(await stored()).toEqual({ pipelines: wanted().pipelines, jobs: wanted().jobs })
    // The pipeline ends, and one of its jobs is reported even later.
    fake.clock.advance(3_600_000)
    fake.update({ project: PATH, act: 'finish pipeline', with: [0, 0] })
    await run({ timeAfter: AFTER })
    expect(await stored()).toEqual({ pipelines: wanted().pipelines, jobs: wanted().jobs })
    const external = project.pipelines.at(-1)
    expect(external).toMatchObject({ source: 'external', updatedAt: null, status: 'success' })
    const row = (await rowsOf('cicd_pipelines')).find(({ id }) => id === `gitlab:GitlabPipeline:1:${external?.id}`)
    expect(row).toMatchObject({ status: 'DONE', result: 'SUCCESS' })
  })

  it('a deployment is called after its job, and in the domain tables by its own id besides', async () => {
    const fake = await start({ deployments: 12 })
    await run()
    const { deployments } = fake.world.project(PATH)
    const nameOf = ({ job, environment }: (typeof deployments)[number]) => job?.job.name ?? environment
    const byId = (rows: readonly any[], id: (row: any) => string) =>
      new Map(rows.map((row) => [id(row), row.name as string]))
    const tool = byId(await rowsOf('_tool_gitlab_deployments'), ({ deployment_id }) => String(deployment_id))
    const domain = byId(await rowsOf('cicd_deployments'), ({ id }) => id.split(':').at(-1))
    const commits = byId(await rowsOf('cicd_deployment_commits'), ({ id }) => id.split(':').at(-1))
    expect(deployments.some(({ job }) => job) && deployments.some(({ job }) => !job)).toBe(true)
    for (const deployment of deployments) {
      const id = String(deployment.id)
      expect(tool.get(id)).toBe(nameOf(deployment))
      expect([domain.get(id), commits.get(id)]).toEqual([`${nameOf(deployment)}:${id}`, `${nameOf(deployment)}:${id}`])
    }
  })
})
