/** Ids of domain rows that join no row, by source, with the reason. All other ids must join. */

export interface IdException {
  /** The columns, as `table.column`. */
  readonly columns: readonly string[]
  /** The form of such ids. */
  readonly values: RegExp
  readonly why: string
  /**
   * A conformance case compares the column as it is, so it stays as DevLake writes it. Weir's own queries still find the row,
   * in the way described here.
   */
  readonly readBy?: string
}

const SHARED: Readonly<Record<'parent' | 'run', IdException>> = {
  run: {
    columns: ['_weir_deployment_runs.pipeline_id'],
    values: /./,
    why: 'the run that made the deployment is older than the start date, or is of a pipeline that is not collected',
  },
  parent: {
    columns: ['issues.parent_issue_id'],
    values: /./,
    why: 'the parent was deleted, or is in a project that is not collected',
  },
}

const GITHUB: readonly IdException[] = [
  {
    columns: ['pull_requests.head_repo_id'],
    values: /:[1-9]\d*$/,
    why: 'forks are collected only if they are scopes of their own',
  },
  {
    columns: ['pull_requests.head_repo_id'],
    values: /:0$/,
    why: 'the fork was deleted; a reference case compares the 0',
    readBy: 'nothing reads the head repository',
  },
]

export const ID_EXCEPTIONS: Readonly<Record<string, readonly IdException[]>> = {
  azuredevops_go: [
    SHARED.parent,
    SHARED.run,
    {
      columns: ['cicd_pipeline_commits.repo_id'],
      values: /^[0-9a-f-]{36}$/,
      why: 'the id of Azure DevOps, without source and connection',
      readBy: 'generateDeploymentCommits takes the repository that is the scope of the pipeline',
    },
  ],
  bamboo: [
    SHARED.run,
    {
      columns: ['cicd_deployment_commits.repo_id'],
      values: /^\d+$/,
      why: 'the number that Bamboo gives to a repository',
      readBy: '`repoMap` of the scope config names the repository of each number',
    },
  ],
  bitbucket_server: [
    {
      columns: ['pull_requests.head_repo_id'],
      values: /:[^/]+$/,
      why: 'the name of the repository without its project',
      readBy: 'nothing reads the head repository',
    },
  ],
  circleci: [
    {
      columns: ['cicd_tasks.cicd_scope_id'],
      values: /^circleci:CircleciProject:/,
      why: "the project's id, whereas scopes are known by the slug",
      readBy: 'jobs are found by their pipelines, which name the scope',
    },
    {
      columns: ['cicd_pipeline_commits.repo_id', 'cicd_deployment_commits.repo_id'],
      values: /^https:/,
      why: 'CircleCI tells the address of a repository, not its id',
      readBy: 'generateDeploymentCommits takes the repository with this address, if one was collected',
    },
  ],
  github: GITHUB,
  github_graphql: GITHUB,
  gitlab: [
    {
      columns: ['issues.assignee_id'],
      values: /:0$/,
      why: 'nobody is assigned',
      readBy: 'accountOfAssignee takes 0 for nobody',
    },
  ],
  pagerduty: [
    {
      columns: ['issues.assignee_id'],
      values: /^[^:]+$/,
      why: 'the id of PagerDuty, without source and connection',
      readBy: 'accountOfAssignee finds the account among issue_assignees; incidents have the account',
    },
  ],
  webhook: [
    {
      columns: [
        'pull_requests.author_id',
        'pull_requests.merged_by_id',
        'pull_requests.parent_pr_id',
        'pull_requests.head_repo_id',
        'issues.creator_id',
        'issues.assignee_id',
        'incidents.creator_id',
        'incidents.assignee_id',
        'incident_assignees.assignee_id',
      ],
      values: /./,
      why: 'whoever sends the message names people and forks in words of their own, and nobody tells more of them',
      readBy: 'the names stand beside the ids, and nothing reads forks and parents',
    },
  ],
}
