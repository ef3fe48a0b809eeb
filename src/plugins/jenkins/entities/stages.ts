import type { RawRecord } from '../../../database/table.ts'
import { bigint, indexed, key, string } from '../../../database/table.ts'
import { classify } from '../../../domain/classify.ts'
import { cicdTasks } from '../../../domain/devops.ts'
import { innerJoin, manyByKey } from '../../../plugin-kit/index.ts'
import { entity, jobOf, jobPath, jobs, table } from '../kit.ts'
import { RULES_OF_RUNS } from '../rules.ts'
import { branchesOf, buildCommits, builds } from './builds.ts'

export const stages = table('stages', 'JenkinsStage', {
  id: key(string()),
  build_name: key(string((_stage: unknown, { input }: RawRecord) => input.FullName)),
  name: string(),
  exec_node: string('execNode'),
  status: string(),
  start_time_millis: bigint('startTimeMillis'),
  duration_millis: bigint('durationMillis'),
  pause_duration_millis: bigint('pauseDurationMillis'),
  type: indexed(string(() => '')),
})

const STATUS = { DONE: ['SUCCESS'] }

export default entity(stages, {
  label: 'Api Stages',
  names: { convert: 'convertStages' },
  domainTypes: ['CICD'],
  raw: 'jenkins_api_stages',
  collect: {
    forEach: {
      table: builds,
      only: (build) => build.class.endsWith('WorkflowRun'),
      input: ({ number, full_name }) => ({ Number: String(number), FullName: full_name }),
      changedBy: 'start_time',
      again: { where: { building: true } },
    },
    // https://plugins.jenkins.io/pipeline-rest-api/
    request: ({ input }) => ({ path: `${jobPath(jobOf(input.FullName))}${input.Number}/wfapi/describe` }),
    records: ({ stages }) => stages,
    emptyOn: [404], // deleted since it was listed, or the plugin for stages is not installed
  },
  convert: {
    to: [cicdTasks],
    joins: { build: innerJoin(builds, { connection_id: 'connection_id', full_name: 'build_name' }) },
    isIncremental: true,
    dependsOn: RULES_OF_RUNS,
    lookups: { commits: manyByKey(buildCommits, 'build_name', ({ build_name }) => build_name) },
    rows({ build, ...stage }, { idOf, scope, scopeConfig, lookups }) {
      const branches = branchesOf(stage.build_name, scope, lookups.commits.get(stage.build_name))
      const { start_time_millis: start, duration_millis: duration } = stage
      const started = scopeConfig.startOf(start)
      return [
        cicdTasks.row({
          id: idOf(stages, stage.build_name, stage.id),
          pipeline_id: idOf(builds, stage.build_name),
          name: stage.name,
          result: stage.status === 'NOT_EXECUTED' ? '' : scopeConfig.resultOf(build.result),
          status: classify(stage.status, STATUS, 'OTHER'),
          original_result: build.result,
          original_status: stage.status,
          ...scopeConfig.deliveryOf({ names: [stage.name], branches, isJob: true }),
          duration_sec: Math.max(0, Math.trunc(duration / 1000)),
          created_date: started,
          started_date: started,
          finished_date: start > 0 ? new Date(start + duration) : null,
          cicd_scope_id: idOf(jobs, scope.full_name),
        }),
      ]
    },
  },
})
