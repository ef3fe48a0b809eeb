import { bigint, boolean, double, key, optional, string, text, timestamp } from '../../../database/table.ts'
import { classify } from '../../../domain/classify.ts'
import { cicdPipelineCommits, cicdPipelines } from '../../../domain/devops.ts'
import { DELIVERY_FIELDS } from '../../../plugin-kit/index.ts'
import {
  BY_CHANGE,
  changedSince,
  entity,
  inProject,
  PAGE,
  PIPELINE_STATUS,
  projectId,
  projectIdColumn,
  projects,
  RESULT,
  type RulesContext,
  table,
  UNFINISHED,
} from '../kit.ts'

const EXTERNAL_RAW = 'gitlab_api_external_pipeline'
const LIST_RAW = ['gitlab_api_pipeline', 'gitlab_api_child_pipeline', EXTERNAL_RAW]
/** As in DevLake, all patterns are matched against the branch or tag, because pipelines have no names. */
const deliveryOf = ({ ref }: { readonly ref?: string | null }, { scopeConfig }: RulesContext) =>
  scopeConfig.deliveryOf({ names: [ref ?? ''], branches: [ref], isProductionNamed: true })
const CHILD = 'parent_pipeline'

/** The data of pipelines in lists. */
export const pipelineProjects = table('pipeline_projects', 'GitlabPipelineProject', {
  pipeline_id: key(bigint('id')),
  project_id: key(bigint(projectId)),
  ref: string(),
  web_url: text(),
  sha: string(),
  gitlab_created_at: timestamp('created_at'),
  gitlab_updated_at: timestamp('updated_at'),
  source: text(),
})
export const pipelines = table('pipelines', 'GitlabPipeline', {
  gitlab_id: key(bigint('id')),
  project_id: projectIdColumn(),
  status: string(100),
  ref: string(),
  sha: string(),
  web_url: string(),
  duration: bigint(),
  queued_duration: optional(double()),
  gitlab_created_at: timestamp('created_at'),
  gitlab_updated_at: timestamp('updated_at'),
  started_at: timestamp(),
  finished_at: timestamp(),
  coverage: text(),
  type: string((pipeline, context) => deliveryOf(pipeline, context).type),
  environment: string((pipeline, context) => deliveryOf(pipeline, context).environment),
  is_detail_required: boolean(() => false),
  source: text(),
})

/** Requests for each pipeline that has changed, or that may have changed without a new time of change. */
export const forEachPipeline = {
  table: pipelineProjects,
  input: ({ pipeline_id }: { pipeline_id: number }) => ({ GitlabId: pipeline_id }),
  changedBy: 'gitlab_updated_at',
  again: {
    having: {
      table: pipelines,
      by: { connection_id: 'connection_id', gitlab_id: 'pipeline_id' },
      where: { status: UNFINISHED },
    },
  },
}

export default entity(pipelineProjects, {
  label: 'Pipelines',
  domainTypes: ['CICD'],
  raw: 'gitlab_api_pipeline',
  collect: {
    request: ({ scope }) => ({ path: inProject(scope, 'pipelines'), query: BY_CHANGE }),
    paging: PAGE,
    incremental: { filterBy: changedSince },
  },
})

/** GitLab lists pipelines that another pipeline started only if this source is requested. */
export const childPipelines = entity(pipelineProjects, {
  label: 'Child Pipelines',
  domainTypes: ['CICD'],
  raw: 'gitlab_api_child_pipeline',
  collect: {
    request: ({ scope }) => ({ path: inProject(scope, 'pipelines'), query: { source: CHILD, ...BY_CHANGE } }),
    paging: PAGE,
    incremental: { filterBy: changedSince },
  },
})

/**
 * Pipelines that another tool reported to GitLab. Some have no time of change, so that a filter by it would leave them out. They
 * are requested without that filter, the newest first. When the tool reports further jobs, their time of change may stay the
 * same.
 */
export const externalPipelines = entity(pipelineProjects, {
  label: 'External Pipelines',
  domainTypes: ['CICD'],
  raw: EXTERNAL_RAW,
  collect: {
    request: ({ scope }) => ({
      path: inProject(scope, 'pipelines'),
      query: { source: 'external', order_by: 'id', sort: 'desc' },
    }),
    paging: PAGE,
    incremental: { newestFirstBy: 'created_at', lookBack: { days: 7, changedBy: 'updated_at' } },
  },
})

export const details = entity(pipelines, {
  label: 'Pipeline Details',
  names: { convert: 'Convert Detail Pipelines' },
  domainTypes: ['CICD'],
  raw: 'gitlab_api_pipeline_details',
  collect: {
    forEach: forEachPipeline,
    request: ({ scope, input }) => ({ path: inProject(scope, `pipelines/${input.GitlabId}`) }),
    records: (pipeline) => [pipeline],
    emptyOn: [404], // deleted since
  },
  extract: { dependsOn: DELIVERY_FIELDS },
  convert: {
    to: [cicdPipelines],
    rows: (pipeline, { idOf }) => {
      const id = idOf(pipelines, pipeline.gitlab_id)
      return [
        cicdPipelines.row({
          id,
          name: id, // as in DevLake
          display_title: pipeline.ref,
          url: pipeline.web_url,
          result: classify(pipeline.status, RESULT, ''),
          status: classify(pipeline.status, PIPELINE_STATUS, 'OTHER'),
          original_status: pipeline.status,
          original_result: pipeline.status,
          type: pipeline.type,
          environment: pipeline.environment,
          duration_sec: pipeline.duration,
          queued_duration_sec: pipeline.queued_duration,
          created_date: pipeline.gitlab_created_at,
          started_date: pipeline.started_at,
          finished_date: pipeline.finished_at,
          cicd_scope_id: idOf(projects, pipeline.project_id),
          is_child: pipeline.source === CHILD,
        }),
      ]
    },
  },
})

export const commits = entity(pipelineProjects, {
  label: 'Pipeline Commits',
  domainTypes: ['CICD'],
  convert: {
    to: [cicdPipelineCommits],
    replaces: LIST_RAW,
    rows: ({ pipeline_id, project_id, sha, ref, web_url }, { idOf, scope }) => [
      cicdPipelineCommits.row({
        pipeline_id: idOf(pipelines, pipeline_id),
        commit_sha: sha,
        display_title: ref,
        url: web_url,
        branch: ref,
        repo_id: idOf(projects, project_id),
        repo_url: scope.web_url,
      }),
    ],
  },
})
