/** Columns with ids of a tool, as DevLake writes them, join no row, but Weir's queries still find the rows. */
import { beforeAll, expect, it } from 'vitest'
import { write } from '../../src/database/write.ts'
import { repos } from '../../src/domain/code.ts'
import { cicdPipelineCommits, cicdPipelines, cicdTasks } from '../../src/domain/devops.ts'
import { findingsOf } from '../../src/metrics/findings/findings.ts'
import { metricNamed } from '../../src/metrics/index.ts'
import { REFERENCE } from '../../src/metrics/policy/policy.ts'
import { previewRules } from '../../src/metrics/preview/preview.ts'
import { describeEachWithTables } from '../support/databases.ts'
import { calculate } from './calculate.ts'
import { map } from './workbench.ts'

const DAY = new Date('2026-05-01T00:00:00Z')
const filterOf = (project: string) => ({
  project,
  environment: 'PRODUCTION',
  policy: REFERENCE,
  from: new Date('2026-04-01'),
  to: new Date('2026-06-01'),
})
const SLUG = 'circleci:CircleciProject:1:github/acme/web'
const AZURE = 'azuredevops_go:AzuredevopsRepo:1:21b58161'
const JENKINS = 'jenkins:JenkinsJob:1:deploy'
const ADDRESS = 'https://github.com/acme/web'

const run = (id: string, scope: string, type: string, commit: { repo_id: string; repo_url: string }) => [
  cicdPipelines.row({
    id,
    name: 'release',
    cicd_scope_id: scope,
    type,
    environment: type && 'PRODUCTION',
    result: 'SUCCESS',
    status: 'DONE',
    created_date: DAY,
    started_date: DAY,
    finished_date: DAY,
  }),
  cicdPipelineCommits.row({ pipeline_id: id, commit_sha: 'c1', ...commit }),
]

describeEachWithTables('ids of tools in domain rows', (test) => {
  beforeAll(async () => {
    await write(test.database, [
      map('jobs', 'cicd_scopes', SLUG),
      map('shop', 'cicd_scopes', AZURE),
      map('shop', 'cicd_scopes', JENKINS),
      map('shop', 'cicd_scopes', 'circle'),
      repos.row({ id: AZURE, name: 'azure', url: 'https://dev.azure.com/acme/_git/web' }),
      repos.row({ id: 'github:GithubRepo:1:7', name: 'acme/web', url: ADDRESS }),
      ...run('building', SLUG, '', { repo_id: ADDRESS, repo_url: ADDRESS }),
      cicdTasks.row({
        id: 'job',
        name: 'roll out',
        pipeline_id: 'building',
        result: 'SUCCESS',
        cicd_scope_id: 'circleci:CircleciProject:1:b3a1-7c', // not the slug
      }),
      ...run('of azure', AZURE, 'DEPLOYMENT', { repo_id: '21b58161', repo_url: 'https://elsewhere' }),
      ...run('of circleci', 'circle', 'DEPLOYMENT', { repo_id: ADDRESS, repo_url: ADDRESS }),
      ...run('of jenkins', JENKINS, 'DEPLOYMENT', { repo_id: '', repo_url: ADDRESS }),
      ...run('of nobody', JENKINS, 'DEPLOYMENT', { repo_id: '17', repo_url: 'fake://17' }),
    ])
  })

  it('jobs are found by their run, whatever scope they name', async () => {
    const [finding] = await findingsOf(test.database, metricNamed('deployment-frequency'), filterOf('jobs'))
    expect(finding?.seen).toMatch(/with jobs .*roll out/)
    const how = { signal: AbortSignal.timeout(60_000), inForce: new Map() }
    const preview = await previewRules(test.database, filterOf('jobs'), { deploymentPattern: 'roll' }, how)
    expect(JSON.stringify(preview)).toContain('"name":"roll out"')
  })

  it('deployments know their repository', async () => {
    await calculate(test.database, 'shop')
    const query = test.database.kysely.selectFrom('cicd_deployment_commits').select(['cicd_deployment_id', 'repo_id'])
    expect(await query.orderBy('cicd_deployment_id').execute()).toEqual([
      { cicd_deployment_id: 'of azure', repo_id: AZURE },
      { cicd_deployment_id: 'of circleci', repo_id: 'github:GithubRepo:1:7' },
      { cicd_deployment_id: 'of jenkins', repo_id: 'github:GithubRepo:1:7' },
      { cicd_deployment_id: 'of nobody', repo_id: '17' },
    ])
  })
})
