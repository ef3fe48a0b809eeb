import { bigint, indexed, key, string, timestamp } from '../../../database/table.ts'
import { classify } from '../../../domain/classify.ts'
import { cicdTasks } from '../../../domain/devops.ts'
import { DELIVERY_FIELDS, leftJoin } from '../../../plugin-kit/index.ts'
import { braced, entity, inRepo, pages, RESULT, repoId, repos, STATUS, table, values } from '../kit.ts'
import { pipelines } from './pipelines.ts'

/** A step does not contain its branch. So the tool row is classified by the name only, and the domain row joins the pipeline to use its branch. */
const byName = ({ name }: { readonly name?: string | null }) => ({ names: [name ?? ''], isJob: true })

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
  type: string((step, { scopeConfig }) => scopeConfig.deliveryOf(byName(step)).type),
  environment: string((step, { scopeConfig }) => scopeConfig.deliveryOf(byName(step)).environment),
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
  extract: { dependsOn: DELIVERY_FIELDS },
  convert: {
    to: [cicdTasks],
    joins: { pipeline: leftJoin(pipelines, { connection_id: 'connection_id', bitbucket_id: 'pipeline_id' }) },
    *rows({ pipeline, ...step }, { idOf, scopeConfig }) {
      if (!step.started_on) return
      const { type, environment } = scopeConfig.deliveryOf({ ...byName(step), branches: [pipeline?.ref_name] })
      yield cicdTasks.row({
        id: idOf(steps, step.bitbucket_id),
        name: step.name,
        pipeline_id: idOf(pipelines, step.pipeline_id),
        result: classify(step.result, RESULT, ''),
        status: classify(step.state, STATUS, 'OTHER'),
        original_result: step.result,
        original_status: step.state,
        type,
        environment,
        duration_sec: step.duration_in_seconds,
        created_date: step.started_on,
        started_date: step.started_on,
        finished_date: step.completed_on,
        cicd_scope_id: idOf(repos, step.repo_id),
      })
    },
  },
})
