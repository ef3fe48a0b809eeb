import { bigint, indexed, key, string, timestamp } from '../../../database/table.ts'
import { classify } from '../../../domain/classify.ts'
import { cicdTasks } from '../../../domain/devops.ts'
import { braced, entity, inRepo, pages, RESULT, repoId, repos, STATUS, table, values } from '../kit.ts'
import { pipelines } from './pipelines.ts'

export const steps = table('pipeline_steps', 'BitbucketPipelineStep', {
  bitbucket_id: key(string(191, 'uuid')),
  pipeline_id: string('pipeline.uuid'),
  name: string(),
  trigger: string('trigger.type'),
  state: string('state.name'),
  result: string(({ state }) => state?.result?.name ?? state?.stage?.name),
  repo_id: indexed(string(repoId)),
  max_time: bigint('maxTime'),
  started_on: timestamp(),
  completed_on: timestamp(),
  duration_in_seconds: bigint(),
  build_seconds_used: bigint(),
  run_number: bigint(),
  type: string(({ name }, { scopeConfig }) => scopeConfig.typeOf(name ?? '')),
  environment: string(({ name }, { scopeConfig }) => scopeConfig.environmentOf(name ?? '')),
})

export default entity(steps, {
  label: 'Pipeline Steps',
  domainTypes: ['CICD'],
  raw: 'bitbucket_api_pipeline_steps',
  collect: {
    forEach: {
      table: pipelines,
      input: ({ bitbucket_id }) => ({ BitbucketId: bitbucket_id }),
      changedBy: 'bitbucket_complete_on',
      again: { where: { bitbucket_complete_on: null } },
    },
    request: ({ scope, input }) => ({ path: inRepo(scope, `pipelines/${braced(input.BitbucketId)}/steps/`) }),
    paging: pages(100),
    records: values,
    key: ({ uuid }) => uuid,
    emptyOn: [404], // deleted since
  },
  extract: { dependsOn: ['deploymentPattern', 'productionPattern'] },
  convert: {
    to: [cicdTasks],
    *rows(step, { idOf }) {
      if (!step.started_on) return
      yield cicdTasks.row({
        id: idOf(steps, step.bitbucket_id),
        name: step.name,
        pipeline_id: idOf(pipelines, step.pipeline_id),
        result: classify(step.result, RESULT, ''),
        status: classify(step.state, STATUS, 'OTHER'),
        original_result: step.result,
        original_status: step.state,
        type: step.type,
        environment: step.environment,
        duration_sec: step.duration_in_seconds,
        created_date: step.started_on,
        started_date: step.started_on,
        finished_date: step.completed_on,
        cicd_scope_id: idOf(repos, step.repo_id),
      })
    },
  },
})
