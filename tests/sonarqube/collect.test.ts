/** SonarQube over HTTP: first and later runs, its limit of 10,000, and forbidden requests. */
import { createHash } from 'node:crypto'
import { sql } from 'kysely'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { testConnection } from '../../src/control-plane/connections/test-connection.ts'
import { sonarqube } from '../../src/plugins/sonarqube/plugin.ts'
import { allTables } from '../../src/tables.ts'
import { type FakeSonarqube, startFakeSonarqube, TOKEN } from '../fake-sonarqube/fake-sonarqube.ts'
import { describeOneWithTables } from '../support/databases.ts'
import { emptyTables } from '../support/empty-tables.ts'
import { SIGN_IN_PAGE } from '../support/fake-source.ts'
import { runSubtask } from '../support/run-subtask.ts'

const HOUR = 3_600_000

describeOneWithTables('collecting from sonarqube', (test) => {
  let fake: FakeSonarqube
  const ago = (milliseconds: number) => {
    const time = new Date(Math.floor((Date.now() - milliseconds) / 1000) * 1000)
    fake.setNow(() => time)
  }
  const connection = () => ({ endpoint: fake.endpoint, token: TOKEN })
  beforeEach(async () => {
    fake = await startFakeSonarqube()
    await emptyTables(test.database, allTables)
    const values = { id: 1, name: 'sonar', ...connection(), organization: '', proxy: '', rate_limit_per_hour: 0 }
    await test.database.kysely.insertInto('_tool_sonarqube_connections').values(values).execute()
    const project = { connection_id: 1, project_key: 'shop', name: 'as it was called', scope_config_id: 0 }
    await test.database.kysely.insertInto('_tool_sonarqube_projects').values(project).execute()
  })
  afterEach(() => fake.stop())
  /** A task is identified by the object of its options. */
  const newTask = () => {
    const options = { connectionId: 1, projectKey: 'shop' }
    return (name: string) => runSubtask(test.database, sonarqube, name, options)
  }
  const runAll = async () => {
    const run = newTask()
    const remarks: string[] = []
    for (const { name, isDefault } of sonarqube.subtasks) {
      if (isDefault) remarks.push(...((await run(name)).remarks ?? []))
    }
    return remarks
  }
  const all = async (table: string, ...columns: string[]): Promise<any[]> =>
    test.database.kysely
      .selectFrom(table)
      .select(columns)
      .orderBy(columns[0] as string)
      .execute()
  const count = async (table: string) => (await all(table, '_raw_data_id')).length
  const check = (settings: object = connection()) =>
    testConnection(
      sonarqube.source!,
      settings as never,
      { mask: () => ({}) },
      { isSaved: false, signal: AbortSignal.timeout(60_000) },
    )

  function shop() {
    const project = fake.addProject('shop', 'The shop')
    fake.analyse(project, 'c0ffee')
    fake.setFile(project, 'src/a.ts', {
      bugs: '2',
      ncloc: '80',
      coverage: '30.3',
      reliability_rating: '3.0',
      lines: '99',
    })
    fake.setFile(project, 'src/b.ts', { bugs: '0', duplicated_blocks: '4', complexity: '7' })
    return project
  }

  it('brings projects, issues, hotspots, measures, gates and people', async () => {
    ago(3 * HOUR)
    const project = shop()
    const issue = fake.addIssue(project, { lines: [3, 5, 8] })
    const hotspot = fake.addHotspot(project)
    expect(await runAll()).toEqual([])
    const project_key = 'sonarqube:SonarqubeProject:1:shop'
    expect(await all('cq_projects', 'id', 'name', 'commit_sha', 'visibility')).toEqual([
      { id: project_key, name: 'The shop', commit_sha: 'c0ffee', visibility: 'private' },
    ])
    expect(await all('cq_issues', 'type', 'id', 'project_key', 'debt', 'effort', 'tags')).toEqual([
      {
        type: 'CODE_SMELL',
        id: `sonarqube:SonarqubeIssue:1:${issue.key}`,
        project_key,
        debt: 5,
        effort: 630,
        tags: 'design,cert',
      },
      {
        type: 'HOTSPOTS',
        id: `sonarqube:SonarqubeHotspot:1:${hotspot.key}`,
        project_key,
        debt: 0,
        effort: 0,
        tags: '',
      },
    ])
    expect((await all('cq_issue_code_blocks', 'start_line')).map(({ start_line }) => start_line)).toEqual([3, 5, 8])
    // DevLake's ids of files: the SHA-1 of `shop:src/a.ts` and of `shop:src/b.ts`.
    const hashes = ['src/a.ts', 'src/b.ts']
      .map((path) => createHash('sha1').update(`shop:${path}`).digest('hex'))
      .sort()
    expect(await all('_tool_sonarqube_file_metrics', 'file_metrics_key')).toEqual(
      hashes.map((file_metrics_key) => ({ file_metrics_key })),
    )
    expect(await all('cq_file_metrics', 'id')).toEqual(
      hashes.map((hash) => ({ id: `sonarqube:SonarqubeFileMetrics:1:${hash}` })),
    )
    expect(await all('cq_issue_impacts', 'software_quality', 'severity')).toEqual([
      { software_quality: 'MAINTAINABILITY', severity: 'HIGH' },
    ])
    const columns = [
      'file_name',
      'bugs',
      'ncloc',
      'coverage',
      'reliability_rating',
      'num_of_lines',
      'duplicated_blocks',
      'complexity',
    ]
    expect(await all('cq_file_metrics', ...columns)).toEqual([
      {
        file_name: 'a.ts',
        bugs: 2,
        ncloc: 80,
        coverage: Math.fround(30.3),
        reliability_rating: 'C',
        num_of_lines: 99,
        duplicated_blocks: 0,
        complexity: 0,
      },
      {
        file_name: 'b.ts',
        bugs: 0,
        ncloc: 0,
        coverage: 0,
        reliability_rating: '',
        num_of_lines: 0,
        duplicated_blocks: 4,
        complexity: 7,
      },
    ])
    expect(await all('_tool_sonarqube_quality_gates', 'project_key', 'status')).toEqual([
      { project_key: 'shop', status: 'OK' },
    ])
    expect(await all('_tool_sonarqube_quality_gate_conditions', 'metric_key', 'actual_value')).toEqual([
      { metric_key: 'new_coverage', actual_value: '91' },
    ])
    expect(await all('accounts', 'id', 'user_name')).toEqual([
      { id: 'sonarqube:SonarqubeAccount:1:ada', user_name: 'ada' },
    ])
  })

  it('follows what changes and what goes away', async () => {
    ago(3 * HOUR)
    const project = shop()
    const [changed, gone] = [fake.addIssue(project), fake.addIssue(project)]
    await runAll()
    ago(HOUR)
    Object.assign(changed!, { status: 'ACCEPTED', updated: fake.now() })
    project.issues = project.issues.filter(({ key }) => key !== gone?.key)
    project.files = project.files.filter(({ path }) => path === 'src/a.ts')
    fake.setFile(project, 'src/a.ts', { bugs: '1', complexity: '5' })
    project.gate = 'ERROR'
    fake.analyse(project, 'decaf')
    await runAll()
    expect(await all('cq_issues', 'status')).toEqual([{ status: 'ACCEPTED' }])
    expect(await all('cq_file_metrics', 'file_name', 'bugs', 'complexity')).toEqual([
      { file_name: 'a.ts', bugs: 1, complexity: 5 },
    ])
    expect(await all('_tool_sonarqube_quality_gates', 'status')).toEqual([{ status: 'ERROR' }])
    expect(await all('cq_projects', 'commit_sha')).toEqual([{ commit_sha: 'decaf' }])
  })

  it('keeps the whole names of files, however long', async () => {
    ago(3 * HOUR)
    const project = shop()
    const file = `src/${'long/'.repeat(300)}a.ts`
    fake.addIssue(project, { file })
    fake.setFile(project, file, { bugs: '1' })
    expect(await runAll()).toEqual([])
    for (const table of ['cq_issues', 'cq_issue_code_blocks', '_tool_sonarqube_issue_code_blocks']) {
      expect(await all(table, 'component'), table).toEqual([{ component: `shop:${file}` }])
    }
    expect(await count('cq_file_metrics')).toBe(3)
    expect(await all('_weir_quarantine', 'reason')).toEqual([])
  })

  it('cuts what is longer than SonarQube tells, and says what it cannot cut', async () => {
    ago(3 * HOUR)
    const project = shop()
    const early = new Date(Date.now() - 900 * HOUR)
    for (let number = 0; number < 5000; number++) fake.addIssue(project, { created: early })
    // All issues of a first analysis have the same second.
    for (let number = 0; number < 10_200; number++)
      fake.addIssue(project, { severity: number < 150 ? 'MINOR' : 'MAJOR' })
    const remarks = (await newTask()('CollectIssues')).remarks ?? []
    const { rows } = await sql<{ count: number }>`select count(*) as count from _raw_sonarqube_api_issues`.execute(
      test.database.kysely,
    )
    expect(Number(rows[0]?.count)).toBe(5000 + 150 + 10_000)
    expect(remarks.join()).toMatch(/only 10000 of 10050 records .*CODE_SMELL MAJOR OPEN/)
  })

  it('is not stopped by an analysis that ends in the middle', async () => {
    ago(3 * HOUR)
    const project = shop()
    for (let number = 0; number < 600; number++) fake.addIssue(project)
    let isDone = false
    fake.onRequest = (address) => {
      if (isDone || !address.includes('/issues/search') || !address.includes('p=2')) return
      isDone = true
      project.issues.splice(0, 10)
      fake.addIssue(project, { created: new Date(Date.now() - 2 * HOUR) })
    }
    await runAll()
    await runAll()
    expect(await count('cq_issues')).toBe(591)
  })

  it('names older servers’ projects as they want it', async () => {
    ago(HOUR)
    fake.server.version = '9.9.4'
    fake.addIssue(shop())
    await runAll()
    expect(await count('cq_issues')).toBe(1)
    expect(fake.requests.some((address) => address.includes('componentKeys=shop'))).toBe(true)
  })

  it('collects the rest from a server without hotspots, and tells it', async () => {
    ago(HOUR)
    fake.addIssue(shop())
    // Older than 8.2: https://docs.sonarsource.com/sonarqube-server/8.2/user-guide/security-hotspots/
    fake.faults.push({
      path: '/hotspots/search',
      answer: [404, { errors: [{ msg: 'Unknown url : /api/hotspots/search' }] }],
      isLasting: true,
    })
    expect((await runAll()).join()).toMatch(/hotspots\/search.*404/)
    expect(await count('cq_issues')).toBe(1)
    expect(await count('cq_file_metrics')).toBe(2)
  })

  it('keeps hotspots that were collected where they are refused later', async () => {
    ago(2 * HOUR)
    fake.addHotspot(shop())
    await runAll()
    fake.faults.push({ path: '/hotspots/search', answer: [403, { errors: [{ msg: 'no' }] }], isLasting: true })
    ago(HOUR)
    expect((await runAll()).join()).toMatch(/hotspots\/search/)
    expect(await count('cq_issues')).toBe(1)
  })

  it('takes a project without a quality gate, and one that was never analysed', async () => {
    ago(HOUR)
    fake.addProject('shop', 'The shop')
    fake.faults.push({
      path: '/qualitygates/project_status',
      answer: [404, { errors: [{ msg: 'Quality Gate not found' }] }],
      isLasting: true,
    })
    expect(await runAll()).toEqual([])
    expect(await all('cq_projects', 'name', 'last_analysis_date')).toMatchObject([{ name: 'The shop' }])
    expect(await count('_tool_sonarqube_quality_gates')).toBe(0)
  })

  it('collects the rest where people may not be listed, and tells it', async () => {
    ago(HOUR)
    fake.addIssue(shop())
    for (let time = 0; time < 5; time++)
      fake.faults.push({ path: '/users/search', answer: [403, { errors: [{ msg: 'Insufficient privileges' }] }] })
    expect((await runAll()).join()).toMatch(/users\/search/)
    expect(await count('cq_issues')).toBe(1)
  })

  it('says that a project is gone, and keeps its rows', async () => {
    ago(HOUR)
    fake.addIssue(shop())
    await runAll()
    fake.projects.length = 0
    await expect(runAll()).rejects.toThrow(/shop/)
    expect(await count('cq_issues')).toBe(1)
  })

  it('tests a connection, and says what is missing', async () => {
    await expect(check()).resolves.toMatchObject({ success: false, message: expect.stringMatching(/Browse/) })
    shop()
    await expect(check()).resolves.toMatchObject({ success: true })
    fake.server.isTokenValid = false
    await expect(check()).resolves.toMatchObject({ success: false, message: expect.stringMatching(/new user token/) })
    await expect(check({ ...connection(), endpoint: 'https://sonarcloud.io/api/' })).resolves.toMatchObject({
      success: false,
      message: expect.stringMatching(/Enter the organization/),
    })
    fake.faults.push({ path: 'authentication/validate', answer: [200, SIGN_IN_PAGE] })
    await expect(check()).rejects.toThrow()
  })
})
