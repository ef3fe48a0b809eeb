/**
 * One rollout that each source reports twice: raw records of the deployment that the tool records, and of the pipeline run
 * that rules treat as a deployment.
 */
import type { AnyValue } from '../../src/database/table.ts'
import type { Plugin } from '../../src/plugin-kit/spec/plugin.ts'
import { argocd } from '../../src/plugins/argocd/plugin.ts'
import { azuredevops } from '../../src/plugins/azuredevops-go/plugin.ts'
import { bamboo } from '../../src/plugins/bamboo/plugin.ts'
import { bitbucket } from '../../src/plugins/bitbucket/plugin.ts'
import { circleci } from '../../src/plugins/circleci/plugin.ts'
import { githubGraphql } from '../../src/plugins/github/graphql-plugin.ts'
import { github } from '../../src/plugins/github/plugin.ts'
import { gitlab } from '../../src/plugins/gitlab/plugin.ts'
import { jenkins } from '../../src/plugins/jenkins/plugin.ts'

export const SHA = 'a'.repeat(40)
const at = (minute: number) => `2024-03-04T10:${String(minute).padStart(2, '0')}:00Z`
const time = (minute: number) => Date.parse(at(minute))

type Values = Readonly<Record<string, AnyValue>>
interface Raw {
  readonly record: Values | readonly Values[]
  readonly input?: Values
}
export interface Told {
  readonly plugin: Plugin
  readonly scope: Values
  readonly options: Values
  readonly scopeConfig: Values
  readonly raw: Readonly<Record<string, readonly Raw[]>>
}
/** A message to a webhook connection. */
export type Message = Values

export interface SeenTwice {
  readonly name: string
  readonly told: readonly Told[]
  readonly message?: Message
  /** The reason why the other row belongs to the rollout. */
  readonly reason: 'run' | 'commit'
  /** The kind of the row that represents the rollout. */
  readonly kind: 'deployment' | 'run'
}

const REPO = 'https://code.example/acme/web'
const githubRepo = {
  plugin: github,
  scope: { github_id: 7, name: 'web', full_name: 'acme/web', html_url: REPO },
  options: { name: 'acme/web' },
  scopeConfig: { deploymentPattern: 'deploy', envNamePattern: 'prod' },
}
const workflowRun = {
  id: 51,
  name: 'deploy',
  head_branch: 'main',
  head_sha: SHA,
  status: 'completed',
  conclusion: 'success',
  html_url: `${REPO}/actions/runs/51`,
  created_at: at(0),
  run_started_at: at(0),
  updated_at: at(9),
}
const LOG = `${REPO}/actions/runs/51/job/3`
const githubDeployment = {
  id: 90,
  node_id: 'DE_90',
  sha: SHA,
  ref: 'main',
  environment: 'production',
  created_at: at(2),
  updated_at: at(6),
}
const githubStatuses = (log: string): Raw => ({
  record: [{ state: 'success', updated_at: at(6), log_url: log, target_url: log }],
  input: { Id: 'DE_90', DatabaseId: 90 },
})
const graphqlDeployment = {
  id: 'DE_90',
  databaseId: 90,
  commitOid: SHA,
  environment: 'production',
  state: 'ACTIVE',
  createdAt: at(2),
  updatedAt: at(6),
  ref: { name: 'main' },
  repository: { id: 'R_7', name: 'web', url: REPO },
  latestStatus: { state: 'SUCCESS', updatedAt: at(6), logUrl: LOG },
  statuses: { nodes: [{ state: 'SUCCESS', updatedAt: at(6), logUrl: LOG }] },
}

const gitlabPipeline = { id: 61, ref: 'main', sha: SHA, created_at: at(0), updated_at: at(9), source: 'push' }
const gitlabJob = {
  id: 62,
  name: 'deploy',
  ref: 'main',
  stage: 'deploy',
  status: 'success',
  created_at: at(0),
  started_at: at(2),
  finished_at: at(6),
  duration: 240,
  pipeline: { id: 61, ref: 'main', sha: SHA },
}
const gitlabProject = {
  plugin: gitlab,
  scope: { gitlab_id: 8, name: 'web', path_with_namespace: 'acme/web', web_url: REPO },
  options: { projectId: 8 },
}
const gitlabRaw = {
  gitlab_api_deployments: [
    {
      record: {
        id: 63,
        iid: 1,
        ref: 'main',
        sha: SHA,
        status: 'success',
        created_at: at(2),
        updated_at: at(6),
        environment: { id: 1, name: 'production' },
        deployable: { ...gitlabJob, commit: { id: SHA, title: 'Work', message: 'Work' } },
      },
    },
  ],
  gitlab_api_pipeline: [{ record: gitlabPipeline }],
  gitlab_api_pipeline_details: [
    {
      record: { ...gitlabPipeline, status: 'success', started_at: at(0), finished_at: at(9), duration: 540 },
      input: { GitlabId: 61 },
    },
  ],
}

const azureRepo = {
  plugin: azuredevops,
  scope: { id: 'r1', organization_id: 'acme', project_id: 'shop', name: 'web', url: REPO, type: 'TfsGit' },
  options: { repositoryId: 'r1', organizationId: 'acme', projectId: 'shop' },
  scopeConfig: { deploymentPattern: 'release', productionPattern: 'release', envNamePattern: 'prod' },
}
const azureBuild = {
  id: 71,
  status: 'completed',
  result: 'succeeded',
  sourceBranch: 'refs/heads/main',
  sourceVersion: SHA,
  definition: { name: 'release web' },
  tags: [],
  queueTime: at(0),
  startTime: at(0),
  finishTime: at(5),
}

const bitbucketPipeline = {
  uuid: '{p1}',
  build_number: 4,
  created_on: at(0),
  completed_on: at(9),
  duration_in_seconds: 540,
  state: { name: 'COMPLETED', result: { name: 'SUCCESSFUL' } },
  target: { ref_name: 'main', commit: { hash: SHA } },
}
const bitbucketDeployment = (environment: string) => ({
  type: 'deployment',
  uuid: '{d1}',
  environment: { uuid: '{e1}', name: environment },
  state: { name: 'COMPLETED', status: { name: 'SUCCESSFUL' }, started_on: at(2), completed_on: at(6) },
  release: {
    name: '#4',
    pipeline: { uuid: '{p1}' },
    created_on: at(2),
    url: `${REPO}/d/1`,
    commit: { hash: SHA.slice(0, 12) },
  },
})
const bitbucketRepo = (environment: string): Told => ({
  plugin: bitbucket,
  scope: { bitbucket_id: 'acme/web', name: 'web', html_url: REPO },
  options: { fullName: 'acme/web' },
  scopeConfig: { deploymentPattern: 'main' },
  raw: {
    bitbucket_api_pipelines: [{ record: bitbucketPipeline }],
    bitbucket_api_deployments: [{ record: bitbucketDeployment(environment) }],
  },
})

const jenkinsJob: Told = {
  plugin: jenkins,
  scope: { full_name: 'web', name: 'web', path: '' },
  options: { fullName: 'web' },
  scopeConfig: { deploymentPattern: 'web' },
  raw: {
    jenkins_api_builds: [
      {
        record: {
          _class: 'hudson.model.FreeStyleBuild',
          number: 3,
          timestamp: time(0),
          duration: 360_000,
          result: 'SUCCESS',
          building: false,
          fullDisplayName: 'web #3',
          actions: [{ lastBuiltRevision: { SHA1: SHA, branch: [{ name: 'main' }] }, remoteUrls: [`${REPO}.git`] }],
        },
        input: { Name: 'web', Path: '', FullName: 'web' },
      },
    ],
  },
}
const circleciProject: Told = {
  plugin: circleci,
  scope: { id: 'p1', slug: 'github/acme/web', name: 'web' },
  options: { projectSlug: 'github/acme/web' },
  scopeConfig: { deploymentPattern: 'deploy' },
  raw: {
    circleci_api_pipelines: [
      {
        record: {
          id: 'pipe-1',
          number: 12,
          state: 'created',
          created_at: at(0),
          updated_at: at(0),
          vcs: { branch: 'main', revision: SHA, origin_repository_url: REPO, commit: { subject: 'Work' } },
        },
      },
    ],
    circleci_api_workflows: [
      {
        record: {
          id: 'flow-1',
          pipeline_id: 'pipe-1',
          name: 'deploy',
          status: 'success',
          created_at: at(0),
          stopped_at: at(6),
        },
        input: { id: 'pipe-1' },
      },
    ],
  },
}
const message: Message = {
  id: 'rollout 1',
  startedDate: at(4),
  finishedDate: at(7),
  deploymentCommits: [{ repoUrl: `${REPO}/`, commitSha: SHA, startedDate: at(4), finishedDate: at(7) }],
}

export const SEEN_TWICE: readonly SeenTwice[] = [
  {
    name: 'GitHub over REST',
    reason: 'run',
    kind: 'deployment',
    told: [
      {
        ...githubRepo,
        raw: {
          github_api_deployments: [{ record: githubDeployment }],
          github_api_deployment_statuses: [githubStatuses(LOG)],
          github_api_runs: [{ record: workflowRun }],
        },
      },
    ],
  },
  {
    name: 'GitHub over GraphQL',
    reason: 'run',
    kind: 'deployment',
    told: [
      {
        ...githubRepo,
        plugin: githubGraphql,
        raw: {
          github_graphql_deployment: [{ record: graphqlDeployment }],
          github_api_runs: [{ record: workflowRun }],
        },
      },
    ],
  },
  {
    name: 'GitHub, whose deployment another tool made',
    reason: 'commit',
    kind: 'deployment',
    told: [
      {
        ...githubRepo,
        raw: {
          github_api_deployments: [{ record: githubDeployment }],
          github_api_deployment_statuses: [githubStatuses('https://ci.example/9')],
          github_api_runs: [{ record: workflowRun }],
        },
      },
    ],
  },
  {
    name: 'GitLab, a pipeline',
    reason: 'run',
    kind: 'deployment',
    told: [
      {
        ...gitlabProject,
        scopeConfig: { deploymentPattern: 'main', productionPattern: 'main', envNamePattern: 'prod' },
        raw: gitlabRaw,
      },
    ],
  },
  {
    name: 'GitLab, a job',
    reason: 'run',
    kind: 'deployment',
    told: [
      {
        ...gitlabProject,
        scopeConfig: { deploymentPattern: 'deploy', envNamePattern: 'prod' },
        raw: { ...gitlabRaw, gitlab_api_job: [{ record: gitlabJob, input: { GitlabId: 61 } }] },
      },
    ],
  },
  { name: 'Bitbucket', reason: 'run', kind: 'deployment', told: [bitbucketRepo('Production')] },
  {
    name: 'Azure DevOps, an environment',
    reason: 'run',
    kind: 'deployment',
    told: [
      {
        ...azureRepo,
        raw: {
          azuredevops_go_api_builds: [{ record: azureBuild }],
          azuredevops_go_api_environments: [{ record: { id: 5, name: 'production' } }],
          azuredevops_go_api_environment_deployments: [
            {
              record: {
                id: 72,
                owner: { id: 71 },
                definition: { name: 'release web' },
                stageName: 'deploy',
                result: 'succeeded',
                queueTime: at(2),
                startTime: at(2),
                finishTime: at(4),
              },
              input: { EnvironmentId: 5 },
            },
          ],
        },
      },
    ],
  },
  {
    name: 'Azure DevOps, a release',
    reason: 'run',
    kind: 'deployment',
    told: [
      {
        ...azureRepo,
        raw: {
          azuredevops_go_api_builds: [{ record: azureBuild }],
          azuredevops_go_api_release_deployments: [
            {
              record: {
                id: 73,
                deploymentStatus: 'succeeded',
                queuedOn: at(40),
                startedOn: at(40),
                completedOn: at(44),
                releaseEnvironment: { name: 'production' },
                releaseDefinition: { name: 'web' },
                release: {
                  id: 1,
                  name: 'Release-1',
                  artifacts: [
                    {
                      type: 'Build',
                      definitionReference: {
                        repository: { id: 'r1' },
                        version: { id: '71' },
                        sourceVersion: { id: SHA },
                        branch: { id: 'refs/heads/main' },
                      },
                    },
                  ],
                },
              },
            },
          ],
        },
      },
    ],
  },
  {
    name: 'Bamboo',
    reason: 'run',
    kind: 'deployment',
    told: [
      {
        plugin: bamboo,
        scope: { plan_key: 'SHOP-WEB', name: 'Web' },
        options: { planKey: 'SHOP-WEB' },
        scopeConfig: { deploymentPattern: 'Web', productionPattern: 'Web', envNamePattern: 'prod' },
        raw: {
          bamboo_api_plan_builds: [
            {
              record: {
                key: 'SHOP-WEB-3',
                number: 3,
                planName: 'Web',
                projectName: 'Shop',
                planResultKey: { key: 'SHOP-WEB-3' },
                buildStartedTime: at(0),
                buildCompletedDate: at(5),
                buildDurationInSeconds: 300,
                buildState: 'Successful',
                lifeCycleState: 'Finished',
                vcsRevisions: { vcsRevision: [{ vcsRevisionKey: SHA, repositoryId: 4, repositoryName: 'web' }] },
              },
            },
          ],
          bamboo_api_deploy_builds: [
            {
              record: {
                id: 81,
                deploymentVersionName: 'release-3',
                deploymentState: 'SUCCESS',
                lifeCycleState: 'FINISHED',
                deploymentVersion: { planBranchName: 'main', items: [{ planResultKey: { key: 'SHOP-WEB-3' } }] },
                startedDate: time(6),
                queuedDate: time(6),
                executedDate: time(6),
                finishedDate: time(8),
              },
              input: { env_id: 9, name: 'production' },
            },
          ],
        },
      },
    ],
  },
  {
    name: 'Argo CD, which follows the repository of a workflow run',
    reason: 'commit',
    kind: 'deployment',
    told: [
      { ...githubRepo, raw: { github_api_runs: [{ record: workflowRun }] } },
      {
        plugin: argocd,
        scope: { name: 'web', project: 'prod', repo_url: `${REPO}.git`, dest_name: 'prod-eu', dest_namespace: 'web' },
        options: { applicationName: 'web' },
        scopeConfig: { envNamePattern: '^prod' },
        raw: {
          argocd_api_sync_operations: [
            {
              record: {
                id: 1,
                revision: SHA,
                deployStartedAt: at(10),
                deployedAt: at(12),
                source: { repoURL: `${REPO}.git`, path: 'deploy', targetRevision: 'main' },
              },
            },
          ],
        },
      },
    ],
  },
  { name: 'a webhook and Jenkins', reason: 'commit', kind: 'deployment', told: [jenkinsJob], message },
  { name: 'a webhook and CircleCI', reason: 'commit', kind: 'deployment', told: [circleciProject], message },
]

/** The tool reports that the run deployed elsewhere, although no rule says so. */
export const WENT_ELSEWHERE: Told = bitbucketRepo('Staging')
