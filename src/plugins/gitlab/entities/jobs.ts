import type { RawRecord } from '../../../database/table.ts'
import { bigint, boolean, double, indexed, key, string, timestamp } from '../../../database/table.ts'
import { classify } from '../../../domain/classify.ts'
import { cicdTasks } from '../../../domain/devops.ts'
import { DELIVERY_FIELDS } from '../../../plugin-kit/index.ts'
import { entity, inProject, JOB_STATUS, PAGE, type Project, projectIdColumn, projects, RESULT, table } from '../kit.ts'
import { forEachPipeline, pipelines } from './pipelines.ts'

export const jobs = table('jobs', 'GitlabJob', {
  gitlab_id: key(bigint('id')),
  project_id: projectIdColumn(),
  pipeline_id: indexed(bigint('pipeline.id')),
  status: string(),
  stage: string(),
  name: string(),
  ref: string(),
  tag: boolean(),
  allow_failure: boolean(),
  duration: double(),
  web_url: string(),
  queued_duration: double(),
  gitlab_created_at: timestamp('created_at'),
  started_at: timestamp(),
  finished_at: timestamp(),
})

/**
 * Requests jobs for each pipeline. The project's list of jobs is ordered by creation, and a job may start or end long after that.
 * When a job starts or ends, its pipeline is marked as changed.
 */
const collect = (kind: 'jobs' | 'bridges', query: Record<string, unknown>) => ({
  forEach: forEachPipeline,
  request: ({ scope, input }: { scope: Project; input: RawRecord }) => ({
    path: inProject(scope, `pipelines/${input.GitlabId}/${kind}`),
    query: { 'scope[]': ['failed', 'success'], ...query } as never,
  }),
  paging: PAGE,
  emptyOn: [404], // deleted since
})

export default entity(jobs, {
  label: 'Job Runs',
  domainTypes: ['CICD'],
  raw: 'gitlab_api_job',
  collect: collect('jobs', { include_retried: true }),
  convert: {
    to: [cicdTasks],
    replaces: ['gitlab_api_job', 'gitlab_api_trigger_job'],
    dependsOn: DELIVERY_FIELDS,
    rows: (job, { idOf, scopeConfig }) => [
      cicdTasks.row({
        id: idOf(jobs, job.gitlab_id),
        name: job.name,
        pipeline_id: idOf(pipelines, job.pipeline_id),
        result: classify(job.status, RESULT, ''),
        status: classify(job.status, JOB_STATUS, 'OTHER'),
        original_status: job.status,
        ...scopeConfig.deliveryOf({ names: [job.name], branches: [job.ref], isJob: true }),
        duration_sec: job.duration,
        queued_duration_sec: job.queued_duration,
        created_date: job.gitlab_created_at,
        started_date: job.started_at,
        finished_date: job.finished_at,
        cicd_scope_id: idOf(projects, job.project_id),
      }),
    ],
  },
})

/** Jobs that only start a pipeline, here or in another project. Off by default, as they cost one request for each pipeline. */
export const triggerJobs = entity(jobs, {
  label: 'Trigger Jobs',
  domainTypes: ['CICD'],
  off: ['collect'],
  raw: 'gitlab_api_trigger_job',
  collect: collect('bridges', {}),
})
