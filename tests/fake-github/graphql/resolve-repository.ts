import type { Collection, Selection } from '../world/collection.ts'
import { repositoryId } from '../world/generate-changes.ts'
import { timestamp } from '../world/ground.ts'
import type { Issue, Item, PullRequest } from '../world/records.ts'
import type { Repository } from '../world/repository.ts'
import { connection, type PageArguments } from './connection.ts'
import {
  type Context,
  nodeOf,
  nodeOrNull,
  ownerNode,
  pullState,
  type Resolvers,
  repositoryNode,
  requirePermission,
  unresolved,
} from './nodes.ts'

interface OrderArguments extends PageArguments {
  readonly orderBy?: { readonly field: string; readonly direction: 'ASC' | 'DESC' } | null
}

/** Returns a connection over one of the repository's collections, sorted as requested. */
function sorted<T extends Item>(
  repository: Repository,
  type: string,
  collection: Collection<T>,
  args: OrderArguments,
  filter: { name: string; where?: Selection<T>['where'] } = { name: '' },
) {
  const field = args.orderBy?.field ?? 'CREATED_AT'
  const direction = args.orderBy?.direction === 'DESC' ? 'desc' : 'asc'
  const key = { CREATED_AT: (each: T) => each.createdAt, UPDATED_AT: (each: T) => each.updatedAt }[field]
  if (key === undefined) throw new Error(`the fake GitHub does not order ${type} by ${field}`)
  const places = collection.select({
    name: `graphql ${field} ${direction} ${filter.name}`,
    key,
    direction,
    where: filter.where,
  })
  return connection(args, places, direction, (index) => nodeOf(type, repository, collection.get(index)!))
}

function issues(repository: Repository, args: any, context: Context) {
  requirePermission(context, 'issues')
  const states: readonly string[] | undefined = args.states ?? args.filterBy?.states ?? undefined
  const since = args.filterBy?.since == null ? '' : timestamp(Math.ceil(Date.parse(args.filterBy.since) / 1000) * 1000)
  const labels: readonly string[] = args.labels ?? args.filterBy?.labels ?? []
  return sorted(repository, 'Issue', repository.issues, args, {
    name: JSON.stringify([states, since, labels]),
    where: (each: Issue) =>
      (states === undefined || states.includes(each.state.toUpperCase())) &&
      each.updatedAt >= since &&
      (labels.length === 0 || labels.some((name) => each.labels.includes(name))),
  })
}

function pullRequests(repository: Repository, args: any, context: Context) {
  requirePermission(context, 'pull_requests')
  const states: readonly string[] | undefined = args.states ?? undefined
  return sorted(repository, 'PullRequest', repository.pullRequests, args, {
    name: JSON.stringify([states, args.baseRefName]),
    where: (each: PullRequest) =>
      (states === undefined || states.includes(pullState(each))) &&
      (args.baseRefName == null || each.baseRef === args.baseRefName),
  })
}

const ticket = (repository: Repository, number: number, kinds: string) => {
  const issue = kinds.includes('Issue') ? repository.issues.get(number) : undefined
  const pull = kinds.includes('PullRequest') ? repository.pullRequests.get(number) : undefined
  if (issue === undefined && pull === undefined)
    throw unresolved(`${kinds === 'PullRequest' ? 'a PullRequest' : 'an Issue'} with the number of ${number}.`)
  return issue === undefined ? nodeOf('PullRequest', repository, pull!) : nodeOf('Issue', repository, issue)
}

export const repositoryResolvers: Resolvers<Repository> = {
  id: ({ record }) => record.nodeId,
  databaseId: ({ record }) => repositoryId(record.ordinal),
  nameWithOwner: ({ record }) => `${record.owner}/${record.name}`,
  owner: ({ record }, _, context) => ownerNode(record.owner, context),
  url: ({ record }) => `https://github.com/${record.owner}/${record.name}`,
  sshUrl: ({ record }) => `git@github.com:${record.owner}/${record.name}.git`,
  description: ({ record }) => `The repository ${record.owner}/${record.name}`,
  isPrivate: ({ record }) => record.settings.private,
  visibility: ({ record }) => (record.settings.private ? 'PRIVATE' : 'PUBLIC'),
  isFork: ({ record }) => record.settings.parent !== null,
  isEmpty: ({ record }) => record.settings.commits === 0,
  isDisabled: () => false,
  isInOrganization: ({ record }, _, { world }) => world.people.organisation(record.owner) !== undefined,
  hasIssuesEnabled: ({ record }) => record.hasIssues,
  archivedAt: ({ record }) => (record.isArchived ? record.updatedAt : null),
  primaryLanguage: ({ record }) =>
    record.settings.commits === 0 ? null : { id: 'L_1', name: 'TypeScript', color: null },
  parent: ({ record }, _, { world }) => {
    const parent = record.settings.parent === null ? undefined : world.find(record.settings.parent)
    return parent === undefined ? null : repositoryNode(parent)
  },
  defaultBranchRef: ({ record }) => (record.settings.commits === 0 ? null : { name: 'main', prefix: 'refs/heads/' }),
  issues: ({ record }, args, context) => issues(record, args, context),
  pullRequests: ({ record }, args, context) => pullRequests(record, args, context),
  issue: ({ record }, { number }, context) => {
    requirePermission(context, 'issues')
    return ticket(record, number, 'Issue')
  },
  pullRequest: ({ record }, { number }, context) => {
    requirePermission(context, 'pull_requests')
    return ticket(record, number, 'PullRequest')
  },
  issueOrPullRequest: ({ record }, { number }) => ticket(record, number, 'Issue or PullRequest'),
  labels: ({ record }, args) => sorted(record, 'Label', record.labels, args),
  milestones: ({ record }, args) =>
    sorted(record, 'Milestone', record.milestones, args, {
      name: JSON.stringify(args.states),
      where: (each) => args.states == null || args.states.includes(each.state.toUpperCase()),
    }),
  milestone: ({ record }, { number }) => nodeOrNull('Milestone', record, record.milestones.get(number)),
  deployments: ({ record }, args, context) => {
    requirePermission(context, 'deployments')
    return sorted(record, 'Deployment', record.deployments, args, {
      name: JSON.stringify(args.environments),
      where: (each) => args.environments == null || args.environments.includes(each.environment),
    })
  },
  releases: ({ record }, args, context) => {
    requirePermission(context, 'contents')
    return sorted(record, 'Release', record.releases, args)
  },
  release: ({ record }, { tagName }) =>
    nodeOrNull(
      'Release',
      record,
      [...record.releases].find((each) => each.tag === tagName),
    ),
  object: ({ record }, { oid, expression }) => nodeOrNull('Commit', record, record.commit(oid ?? expression ?? '')),
}
