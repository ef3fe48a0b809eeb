import { databaseId, nodeId } from '../world/ids.ts'
import type { Deployment, DeploymentStatus, Job, Release, WorkflowRun } from '../world/records.ts'
import type { Repository } from '../world/repository.ts'
import { person, personOrGhost, type Shaping } from './shape-people.ts'
import { minimalRepository, pageUrl, repositoryUrl } from './shape-repository.ts'

export function run(on: Shaping, repository: Repository, each: WorkflowRun) {
  const root = repositoryUrl(on, repository)
  const url = `${root}/actions/runs/${each.id}`
  const suite = databaseId('checkSuite', repository.ordinal, each.index)
  const workflow = databaseId('workflow', repository.ordinal, each.workflow)
  const home = minimalRepository(on, repository, repository.settings.private, false)
  const author = { name: each.actor, email: `${each.actor}@example.com` }
  return {
    id: each.id,
    name: each.name,
    node_id: each.nodeId,
    head_branch: each.headBranch,
    head_sha: each.headSha,
    path: `.github/workflows/${each.workflow}.yml`,
    display_title: each.title,
    run_number: each.runNumber,
    event: each.event,
    status: each.status,
    conclusion: each.conclusion,
    workflow_id: workflow,
    check_suite_id: suite,
    check_suite_node_id: nodeId('checkSuite', suite),
    url,
    html_url: `${pageUrl(repository)}/actions/runs/${each.id}`,
    pull_requests: [],
    created_at: each.createdAt,
    updated_at: each.updatedAt,
    actor: person(on, each.actor),
    run_attempt: each.attempt,
    referenced_workflows: [],
    run_started_at: each.startedAt,
    triggering_actor: person(on, each.actor),
    jobs_url: `${url}/jobs`,
    logs_url: `${url}/logs`,
    check_suite_url: `${root}/check-suites/${suite}`,
    artifacts_url: `${url}/artifacts`,
    cancel_url: `${url}/cancel`,
    rerun_url: `${url}/rerun`,
    previous_attempt_url: each.attempt > 1 ? `${url}/attempts/${each.attempt - 1}` : null,
    workflow_url: `${root}/actions/workflows/${workflow}`,
    head_commit: {
      id: each.headSha,
      tree_id: each.headSha,
      message: `Commit of run ${each.runNumber}`,
      timestamp: each.createdAt,
      author,
      committer: author,
    },
    repository: home,
    head_repository: home,
  }
}

export const STEPS = ['Set up job', 'Run']

export function job(on: Shaping, repository: Repository, each: Job) {
  const root = repositoryUrl(on, repository)
  const parent = repository.runs.get(each.runIndex)!
  return {
    id: each.id,
    run_id: parent.id,
    workflow_name: parent.name,
    head_branch: parent.headBranch,
    run_url: `${root}/actions/runs/${parent.id}`,
    run_attempt: parent.attempt,
    node_id: each.nodeId,
    head_sha: parent.headSha,
    url: `${root}/actions/jobs/${each.id}`,
    html_url: `${pageUrl(repository)}/actions/runs/${parent.id}/job/${each.id}`,
    status: each.status,
    conclusion: each.conclusion,
    created_at: each.createdAt,
    started_at: each.startedAt,
    completed_at: each.completedAt,
    name: each.name,
    steps: STEPS.map((name, ordinal) => ({
      name,
      status: each.status === 'queued' ? 'queued' : each.status,
      conclusion: each.conclusion,
      number: ordinal + 1,
      started_at: each.startedAt,
      completed_at: each.completedAt,
    })),
    check_run_url: `${root}/check-runs/${each.id}`,
    labels: ['ubuntu-latest'],
    runner_id: 1,
    runner_name: 'runner-1',
    runner_group_id: 2,
    runner_group_name: 'GitHub Actions',
  }
}

export function deployment(on: Shaping, repository: Repository, each: Deployment) {
  const root = repositoryUrl(on, repository)
  const url = `${root}/deployments/${each.id}`
  return {
    url,
    id: each.id,
    node_id: each.nodeId,
    task: each.task,
    original_environment: each.environment,
    environment: each.environment,
    description: each.description,
    created_at: each.createdAt,
    updated_at: each.updatedAt,
    statuses_url: `${url}/statuses`,
    repository_url: root,
    creator: person(on, each.creator),
    sha: each.sha,
    ref: each.ref,
    payload: {},
    transient_environment: false,
    production_environment: each.environment === 'production',
    performed_via_github_app: null,
  }
}

export function deploymentStatus(on: Shaping, repository: Repository, each: DeploymentStatus) {
  const root = repositoryUrl(on, repository)
  const parent = repository.deployments.get(each.deploymentIndex)!
  const deploymentUrl = `${root}/deployments/${parent.id}`
  return {
    url: `${deploymentUrl}/statuses/${each.id}`,
    id: each.id,
    node_id: each.nodeId,
    state: each.state,
    creator: person(on, each.creator),
    description: '',
    environment: parent.environment,
    target_url: each.logUrl ?? 'https://example.com/target',
    ...(each.logUrl !== undefined && { log_url: each.logUrl }),
    created_at: each.createdAt,
    updated_at: each.updatedAt,
    deployment_url: deploymentUrl,
    repository_url: root,
    performed_via_github_app: null,
  }
}

export function release(on: Shaping & { readonly wantsHtml?: boolean }, repository: Repository, each: Release) {
  const root = repositoryUrl(on, repository)
  const url = `${root}/releases/${each.id}`
  return {
    url,
    assets_url: `${url}/assets`,
    upload_url: `${url}/assets{?name,label}`,
    html_url: `${pageUrl(repository)}/releases/tag/${each.tag}`,
    id: each.id,
    author: personOrGhost(on, each.author),
    node_id: each.nodeId,
    tag_name: each.tag,
    target_commitish: 'main',
    name: each.name,
    draft: each.isDraft,
    immutable: false,
    prerelease: each.isPrerelease,
    created_at: each.createdAt,
    updated_at: each.updatedAt,
    published_at: each.publishedAt,
    assets: [],
    tarball_url: each.isDraft ? null : `${root}/tarball/${each.tag}`,
    zipball_url: each.isDraft ? null : `${root}/zipball/${each.tag}`,
    body: each.body,
    ...(on.wantsHtml && { body_html: htmlOf(each.body), body_text: each.body ?? '' }),
  }
}
export const htmlOf = (text: string | null): string => (text === null ? '' : `<p>${text}</p>`)

export const latestRelease = (releases: Iterable<Release>): Release | undefined =>
  [...releases].filter((each) => !each.isDraft && !each.isPrerelease).at(-1)

export function tag(on: Shaping, repository: Repository, each: Release) {
  const root = repositoryUrl(on, repository)
  return {
    name: each.tag,
    zipball_url: `${root}/zipball/refs/tags/${each.tag}`,
    tarball_url: `${root}/tarball/refs/tags/${each.tag}`,
    commit: { sha: each.sha, url: `${root}/commits/${each.sha}` },
    node_id: `REF_${each.nodeId}`,
  }
}
