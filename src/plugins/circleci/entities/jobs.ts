import type { RowOf } from '../../../database/table.ts'
import { bigint, double, key, string, text, timestamp } from '../../../database/table.ts'
import { classify } from '../../../domain/classify.ts'
import { cicdTasks } from '../../../domain/devops.ts'
import { queuedSeconds } from '../../../domain/queued-seconds.ts'
import { leftJoin } from '../../../plugin-kit/index.ts'
import { entity, items, pageToken, projects, RESULT, STATUS, secondsFrom, slug, table, UNFINISHED } from '../kit.ts'
import { pipelines } from './pipelines.ts'
import { workflows } from './workflows.ts'

interface WorkflowContext {
  readonly input: Pick<RowOf<typeof workflows>, 'id' | 'pipeline_id'>
}

export const jobs = table('jobs', 'CircleciJob', {
  workflow_id: key(string(100, (_job, { input }: WorkflowContext) => input.id)),
  id: key(string(100)),
  project_slug: slug(),
  canceled_by: string(100),
  dependencies: text((job) => JSON.stringify(job.dependencies ?? null)),
  job_number: bigint(),
  created_date: timestamp('created_at'),
  queued_at: timestamp(),
  started_at: timestamp(),
  name: string(),
  approved_by: string(100),
  status: string(100),
  type: string(100),
  approval_request_id: string(100),
  stopped_at: timestamp(),
  duration_sec: double((job) => secondsFrom(job.started_at, job.stopped_at)),
  pipeline_id: string(100, (_job, { input }: WorkflowContext) => input.pipeline_id),
  duration: bigint(),
})

const JOB_STATUS = { DONE: [...STATUS.DONE, 'infrastructure_fail', 'timedout', 'terminated-unknown'] }

export default entity(jobs, {
  label: 'Jobs',
  domainTypes: ['CICD'],
  raw: 'circleci_api_jobs',
  collect: {
    forEach: {
      table: workflows,
      input: ({ id, pipeline_id }) => ({ id, pipeline_id }),
      changedBy: 'created_date',
      again: {
        where: { status: UNFINISHED },
        having: {
          table: jobs,
          by: { connection_id: 'connection_id', workflow_id: 'id' },
          where: { status: UNFINISHED },
        },
      },
    },
    request: ({ input }) => ({ path: `/v2/workflow/${input.id}/job` }),
    paging: pageToken,
    records: items,
    emptyOn: [404], // CircleCI deletes old workflows
  },
  convert: {
    to: [cicdTasks],
    joins: { pipeline: leftJoin(pipelines, { connection_id: 'connection_id', id: 'pipeline_id' }) },
    *rows({ pipeline, ...job }, { idOf, scope, scopeConfig }) {
      const { branch, tag } = JSON.parse(pipeline?.vcs || '{}')
      yield cicdTasks.row({
        id: idOf(jobs, job.workflow_id, job.id),
        pipeline_id: idOf(workflows, job.workflow_id),
        name: job.name,
        result: classify(job.status, RESULT, ''),
        status: classify(job.status, JOB_STATUS, 'OTHER'),
        original_status: job.status,
        ...scopeConfig.deliveryOf({ names: [job.name], branches: [branch || tag], isJob: true }),
        duration_sec: job.duration_sec,
        // A job that never started has no date of its own. DevLake uses the current time, so its rows differ from run to run.
        created_date: job.started_at ?? job.created_date ?? job.queued_at,
        queued_date: job.queued_at,
        queued_duration_sec: queuedSeconds(job.queued_at, job.started_at),
        started_date: job.started_at,
        finished_date: job.stopped_at,
        cicd_scope_id: idOf(projects, scope.id), // as in DevLake; pipelines have the slug instead
      })
    },
  },
})
