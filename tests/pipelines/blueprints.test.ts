import { sql } from 'kysely'
import { beforeAll, expect, it } from 'vitest'
import type { ControlPlane } from '../../src/control-plane/control-plane.ts'
import type { NewBlueprint } from '../../src/control-plane/records.ts'
import type { Plan } from '../../src/plugin-kit/spec/plan.ts'
import { prepareDatabase } from '../../src/start/prepare-database.ts'
import { describeEachWithTables } from '../support/databases.ts'
import { realControl } from './support/real-control.ts'

/** Lists each plugin and its subject, stage by stage. */
const outline = (plan: Plan): string[] =>
  plan.map((stage) =>
    stage
      .map(({ plugin, options }) =>
        `${plugin} ${options.fullName ?? options.boardId ?? options.repoId ?? options.projectName ?? ''}`.trim(),
      )
      .join(' + '),
  )

describeEachWithTables('projects, blueprints and plans', (test) => {
  let control: ControlPlane
  let github: number
  let jira: number
  const services = () => control.services
  const connections = () => [
    { pluginName: 'github', connectionId: github, scopes: [{ scopeId: '1' }, { scopeId: '2' }] },
    { pluginName: 'jira', connectionId: jira, scopes: [{ scopeId: '8' }] },
  ]
  const dora = { pluginName: 'dora', pluginOption: {}, enable: true }

  beforeAll(async () => {
    await prepareDatabase(test.database)
    control = realControl(test.database)
    github = (
      await services().connections.create('github', { name: 'gh', token: 'planted-token', enableGraphql: false })
    ).id
    jira = (
      await services().connections.create('jira', {
        name: 'jira',
        endpoint: 'https://example.com/rest/',
        username: 'u',
        password: 'planted-password',
        authMethod: 'BasicAuth',
      })
    ).id
    const repository = (number: number, rest = {}) => ({
      githubId: number,
      name: `r${number}`,
      fullName: `acme/r${number}`,
      cloneUrl: `https://github.com/acme/r${number}.git`,
      ...rest,
    })
    const { id: scopeConfigId } = await services().scopeConfigs.create('github', github, {
      name: 'tags',
      entities: ['CODE', 'CICD'],
      refdiff: { tagsLimit: 10, tagsPattern: 'v.*' },
    })
    await services().scopes.put('github', github, [repository(1, { scopeConfigId }), repository(2)])
    await services().scopes.put('jira', jira, [{ boardId: 8, name: 'Board' }])
  })

  it('gives a project its blueprint: daily at midnight UTC, six months back', async () => {
    const project = await services().projects.create({ name: 'plain', description: 'said' })
    expect(project).toMatchObject({ name: 'plain', description: 'said', metrics: [] })
    expect(project.blueprint).toMatchObject({
      name: 'plain-Blueprint',
      projectName: 'plain',
      mode: 'NORMAL',
      enable: true,
      cronConfig: '0 0 * * *',
      isManual: false,
      skipOnFail: true,
      connections: [],
      labels: [],
    })
    const now = new Date()
    const back = project.blueprint?.timeAfter as Date
    expect(back.toISOString()).toMatch(/T00:00:00.000Z$/)
    expect((now.getTime() - back.getTime()) / 86_400_000).toBeGreaterThan(180)
    expect((now.getTime() - back.getTime()) / 86_400_000).toBeLessThan(187)
    expect(outline(project.blueprint?.plan ?? [])).toEqual(['org'])
    await expect(services().projects.create({ name: 'plain' })).rejects.toMatchObject({ status: 400 })
    await expect(services().projects.create({ name: ' ' })).rejects.toThrow('name is missing')
    await expect(services().projects.create({ name: 'x'.repeat(101) })).rejects.toThrow('at most 100')
    await expect(
      services().projects.create({ name: 'metric', metrics: [{ pluginName: 'nope', pluginOption: '', enable: true }] }),
    ).rejects.toThrow('no metric nope')
    await expect(services().projects.create({ name: 'badplan', blueprint: { cronConfig: 'never' } })).rejects.toThrow(
      'cronConfig',
    )
    expect(await services().projects.exists('badplan')).toBe(false)
    expect(await services().projects.exists('metric')).toBe(false)
    expect(await services().projects.exists('plain')).toBe(true)
  })

  it('plans a NORMAL blueprint as DevLake does', async () => {
    const { blueprint } = await services().projects.create({
      name: 'shop',
      metrics: [
        dora,
        { pluginName: 'linker', pluginOption: { prToIssueRegexp: '#' }, enable: true },
        { pluginName: 'issue_trace', pluginOption: '', enable: true },
      ],
    })
    const id = blueprint?.id ?? 0
    const saved = await services().blueprints.update(id, { connections: connections() })
    expect(saved.connections).toEqual(connections())
    expect(outline(saved.plan)).toEqual([
      'org',
      'github acme/r1 + gitextractor acme/r1 + jira 8',
      `github acme/r2 + gitextractor acme/r2 + refdiff github:GithubRepo:${github}:1`,
      'dora shop + issue_trace shop + linker shop',
      'refdiff shop',
      'dora shop',
    ])
    expect(saved.plan[1]?.[1]?.options).toEqual({
      url: 'https://github.com/acme/r1.git',
      name: 'acme/r1',
      fullName: 'acme/r1',
      repoId: `github:GithubRepo:${github}:1`,
      connectionId: github,
      pluginName: 'github',
    })
    expect(saved.plan[0]?.[0]?.options).toEqual({
      projectMappings: [
        {
          projectName: 'shop',
          scopes: [
            { table: 'repos', rowId: `github:GithubRepo:${github}:1` },
            { table: 'cicd_scopes', rowId: `github:GithubRepo:${github}:1` },
            { table: 'repos', rowId: `github:GithubRepo:${github}:2` },
            { table: 'boards', rowId: `github:GithubRepo:${github}:2` },
            { table: 'cicd_scopes', rowId: `github:GithubRepo:${github}:2` },
            { table: 'boards', rowId: `jira:JiraBoard:${jira}:8` },
          ],
        },
      ],
    })
    const [first] = saved.plan[1] ?? []
    expect(first?.options).toEqual({ connectionId: github, githubId: 1, name: 'acme/r1', fullName: 'acme/r1' })
    expect(first?.subtasks).toContain('Collect Workflow Runs')
    expect(first?.subtasks?.some((name) => /Issue Comments/.test(name))).toBe(false)
    expect(saved.plan.flat().find(({ plugin }) => plugin === 'issue_trace')?.options.scopeIds).toEqual([
      `github:GithubRepo:${github}:2`,
      `jira:JiraBoard:${jira}:8`,
    ])
    expect(JSON.stringify(saved)).not.toContain('planted')

    const again = await services().blueprints.preview(id, { skipCollectors: true })
    const names = again.plan.flat().flatMap(({ subtasks }) => subtasks ?? [])
    expect(names.filter((name) => /collect/i.test(name))).toEqual([])
    expect(names.length).toBeGreaterThan(0)
    expect(again.plan.flat().some(({ plugin }) => plugin === 'gitextractor')).toBe(false)

    const before: Plan = [[{ plugin: 'org', subtasks: [], options: { note: 'before' } }]]
    const framed = await services().blueprints.update(id, { beforePlan: before, afterPlan: before })
    expect([framed.plan[0], framed.plan.at(-1)]).toEqual([before[0], before[0]])
    expect((await services().blueprints.update(id, { beforePlan: null })).plan[0]?.[0]?.subtasks).toEqual([
      'setProjectMapping',
    ])

    await services().connections.update('github', github, { enableGraphql: true })
    const graphql = await services().blueprints.preview(id)
    expect(outline(graphql.plan)[1]).toMatch(/^github_graphql acme\/r1/)
    await services().connections.update('github', github, { enableGraphql: false })
  })

  it('runs an ADVANCED plan as given, in either spelling, and hides passwords in it', async () => {
    const url = 'https://git:planted-password@example.com/x.git'
    const plan = [[{ Plugin: 'circleci', Subtasks: null, options: { connectionId: 1, url } }], []] as any
    const blueprint: NewBlueprint = { name: 'advanced', mode: 'ADVANCED', isManual: true, plan }
    const { id, ...saved } = await services().blueprints.create(blueprint)
    expect(saved.plan[0]?.[0]).toEqual({
      plugin: 'circleci',
      subtasks: [],
      options: { connectionId: 1, url: 'https://git:****************@example.com/x.git' },
    })
    await services().blueprints.update(id, { plan: saved.plan, name: 'kept' })
    const { rows } = await sql`select * from _devlake_blueprints`.execute(test.database.kysely)
    expect(JSON.stringify(rows)).not.toContain('planted')
    const pipeline = await services().blueprints.trigger(id, { fullSync: true })
    expect(pipeline).toMatchObject({
      name: 'kept',
      status: 'TASK_CREATED',
      totalTasks: 1,
      fullSync: true,
      blueprintId: id,
    })
    const [task] = await services().pipelines.tasks(pipeline.id)
    expect(task?.options.url).toBe('https://git:****************@example.com/x.git')
    const { rows: tasks } = await sql<{ options: string }>`select options from _devlake_tasks
      where pipeline_id = ${pipeline.id}`.execute(test.database.kysely)
    expect(control.context.secrets.decrypt(tasks[0]?.options ?? '')).toContain('planted-password')
    await expect(services().blueprints.trigger(id)).rejects.toThrow(`Pipeline ${pipeline.id}`)
    await expect(services().blueprints.remove(id)).rejects.toMatchObject({ status: 409 })
    await services().pipelines.cancel(pipeline.id)
    await services().blueprints.remove(id)
    await expect(services().blueprints.get(id)).rejects.toMatchObject({ status: 404 })
  })

  it('says what is wrong with a blueprint, and leaves everything as it was', async () => {
    const before = (await services().blueprints.list()).count
    const wrong: [Partial<NewBlueprint>, string][] = [
      [{ name: '' }, 'name is missing'],
      [{ mode: 'OTHER' as any }, 'mode must be'],
      [{ isManual: false, cronConfig: '' }, 'cronConfig'],
      [{ isManual: false, cronConfig: '0 0 31 2 *' }, 'never comes'],
      [{ isManual: false, cronConfig: '0 0 0 0 0 0' }, 'is not a schedule'],
      [{ timeAfter: new Date(Date.now() + 86_400_000) }, 'future'],
      [{ projectName: 'missing' }, 'no project missing'],
      [{ projectName: 'plain' }, 'already has'],
      [{ connections: [{ pluginName: 'github', connectionId: github, scopes: [] }] }, 'has no scopes'],
      [
        { connections: [{ pluginName: 'github', connectionId: 99, scopes: [{ scopeId: '1' }] }] },
        'no github connection 99',
      ],
      [{ connections: [{ pluginName: 'github', connectionId: github, scopes: [{ scopeId: '9' }] }] }, 'no scope 9'],
      [{ connections: [{ pluginName: 'nope', connectionId: 1, scopes: [{ scopeId: '9' }] }] }, 'no plugin nope'],
      [{ mode: 'ADVANCED', plan: [] }, 'plan is empty'],
      [{ mode: 'ADVANCED', plan: 'x' as any }, 'list of stages'],
      [{ mode: 'ADVANCED', plan: [[{ plugin: 'nope', subtasks: [], options: {} }]] }, 'nope'],
      [{ mode: 'ADVANCED', plan: [[{ plugin: 'circleci', subtasks: ['paint'], options: {} }]] }, 'no subtask paint'],
    ]
    for (const [values, message] of wrong) {
      await expect(services().blueprints.create({ name: 'wrong', isManual: true, ...values }), message).rejects.toThrow(
        message,
      )
    }
    expect((await services().blueprints.list()).count).toBe(before)
    const manual = await services().blueprints.create({ name: 'by hand', cronConfig: 'Manual' })
    expect(manual.isManual).toBe(true)
    await expect(services().blueprints.update(manual.id, { mode: 'ADVANCED' })).rejects.toThrow(
      'mode cannot be changed',
    )
    await services().blueprints.update(manual.id, { enable: false })
    await expect(services().blueprints.trigger(manual.id)).rejects.toThrow('disabled')
    await services().blueprints.update(manual.id, { enable: true })
    await expect(services().blueprints.trigger(manual.id)).rejects.toThrow('no task')
    await expect(services().pipelines.create({ plan: [[]] })).rejects.toThrow('no task')
    await expect(services().pipelines.get(999)).rejects.toMatchObject({ status: 404 })
  })

  it('lists blueprints by kind and label', async () => {
    const daily = await services().blueprints.create({
      name: 'daily',
      cronConfig: '0 0 * * *',
      labels: ['team', 'team'],
    })
    const custom = await services().blueprints.create({ name: 'custom', cronConfig: '5 4 * * *', enable: false })
    const ids = async (filter: object) => (await services().blueprints.list(filter)).items.map(({ id }) => id)
    expect(await ids({ label: 'team' })).toEqual([daily.id])
    expect(await ids({ type: 'CUSTOM' })).toEqual([custom.id])
    expect(await ids({ type: 'DAILY' })).toContain(daily.id)
    expect(await ids({ type: 'DAILY' })).not.toContain(custom.id)
    expect(await ids({ enable: false })).toEqual([custom.id])
    expect(daily.labels).toEqual(['team'])
  })

  it('renames a project with everything that carries its name, and deletes it', async () => {
    await services().projects.create({ name: "old/'name' 🚀", metrics: [dora] })
    await sql`insert into project_mapping (project_name, ${sql.id('table')}, row_id)
      values (${"old/'name' 🚀"}, 'repos', 'r')`.execute(test.database.kysely)
    const renamed = await services().projects.update("old/'name' 🚀", { name: 'new' })
    expect(renamed).toMatchObject({ name: 'new', description: '', metrics: [dora], blueprint: { projectName: 'new' } })
    await expect(services().projects.get("old/'name' 🚀")).rejects.toMatchObject({ status: 404 })
    await expect(services().projects.update('new', { name: 'plain' })).rejects.toThrow('already')
    const mapped = () => sql`select * from project_mapping where project_name = 'new'`.execute(test.database.kysely)
    expect((await mapped()).rows.length).toBe(1)
    const pipeline = await services().blueprints.trigger(renamed.blueprint?.id ?? 0)
    await expect(services().projects.remove('new')).rejects.toMatchObject({ status: 409 })
    const { items } = await services().projects.list({ keyword: 'NEW' })
    expect(items).toMatchObject([{ name: 'new', lastPipeline: { id: pipeline.id, status: 'TASK_CREATED' } }])
    await services().pipelines.cancel(pipeline.id)
    await services().projects.remove('new')
    expect((await mapped()).rows).toEqual([])
    expect((await services().projects.list({ keyword: '%' })).count).toBe(0)
  })

  it('starts one pipeline of a blueprint when many ask at once', async () => {
    const { blueprint } = await services().projects.create({ name: 'crowd' })
    const asked = await Promise.allSettled(
      Array.from({ length: 8 }, () => services().blueprints.trigger(blueprint?.id ?? 0)),
    )
    expect(asked.filter(({ status }) => status === 'fulfilled').length).toBe(1)
    const { count, items } = await services().pipelines.list({ blueprintId: blueprint?.id ?? 0 })
    expect(count).toBe(1)
    await expect(services().pipelines.rerun(items[0]?.id ?? 0)).rejects.toThrow('is TASK_CREATED')
    await expect(services().pipelines.create({ plan: items[0]?.plan ?? [], blueprintId: 4711 })).rejects.toThrow('4711')
  })
})
