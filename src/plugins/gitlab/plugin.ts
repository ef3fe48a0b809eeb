import { codeHostRules, definePlugin } from '../../plugin-kit/index.ts'
import { checkConnection, ENDPOINT, limits } from './connection.ts'
import { deliveries } from './deliveries.ts'
import accounts from './entities/accounts.ts'
import deployments from './entities/deployments.ts'
import issues, { assignees as issueAssignees, labels as issueLabels } from './entities/issues.ts'
import jobs, { triggerJobs } from './entities/jobs.ts'
import mergeRequestCommits from './entities/merge-request-commits.ts'
import mergeRequestIssues from './entities/merge-request-issues.ts'
import mergeRequests, {
  assigneesEntity,
  details as mergeRequestDetails,
  labels as mergeRequestLabels,
  reviewersEntity,
} from './entities/merge-requests.ts'
import notes, { commentsEntity } from './entities/notes.ts'
import people from './entities/people.ts'
import pipelines, {
  childPipelines,
  externalPipelines,
  commits as pipelineCommits,
  details as pipelineDetails,
} from './entities/pipelines.ts'
import projectEntity from './entities/projects.ts'
import releases, { latestRelease } from './entities/releases.ts'
import tags from './entities/tags.ts'
import { projects } from './kit.ts'
import { collectProject } from './project.ts'
import { referred } from './referred.ts'
import { remoteScopes } from './remote-scopes.ts'
import { ruleNames, ruleSamples } from './rule-names.ts'
import { connectionFields, RIGHTS, scopeConfigFields } from './settings.ts'

export const gitlab = definePlugin({
  name: 'gitlab',
  title: 'GitLab',
  about: 'Projects with their merge requests, issues, pipelines, jobs, deployments and releases.',
  spelling: 'title',
  connection: { endpoint: ENDPOINT, rights: RIGHTS, fields: connectionFields, limits, check: checkConnection },
  scope: {
    table: projects,
    title: 'Project',
    titleColumn: 'path_with_namespace',
    options: { projectId: 'gitlab_id', fullName: 'path_with_namespace' },
    params: (connectionId, { gitlab_id }) => ({ ConnectionId: connectionId, ProjectId: gitlab_id }),
    remote: remoteScopes,
    check: ({ gitlab_id }) => ({ path: `/projects/${gitlab_id}` }),
  },
  scopeConfig: { fields: scopeConfigFields, prepare: codeHostRules, names: ruleNames, samples: ruleSamples },
  plan: { cloneUrl: ({ http_url_to_repo, web_url }) => http_url_to_repo || `${web_url}.git` },
  deliveries,
  referred,
  extra: { first: [collectProject], last: [] },
  formerRaws: ['gitlab_api_commit', 'gitlab_api_project'],
  entities: [
    projectEntity,
    accounts,
    issues,
    issueLabels,
    issueAssignees,
    mergeRequests,
    mergeRequestDetails,
    mergeRequestLabels,
    assigneesEntity,
    reviewersEntity,
    notes,
    commentsEntity,
    mergeRequestCommits,
    mergeRequestIssues,
    pipelines,
    childPipelines,
    externalPipelines,
    pipelineCommits,
    pipelineDetails,
    jobs,
    triggerJobs,
    deployments,
    releases,
    latestRelease,
    tags,
    people,
  ],
})
