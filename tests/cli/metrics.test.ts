/** Numbers in a terminal, and the same for programs. */
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeAll, expect, it } from 'vitest'
import { insertRow } from '../../src/control-plane/store.ts'
import { write } from '../../src/database/write.ts'
import { projectMapping } from '../../src/domain/crossdomain.ts'
import { cicdDeploymentCommits, cicdScopes } from '../../src/domain/devops.ts'
import { prepareDatabase } from '../../src/prepare-database.ts'
import { projects } from '../../src/system/projects.ts'
import { runCli } from '../support/cli.ts'
import { describeEachDatabase } from '../support/databases.ts'

const DAY = 86_400_000
const DAYS = 150

describeEachDatabase('weir metrics', (test) => {
  const dataFolder = mkdtempSync(join(tmpdir(), 'weir-metrics-'))
  const run = (...parameters: string[]) =>
    runCli(['metrics', ...parameters], {
      ...{ DB_URL: test.url, DATA_FOLDER: dataFolder, ENCRYPTION_SECRET: 'a key that is only used in tests' },
      LOGGING_LEVEL: 'silent',
    })

  beforeAll(async () => {
    await prepareDatabase(test.database)
    for (const name of ['shop', 'empty']) await insertRow(test.database.kysely, projects, { name })
    const deployments = Array.from({ length: DAYS }, (_, day) => {
      const finished_date = new Date(Date.now() - day * DAY - 1000)
      const id = `d${day}`
      return cicdDeploymentCommits.row({
        ...{
          id,
          cicd_deployment_id: id,
          cicd_scope_id: 'scope',
          name: id,
          commit_sha: id,
          repo_url: 'https://x.test/r',
        },
        ...{ result: 'SUCCESS', status: 'DONE', environment: 'PRODUCTION', created_date: finished_date, finished_date },
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
    expect(output).toMatch(/^ +Deployment frequency +7 days per week +elite +[▁▂▃▄▅▆▇█]{6,7} /m)
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
    const { output: plain } = await run('--project', 'shop', '--metric', 'change-failure-rate')
    expect(plain).toMatch(/^Change failure rate of shop since/)
  })

  it('unknown names are answered with the nearest', async () => {
    expect(await run('--project', 'shpo')).toMatchObject({
      code: 1,
      errors: expect.stringMatching(/^weir: There is no project shpo; did you mean shop\? There are: \w+, \w+\.\n$/),
    })
    const { code, errors } = await run('--metric', 'change-failure-rat')
    expect(code).toBe(1)
    expect(errors).toMatch(/^weir: There is no metric change-failure-rat; did you mean change-failure-rate/)
  })
})
