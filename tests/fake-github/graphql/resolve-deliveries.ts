import { htmlOf, latestRelease, STEPS } from '../rest/shape-deliveries.ts'
import { databaseId, nodeId } from '../world/ids.ts'
import type { Deployment, DeploymentStatus, Job, Release, WorkflowRun } from '../world/records.ts'
import type { Repository } from '../world/repository.ts'
import { childConnection, plainConnection } from './connection.ts'
import {
  actor,
  type Node,
  nodeOf,
  nodeOrNull,
  type Resolvers,
  repositoryNode,
  requirePermission,
  userNode,
} from './nodes.ts'

const upper = (text: string | null): string | null => text?.toUpperCase() ?? null

const suiteId = ({ record, repository }: Node<WorkflowRun>): number =>
  databaseId('checkSuite', repository.ordinal, record.index)
const runUrl = ({ record, repository }: Node<WorkflowRun>): string =>
  `https://github.com/${repository.owner}/${repository.name}/actions/runs/${record.id}`

/** The check suite of a workflow run. Its record is the run. */
export const checkSuiteResolvers: Resolvers<WorkflowRun> = {
  id: (node) => nodeId('checkSuite', suiteId(node)),
  databaseId: suiteId,
  repository: ({ repository }) => repositoryNode(repository),
  status: ({ record }) => upper(record.status),
  conclusion: ({ record }) => upper(record.conclusion),
  url: runUrl,
  workflowRun: ({ record, repository }) => nodeOf('WorkflowRun', repository, record),
  commit: ({ record, repository }) => nodeOrNull('Commit', repository, repository.commit(record.headSha)),
  checkRuns: ({ record, repository }, args, context) => {
    requirePermission(context, 'checks', 'actions')
    // Here no check is run twice, so every check run is the latest.
    if (args.filterBy != null && JSON.stringify(args.filterBy) !== '{"checkType":"LATEST"}')
      throw new Error('the fake GitHub does not filter check runs')
    return childConnection(args, repository.jobs.childrenOf(record.index), (each) =>
      nodeOf('CheckRun', repository, each),
    )
  },
}

export const workflowRunResolvers: Resolvers<WorkflowRun> = {
  id: ({ record }) => record.nodeId,
  databaseId: ({ record }) => record.id,
  url: runUrl,
  checkSuite: ({ record, repository }) => nodeOf('CheckSuite', repository, record),
}

export const checkRunResolvers: Resolvers<Job> = {
  id: ({ record }) => record.nodeId,
  databaseId: ({ record }) => record.id,
  status: ({ record }) => upper(record.status),
  conclusion: ({ record }) => upper(record.conclusion),
  repository: ({ repository }) => repositoryNode(repository),
  checkSuite: ({ record, repository }) => nodeOf('CheckSuite', repository, repository.runs.get(record.runIndex)!),
  detailsUrl: jobUrl,
  url: jobUrl,
  permalink: jobUrl,
  steps: ({ record }, args) =>
    plainConnection(
      args,
      STEPS.map((name, ordinal) => ({ name, number: ordinal + 1 })),
      (step) => ({
        ...step,
        status: upper(record.status),
        conclusion: upper(record.conclusion),
        startedAt: record.startedAt,
        completedAt: record.completedAt,
        secondsToCompletion: null,
      }),
    ),
}
function jobUrl({ record, repository }: Node<Job>): string {
  const run = repository.runs.get(record.runIndex)!
  return `https://github.com/${repository.owner}/${repository.name}/actions/runs/${run.id}/job/${record.id}`
}

export const deploymentResolvers: Resolvers<Deployment> = {
  id: ({ record }) => record.nodeId,
  databaseId: ({ record }) => record.id,
  repository: ({ repository }) => repositoryNode(repository),
  commitOid: ({ record }) => record.sha,
  commit: ({ record, repository }) => nodeOrNull('Commit', repository, repository.commit(record.sha)),
  originalEnvironment: ({ record }) => record.environment,
  latestEnvironment: ({ record }) => record.environment,
  payload: () => null,
  creator: ({ record }, _, context) => actor(context, record.creator),
  // Null if the branch or tag no longer exists.
  ref: ({ record, repository }) =>
    refExists(repository, record.ref) ? { name: record.ref, prefix: 'refs/heads/', id: `REF_${record.ref}` } : null,
  state: (node) => {
    const latest = statusesOf(node)[0]
    // GitHub calls a deployment active if its last status is success.
    return latest === undefined ? 'PENDING' : latest.state === 'success' ? 'ACTIVE' : upper(latest.state)
  },
  latestStatus: (node) => nodeOrNull('DeploymentStatus', node.repository, statusesOf(node)[0]),
  statuses: (node, args) =>
    childConnection(args, statusesOf(node), (each) => nodeOf('DeploymentStatus', node.repository, each), 'desc'),
}
const refExists = ({ releases }: Repository, name: string): boolean =>
  name === 'main' || name === 'release' || [...releases].some(({ tag, isDraft }) => tag === name && !isDraft)
/** Newest first. */
const statusesOf = ({ record, repository }: Node<Deployment>): DeploymentStatus[] =>
  repository.statuses.childrenOf(record.index).reverse()

export const deploymentStatusResolvers: Resolvers<DeploymentStatus> = {
  id: ({ record }) => record.nodeId,
  state: ({ record }) => upper(record.state),
  description: () => null,
  environmentUrl: () => null,
  logUrl: ({ record }) => record.logUrl ?? null,
  creator: ({ record }, _, context) => actor(context, record.creator),
  deployment: ({ record, repository }) =>
    nodeOf('Deployment', repository, repository.deployments.get(record.deploymentIndex)!),
}

export const releaseResolvers: Resolvers<Release> = {
  id: ({ record }) => record.nodeId,
  databaseId: ({ record }) => record.id,
  repository: ({ repository }) => repositoryNode(repository),
  tagName: ({ record }) => record.tag,
  description: ({ record }) => record.body,
  descriptionHTML: ({ record }) => htmlOf(record.body),
  isLatest: ({ record, repository }) => record.index === latestRelease(repository.releases)?.index,
  author: ({ record }, _, context) => userNode(context, record.author),
  tagCommit: ({ record, repository }) =>
    record.isDraft ? null : nodeOrNull('Commit', repository, repository.commit(record.sha)),
  url: ({ record, repository }) =>
    `https://github.com/${repository.owner}/${repository.name}/releases/tag/${record.tag}`,
  resourcePath: ({ record, repository }) => `/${repository.owner}/${repository.name}/releases/tag/${record.tag}`,
}
