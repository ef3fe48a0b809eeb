import { indexed, key, string, text } from '../../../database/table.ts'
import { entity, inPages, table } from '../kit.ts'

export const jobs = table('jobs', 'BambooJob', {
  job_key: key(string(191, 'searchEntity.key')),
  id: text(),
  name: text('searchEntity.jobName'),
  plan_key: text((_job, { scope }) => scope.plan_key),
  plan_name: text('searchEntity.planName'),
  project_key: indexed(string(191, () => '')), // DevLake leaves it empty
  project_name: text('searchEntity.projectName'),
  description: text('searchEntity.description'),
  branch_name: text('searchEntity.branchName'),
  stage_name: text(() => ''), // DevLake leaves it empty
  type: text(),
})

export default entity(jobs, {
  label: 'Job',
  names: { collect: 'CollectJob', extract: 'ExtractJob' },
  domainTypes: ['CICD'],
  raw: 'bamboo_api_jobs',
  collect: {
    request: ({ scope }) => ({
      path: `search/jobs/${encodeURIComponent(scope.plan_key)}.json`,
      query: { showEmpty: true, expand: 'jobs.job' },
    }),
    paging: inPages(({ size }) => size),
    records: ({ searchResults }) => searchResults,
  },
})
