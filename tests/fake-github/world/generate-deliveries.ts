import { type Ground, secondsBetween } from './ground.ts'
import { sha } from './ids.ts'
import type { Deployment, DeploymentStatus, Job, Release, WorkflowRun } from './records.ts'

const WORKFLOWS = ['build', 'deploy to production', 'nightly', 'lint']
const CONCLUSIONS = [
  'success',
  'success',
  'success',
  'success',
  'failure',
  'cancelled',
  'timed_out',
  'skipped',
  'startup_failure',
]

const commitAt = (on: Ground, salt: string, index: number): string =>
  sha(on.luck, 'branch', on.ordinal, on.luck.integer(salt, 1, Math.max(1, on.settings.commits), index))

export function generateRun(on: Ground, index: number): WorkflowRun {
  const workflow = on.luck.integer('workflow', 0, WORKFLOWS.length - 1, index)
  const createdAt = on.moment(index, on.settings.workflowRuns)
  const startedAt = on.later(createdAt, on.luck.integer('run wait', 0, 90, index))
  // The newest few runs are still under way.
  const isDone = index <= on.settings.workflowRuns - 2 || on.settings.workflowRuns < 5
  return {
    ...on.identify('run', index),
    name: WORKFLOWS[workflow]!,
    title: `Run ${index}`,
    runNumber: index,
    workflow: workflow + 1,
    event: on.luck.pick('run event', ['push', 'pull_request', 'schedule'], index),
    status: isDone ? 'completed' : 'in_progress',
    conclusion: isDone ? on.luck.pick('run conclusion', CONCLUSIONS, index) : null,
    headBranch: on.luck.pick('run branch', ['main', 'main', 'release', `feature-${index}`], index),
    headSha: commitAt(on, 'run commit', index),
    actor: on.person('run actor', index),
    attempt: 1,
    startedAt,
    createdAt,
    updatedAt: on.later(startedAt, on.luck.integer('run duration', 30, 3600, index)),
  }
}

export function generateJob(on: Ground, index: number, run: WorkflowRun, ordinal: number): Job {
  const startedAt = on.later(run.startedAt, ordinal * 5)
  const isDone = run.status === 'completed'
  const duration = Math.floor(secondsBetween(run.startedAt, run.updatedAt) / (ordinal + 2))
  return {
    ...on.identify('job', index),
    runIndex: run.index,
    name: `${run.name} / ${['test', 'deploy', 'publish', 'report'][ordinal % 4]} ${ordinal + 1}`,
    status: isDone ? 'completed' : ordinal === 0 ? 'in_progress' : 'queued',
    conclusion: isDone ? on.luck.pick('job conclusion', CONCLUSIONS.slice(0, 8), index) : null,
    startedAt,
    completedAt: isDone ? on.later(startedAt, duration) : null,
    createdAt: run.createdAt,
    updatedAt: isDone ? on.later(startedAt, duration) : startedAt,
  }
}

const DEPLOYMENT_PATHS: readonly (readonly DeploymentStatus['state'][])[] = [
  ['queued', 'in_progress', 'success', 'inactive'],
  ['pending', 'in_progress', 'failure', 'inactive'],
  ['queued', 'success', 'inactive', 'inactive'],
  ['pending', 'error', 'inactive', 'inactive'],
]

export function generateDeployment(on: Ground, index: number, statusCount: number): Deployment {
  const createdAt = on.moment(index, on.settings.deployments)
  return {
    ...on.identify('deployment', index),
    sha: commitAt(on, 'deployment commit', index),
    ref: index % 4 === 0 ? `v0.${index}` : 'main',
    task: 'deploy',
    environment: on.luck.pick('environment', ['production', 'staging', 'Prod-EU', 'preview'], index),
    description: index % 3 === 0 ? null : `Deployment ${index}`,
    creator: on.person('deployer', index),
    createdAt,
    updatedAt: on.later(createdAt, statusCount * 300),
  }
}

export function generateStatus(on: Ground, index: number, deployment: Deployment, ordinal: number): DeploymentStatus {
  const at = on.later(deployment.createdAt, (ordinal + 1) * 300)
  const path = on.luck.pick('deployment path', DEPLOYMENT_PATHS, deployment.index)
  return {
    ...on.identify('deploymentStatus', index),
    deploymentIndex: deployment.index,
    state: path[Math.min(ordinal, path.length - 1)]!,
    creator: deployment.creator,
    createdAt: at,
    updatedAt: at,
  }
}

export function generateRelease(on: Ground, index: number): Release {
  const createdAt = on.moment(index, on.settings.releases)
  const isDraft = index % 6 === 5
  return {
    ...on.identify('release', index),
    tag: `v0.${index}.0`,
    name: index % 5 === 4 ? null : `Release 0.${index}`,
    body: index % 3 === 0 ? null : `Changes of 0.${index}`,
    isDraft,
    isPrerelease: index % 4 === 1,
    publishedAt: isDraft ? null : on.later(createdAt, 600),
    author: index % 5 === 2 ? on.luck.pick('releasing bot', on.people.bots, index) : on.person('releaser', index),
    sha: commitAt(on, 'release commit', index),
    createdAt,
    updatedAt: on.later(createdAt, 900),
  }
}
