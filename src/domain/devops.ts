/** Pipelines, their tasks, and deployments. */
import {
  boolean,
  calculated,
  common,
  defineTable,
  double,
  indexed,
  key,
  optional,
  required,
  string,
  text,
  timestamp,
  zeroTime,
} from '../database/table.ts'

/** The outcome of a run, in Weir's words and in those of the tool. */
const outcome = {
  result: string(100),
  status: string(100),
  original_status: string(100),
  original_result: string(100),
}

const moments = {
  created_date: zeroTime(timestamp()),
  queued_date: timestamp(),
  started_date: timestamp(),
  finished_date: timestamp(),
}

/** Columns of a deployment, as a whole and as one repository sees it. */
const deployment = {
  display_title: text(),
  url: text(),
  ...outcome,
  environment: string(),
  original_environment: string(),
  ...moments,
  duration_sec: optional(double()),
  queued_duration_sec: optional(double()),
  subtask_name: string(),
}

export const cicdScopes = defineTable(
  'cicd_scopes',
  {
    id: key(string()),
    name: string(),
    description: text(),
    url: string(),
    created_date: timestamp(),
    updated_date: timestamp(),
    ...common,
  },
  { meaning: 'Anything that runs pipelines: a repository, a job, a plan, an application.' },
)

export const cicdPipelines = defineTable(
  'cicd_pipelines',
  {
    id: key(string()),
    name: text(),
    display_title: text(),
    url: text(),
    ...outcome,
    type: string(100),
    duration_sec: double(),
    queued_duration_sec: optional(double()),
    environment: string(),
    ...moments,
    cicd_scope_id: indexed(text()),
    is_child: boolean(),
    ...common,
  },
  { meaning: 'One run of a pipeline.' },
)

export const cicdPipelineCommits = defineTable(
  'cicd_pipeline_commits',
  {
    pipeline_id: key(string()),
    commit_sha: key(string()),
    commit_msg: text(),
    display_title: text(),
    url: text(),
    branch: string(),
    repo_id: indexed(string()),
    repo_url: string(500),
    ...common,
  },
  { meaning: 'The commits that a pipeline ran on.' },
)

export const cicdTasks = defineTable(
  'cicd_tasks',
  {
    id: key(string()),
    name: string(),
    pipeline_id: indexed(string()),
    ...outcome,
    type: string(100),
    environment: string(),
    duration_sec: double(),
    queued_duration_sec: optional(double()),
    ...moments,
    cicd_scope_id: indexed(text()),
    ...common,
  },
  { meaning: 'One job of a pipeline run.' },
)

export const cicdDeployments = defineTable(
  'cicd_deployments',
  {
    id: key(string()),
    cicd_scope_id: indexed(string()),
    name: text(),
    ...deployment,
    ...common,
  },
  { meaning: 'A deployment of one or more repositories.' },
)

export const cicdDeploymentCommits = defineTable(
  'cicd_deployment_commits',
  {
    id: key(string()),
    commit_sha: key(string()),
    cicd_scope_id: indexed(string()),
    cicd_deployment_id: indexed(string()),
    name: string(),
    ...deployment,
    commit_msg: text(),
    ref_name: string(),
    repo_id: string(),
    repo_url: required(indexed(string(500))),
    prev_success_deployment_commit_id: calculated(string()),
    ...common,
  },
  { meaning: 'A deployment of one repository: the deployed commit, and the successful deployment before it.' },
)

export const cicdReleases = defineTable(
  'cicd_releases',
  {
    id: key(string()),
    published_at: zeroTime(timestamp()),
    cicd_scope_id: indexed(string()),
    name: string(),
    display_title: string(),
    description: text(),
    url: text(),
    is_draft: boolean(),
    is_latest: boolean(),
    is_prerelease: boolean(),
    author_id: string(),
    repo_id: string(),
    tag_name: text(),
    // DevLake declares this unique, but two releases of one commit are usual.
    commit_sha: indexed(text()),
    ...common,
  },
  { meaning: 'A published release.' },
)
