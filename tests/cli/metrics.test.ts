/** Numbers in a terminal, and the same as JSON for programs. */
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeAll, expect, it } from 'vitest'
import { measureOne } from '../../src/control-plane/projects/measure.ts'
import { insertRow } from '../../src/control-plane/store.ts'
import { write } from '../../src/database/write.ts'
import { repoCommits, repos } from '../../src/domain/code.ts'
import { projectMapping, projectPrMetrics } from '../../src/domain/crossdomain.ts'
import { cicdDeploymentCommits, cicdScopes } from '../../src/domain/devops.ts'
import { pullRequests } from '../../src/domain/pull-requests.ts'
import { changeFailureRate } from '../../src/metrics/definitions/change-failure-rate.ts'
import { changeLeadTime } from '../../src/metrics/definitions/change-lead-time.ts'
import { serviceChangeFailureRate } from '../../src/metrics/definitions/service-change-failure-rate.ts'
import { DEFAULT_POLICY } from '../../src/metrics/policy/policy.ts'
import { restsOn } from '../../src/metrics/read/rests-on.ts'
import { plugins } from '../../src/plugins/index.ts'
import { prepareDatabase } from '../../src/start/prepare-database.ts'
import { pipelines, tasks } from '../../src/system/pipelines.ts'
import { blueprints, projects } from '../../src/system/projects.ts'
import { runCli } from '../support/cli.ts'
import { describeOneWithTables } from '../support/databases.ts'

const DAY = 86_400_000
const DAYS = 150

describeOneWithTables('weir metrics', (test) => {
  const dataFolder = mkdtempSync(join(tmpdir(), 'weir-metrics-'))
  const environment = () => ({
    DB_URL: test.url,
    DATA_FOLDER: dataFolder,
    ENCRYPTION_SECRET: 'a key that is only used in tests',
    LOGGING_LEVEL: 'silent',
  })
  const run = (...parameters: string[]) => runCli(['metrics', ...parameters], environment())

  beforeAll(async () => {
    await prepareDatabase(test.database)
    for (const name of ['shop', 'empty']) await insertRow(test.database.kysely, projects, { name })
    const deployments = Array.from({ length: DAYS }, (_, day) => {
      const finished_date = new Date(Date.now() - day * DAY - 1000)
      const id = `d${day}`
      return cicdDeploymentCommits.row({
        id,
        cicd_deployment_id: id,
        cicd_scope_id: 'scope',
        name: id,
        commit_sha: id,
        repo_url: 'https://x.test/r',
        result: 'SUCCESS',
        status: 'DONE',
        environment: 'PRODUCTION',
        created_date: finished_date,
        finished_date,
      })
    })
    await write(test.database, [
      cicdScopes.row({ id: 'scope', name: 'scope' }),
      projectMapping.row({ project_name: 'shop', table: 'cicd_scopes', row_id: 'scope' }),
      ...deployments,
    ])
  })

  it('prints the four keys of every project with value, band and course, or why there is none', async () => {
    const { code, output, errors } = await run()
    expect(errors).toBe('')
    expect(code).toBe(0)
    expect(output).toMatch(/^The four keys of shop since \d{4}-\d\d-\d\d:$/m)
    expect(output).toMatch(/^ +Deployment frequency +7 days per week, 150 deployments +elite +[▁▂▃▄▅▆▇█]{6,7} /m)
    expect(output).toMatch(/^The four keys of empty .*\n +Deployment frequency +no data, because .*deployments/m)
    const empty = output.split('The four keys of ').find((text) => text.startsWith('empty '))
    expect(empty).toContain('Deployment frequency')
    expect(empty).not.toMatch(/[▁▂▃▄▅▆▇█]/)
  })

  it('prints one metric of one project, and JSON for programs', async () => {
    const { output } = await run('--project', 'shop', '--metric', 'change-failure-rate', '--json')
    const { projects: listed } = JSON.parse(output)
    expect(listed).toHaveLength(1)
    const [{ project, metrics }] = listed
    expect(project).toBe('shop')
    expect(metrics).toHaveLength(1)
    expect(metrics[0]).toMatchObject({ metric: 'change-failure-rate', unit: 'share', better: 'lower', counted: DAYS })
    expect(metrics[0].points.length).toBeGreaterThanOrEqual(6)
    // No source could report an incident, so neither the rate nor one of its months is 0.
    expect(metrics[0].value).toBeNull()
    expect(metrics[0].points.map(({ value }: { value: number | null }) => value)).toEqual(
      metrics[0].points.map(() => null),
    )
    const { output: plain } = await run('--project', 'shop', '--metric', 'change-failure-rate')
    expect(plain).toMatch(/^Change failure rate of shop since/)
  })

  it('says how much a value rests on, of how much, and what is missing with the next step', async () => {
    const { kysely } = test.database
    for (const name of ['partial', 'unread']) await insertRow(kysely, projects, { name })
    const at = (days: number) => new Date(Date.now() - days * DAY)
    // Three pull requests merged in a repository whose git was read, two of them deployed, and two in a repository that could
    // not be cloned.
    const pulls = ['read', 'read', 'read', 'unread', 'unread'].map((repo, index) => {
      const times = { created_date: at(20), merged_date: at(12) }
      return pullRequests.row({ id: `pr${index}`, base_repo_id: repo, title: repo, status: 'MERGED', ...times })
    })
    const calculated = pulls.map((_, index) =>
      projectPrMetrics.row({
        id: `pr${index}`,
        project_name: 'partial',
        ...(index < 2 && { pr_cycle_time: 60 * (index + 1), pr_deployed_date: at(11 - index) }),
      }),
    )
    await write(test.database, [
      ...['read', 'unread', 'sent'].map((id) => repos.row({ id, name: `acme/${id}`, url: id === 'sent' ? '' : 'x' })),
      ...['read', 'unread', 'sent'].map((row_id) =>
        projectMapping.row({ project_name: 'partial', table: 'repos', row_id }),
      ),
      ...['partial', 'unread'].map((project_name) =>
        projectMapping.row({ project_name, table: 'cicd_scopes', row_id: 'scope' }),
      ),
      projectMapping.row({ project_name: 'unread', table: 'repos', row_id: 'unread' }),
      ...[3, 4].map((index) => projectPrMetrics.row({ id: `pr${index}`, project_name: 'unread' })),
      repoCommits.row({ repo_id: 'read', commit_sha: 'c1' }),
      ...pulls,
      ...calculated,
    ])
    const blueprint_id = await insertRow(kysely, blueprints, {
      name: 'partial-Blueprint',
      project_name: 'partial',
      mode: 'NORMAL',
      enable: true,
      is_manual: true,
    })
    const finished = { finished_at: at(1), blueprint_id }
    const pipeline_id = await insertRow(kysely, pipelines, { name: 'partial', status: 'TASK_PARTIAL', ...finished })
    const message = 'acme/unread: https://host/acme/unread.git refused the credentials: create new ones'
    for (const [column, status] of ['TASK_COMPLETED', 'TASK_FAILED'].entries()) {
      const place = { pipeline_id, pipeline_row: 1, pipeline_col: column + 1 }
      await insertRow(kysely, tasks, { ...place, status, message: status === 'TASK_FAILED' ? message : '' })
    }
    const { output } = await run('--project', 'partial', '--metric', 'change-lead-time')
    // The median of an even number is the lower of the two in the middle.
    expect(output).toMatch(/Change lead time +1 h, 2 of 5 pull requests/)
    expect(output).toContain(
      'Change lead time of 2 of 5 pull requests: no git history for 1 repository (acme/unread), which leaves out 2 of the other 3.',
    )
    // The explanation gives the same reason for the same pull requests. So does the terminal if none counts.
    const filter = { project: 'partial', environment: 'PRODUCTION', policy: DEFAULT_POLICY, from: at(100), to: at(0) }
    const context = { database: test.database, plugins }
    const explained = await measureOne(context, changeLeadTime, filter, true)
    expect(explained.leftOut).toMatchObject([
      { reason: 'no_git_history', count: 2 },
      { reason: 'no_merge_commit', count: 1 },
    ])
    const because =
      'none of the 2 pull requests counts, each for this reason: the git history of its repository is not known, so nothing tells which deployment brought it'
    for (const isExplained of [false, true]) {
      const { noData } = await measureOne(context, changeLeadTime, { ...filter, project: 'unread' }, isExplained)
      expect(noData).toMatchObject({ because })
    }
    expect((await run('--project', 'unread', '--metric', 'change-lead-time')).output).toContain(
      `no data, because ${because}`,
    )
    // The stored message has no full stop at its end.
    const cause = `In run ${pipeline_id}, 1 of 2 tasks failed: ${message}.`
    expect(output).toContain(`${cause} Mend that, then \`npx weir collect partial\``)
    const { output: json } = await run('--project', 'partial', '--metric', 'change-lead-time', '--json')
    const [told] = JSON.parse(json).projects
    expect(told.metrics[0]).toMatchObject({ value: 60, counted: 2, restsOn: '2 of 5 pull requests' })
    expect(told.partial.map(({ kind }: { kind: string }) => kind)).toEqual(['history', 'run'])
    const doctor = await runCli(['doctor'], environment())
    expect(doctor.output).toContain(
      `bad     schedule of partial-Blueprint: started by hand, last run partial. ${cause}`,
    )
  })

  it('says what a ratio divides, and not the sum of both', () => {
    const explained = { value: 0.4, counted: 14, total: 14, inWords: '40 %', grades: [], leftOut: [] }
    const filter = {
      project: 'shop',
      environment: 'PRODUCTION',
      from: new Date(0),
      to: new Date(1),
      policy: DEFAULT_POLICY,
    }
    expect(restsOn(serviceChangeFailureRate, filter, explained)).toBe('4 incidents for 10 deployments')
    const pairing = { ...filter, policy: { ...DEFAULT_POLICY, pairing: 'service-report' as const } }
    expect(restsOn(changeFailureRate, pairing, explained)).toBe('4 incidents for 10 deployments')
    expect(restsOn(changeFailureRate, filter, explained)).toBe('14 deployments')
  })

  it('unknown names are answered with the nearest', async () => {
    expect(await run('--project', 'shpo')).toMatchObject({
      code: 1,
      errors: expect.stringMatching(/^weir: There is no project shpo; did you mean shop\? There are: (\w+, )+\w+\.\n$/),
    })
    const { code, errors } = await run('--metric', 'change-failure-rat')
    expect(code).toBe(1)
    expect(errors).toMatch(/^weir: There is no metric change-failure-rat; did you mean change-failure-rate/)
  })
})
