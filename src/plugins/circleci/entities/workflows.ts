import { bigint, double, key, string, timestamp } from '../../../database/table.ts'
import { classify } from '../../../domain/classify.ts'
import { cicdPipelineCommits, cicdPipelines } from '../../../domain/devops.ts'
import { leftJoin } from '../../../plugin-kit/index.ts'
import { entity, items, pageToken, projects, RESULT, STATUS, secondsFrom, slug, table, UNFINISHED } from '../kit.ts'
import { pipelines } from './pipelines.ts'

export const workflows = table('workflows', 'CircleciWorkflow', {
  id: key(string(100)),
  project_slug: slug(),
  pipeline_id: string(100),
  canceled_by: string(100),
  name: string(),
  errored_by: string(100),
  tag: string(100),
  status: string(100),
  started_by: string(100),
  pipeline_number: bigint(),
  created_date: timestamp('created_at'),
  stopped_at: timestamp(),
  duration_sec: double((workflow) => secondsFrom(workflow.created_at, workflow.stopped_at)),
})

/** If a workflow is started or run again more than this time after its pipeline, only a full sync finds it. */
const LOOK_BACK = 7 * 24 * 60 * 60 * 1000

export default entity(workflows, {
  label: 'Workflows',
  domainTypes: ['CICD'],
  raw: 'circleci_api_workflows',
  collect: {
    forEach: {
      table: pipelines,
      input: ({ id }) => ({ id }),
      changedBy: 'created_date',
      // A pipeline does not change when a workflow is started later or run again.
      again: {
        within: LOOK_BACK,
        having: {
          table: workflows,
          by: { connection_id: 'connection_id', pipeline_id: 'id' },
          where: { status: UNFINISHED },
        },
      },
    },
    request: ({ input }) => ({ path: `/v2/pipeline/${input.id}/workflow` }),
    paging: pageToken,
    records: items,
    emptyOn: [404], // CircleCI deletes old workflows
  },
  convert: {
    to: [cicdPipelines, cicdPipelineCommits],
    joins: { pipeline: leftJoin(pipelines, { connection_id: 'connection_id', id: 'pipeline_id' }) },
    *rows({ pipeline, ...workflow }, { idOf, scope, scopeConfig }) {
      if (!workflow.created_date) return
      const id = idOf(workflows, workflow.id)
      const { revision, branch, tag, commit, origin_repository_url } = JSON.parse(pipeline?.vcs || '{}')
      yield cicdPipelines.row({
        id,
        name: workflow.name,
        display_title: `${workflow.name}#${workflow.pipeline_number}`,
        result: classify(workflow.status, RESULT, ''),
        status: classify(workflow.status, STATUS, 'OTHER'),
        original_status: workflow.status,
        ...scopeConfig.deliveryOf({ names: [workflow.name], branches: [branch || tag] }),
        duration_sec: workflow.duration_sec,
        created_date: workflow.created_date,
        started_date: workflow.created_date,
        finished_date: workflow.stopped_at,
        cicd_scope_id: idOf(projects, scope.slug),
      })
      if (!revision) return
      yield cicdPipelineCommits.row({
        pipeline_id: id,
        commit_sha: revision,
        commit_msg: commit.subject,
        branch,
        repo_id: origin_repository_url,
        repo_url: origin_repository_url,
      })
    },
  },
})
