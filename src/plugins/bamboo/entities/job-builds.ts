import type { RawRecord } from '../../../database/table.ts'
import { bigint, indexed, key, string, text, timestamp } from '../../../database/table.ts'
import { classify } from '../../../domain/classify.ts'
import { cicdTasks } from '../../../domain/devops.ts'
import {
  entity,
  madeAt,
  plans,
  RESULT,
  type RulesContext,
  resultColumns,
  resultList,
  resultPages,
  resultRecords,
  STATUS,
  table,
  UNFINISHED,
} from '../kit.ts'
import { jobs } from './jobs.ts'
import { planBuilds } from './plan-builds.ts'

const nameOf = ({ plan, planName }: RawRecord): string => plan?.shortName ?? planName ?? ''

const deliveryOf = (build: RawRecord, { scopeConfig }: RulesContext) =>
  scopeConfig.deliveryOf({ names: [nameOf(build)], isJob: true })

export const jobBuilds = table('job_builds', 'BambooJobBuild', {
  job_build_key: key(string(191, 'key')),
  ...resultColumns,
  // Builds of jobs have no numbers of their own, because a job is built together with its plan.
  plan_build_key: indexed(string(191, ({ number }, { scope }) => `${scope.plan_key}-${number}`)),
  job_name: indexed(string(191, nameOf)),
  job_key: indexed(string(191, ({ plan }, { input }) => input?.JobKey ?? plan?.key)),
  plan_name: indexed(string(191, (_build, { input }) => input?.PlanName)),
  plan_key: indexed(string(191, (_build, { scope }) => scope.plan_key)),
  project_name: indexed(string(191, 'projectName')),
  project_key: indexed(string(191, () => '')), // DevLake leaves it empty
  queue_started_time: timestamp('queueStartedTime'),
  queue_duration: bigint('queueDuration'),
  queue_duration_in_seconds: bigint('queueDurationInSeconds'),
  type: string((build, context) => deliveryOf(build, context).type),
  environment: string((build, context) => deliveryOf(build, context).environment),
  job_result_key: text('planResultKey.key'),
})

export default entity(jobBuilds, {
  label: 'Job Build',
  names: { collect: 'CollectJobBuild', extract: 'ExtractJobBuild', convert: 'convertJobBuilds' },
  domainTypes: ['CICD'],
  raw: 'bamboo_api_job_builds',
  collect: {
    forEach: {
      table: jobs,
      input: ({ job_key, plan_key, plan_name }) => ({ JobKey: job_key, PlanKey: plan_key, PlanName: plan_name }),
      key: ({ JobKey }) => JobKey,
    },
    request: ({ input }) => resultList(input.JobKey),
    paging: resultPages,
    records: resultRecords,
    key: ({ key }) => key,
    incremental: {
      numbered: { of: ({ number, buildStartedTime }) => ({ number, made: madeAt(buildStartedTime) }) },
      refetch: {
        where: { life_cycle_state: UNFINISHED },
        request: ({ job_build_key }) => ({ path: `result/${encodeURIComponent(job_build_key)}.json` }),
        within: ({ job_key, plan_key, plan_name }) => ({ JobKey: job_key, PlanKey: plan_key, PlanName: plan_name }),
      },
    },
    emptyOn: [404], // deleted since it was listed
  },
  extract: { dependsOn: ['deploymentPattern', 'productionPattern'] },
  convert: {
    to: [cicdTasks],
    *rows(build, { idOf, scope }) {
      if (!build.build_started_time) return
      yield cicdTasks.row({
        id: idOf(jobBuilds, build.job_build_key),
        pipeline_id: idOf(planBuilds, build.plan_build_key),
        name: build.job_name,
        result: classify(build.build_state, RESULT, ''),
        status: classify(build.life_cycle_state, STATUS, 'OTHER'),
        original_result: build.build_state,
        original_status: build.life_cycle_state,
        type: build.type,
        environment: build.environment,
        duration_sec: build.build_duration / 1000,
        queued_duration_sec: build.queue_duration / 1000,
        created_date: build.build_started_time,
        queued_date: build.queue_started_time,
        started_date: build.build_started_time,
        finished_date: build.build_completed_date,
        cicd_scope_id: idOf(plans, scope.plan_key),
      })
    },
  },
})
