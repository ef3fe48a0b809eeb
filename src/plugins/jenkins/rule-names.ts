import { branchName } from '../../domain/deliveries.ts'
import type { NameKinds, NameSample } from '../../plugin-kit/index.ts'
import { buildCommits } from './entities/builds.ts'
import { stages } from './entities/stages.ts'
import { jobPath, scopeJobs } from './kit.ts'

const OF_SCOPE = ['_raw_data_params', '_raw_data_params'] as const

export const ruleNames: NameKinds = {
  jobs: { title: 'jobs', table: scopeJobs, column: 'full_name', scope: OF_SCOPE },
  branches: { title: 'branches', table: buildCommits, column: 'branch', nameIn: branchName, scope: OF_SCOPE },
  stages: { title: 'stages', table: stages, column: 'name', scope: OF_SCOPE },
}

export const ruleSamples: readonly NameSample[] = [
  {
    request: ({ full_name }) => ({
      path: `${jobPath(full_name)}api/json`,
      query: { tree: 'fullName,jobs[fullName]{0,50}' },
    }),
    *names({ fullName, jobs = [{ fullName }] }) {
      for (const job of jobs) yield { kind: 'jobs', name: job.fullName, isUncounted: true }
    },
  },
  {
    request: ({ full_name }) => ({ path: `${jobPath(full_name)}lastBuild/wfapi/describe` }),
    *names({ stages = [] }) {
      for (const { name } of stages) yield { kind: 'stages', name, isUncounted: true }
    },
  },
]
