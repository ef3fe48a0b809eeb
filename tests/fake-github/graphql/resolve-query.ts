import { canSee, searchRepositories } from '../rest/routes-accounts.ts'
import { organisationsOf } from '../rest/shape-people.ts'
import { parseNodeId } from '../world/ids.ts'
import type { Organisation, User } from '../world/records.ts'
import type { Repository } from '../world/repository.ts'
import { plainConnection } from './connection.ts'
import { type Context, nodeOf, type Resolvers, repositoryNode, requireScope, unresolved } from './nodes.ts'

/** The GraphQL type and the collection for each kind of node id. */
const NODE_TYPES = {
  issue: ['Issue', 'issues'],
  pull: ['PullRequest', 'pullRequests'],
  label: ['Label', 'labels'],
  milestone: ['Milestone', 'milestones'],
  comment: ['IssueComment', 'comments'],
  review: ['PullRequestReview', 'reviews'],
  reviewComment: ['PullRequestReviewComment', 'reviewComments'],
  run: ['WorkflowRun', 'runs'],
  checkSuite: ['CheckSuite', 'runs'],
  job: ['CheckRun', 'jobs'],
  deployment: ['Deployment', 'deployments'],
  deploymentStatus: ['DeploymentStatus', 'statuses'],
  release: ['Release', 'releases'],
} as const

function nodeById(id: string, { world, bearer }: Context): unknown {
  const found = world.findNode(id)
  if (found !== undefined && found.kind in NODE_TYPES && canSee({ bearer }, found.repository)) {
    const [type, collection] = NODE_TYPES[found.kind as keyof typeof NODE_TYPES]
    const record = found.repository[collection].get(found.index)
    if (record !== undefined) return nodeOf(type, found.repository, record)
  }
  const { prefix, value } = parseNodeId(id)
  if (prefix === 'R') {
    const repository = world.findById(Number(value))
    if (repository !== undefined && canSee({ bearer }, repository)) return repositoryNode(repository)
  }
  const user = world.people.users.find((each) => each.nodeId === id)
  if (user !== undefined) return { type: user.type, record: user }
  throw unresolved(`a node with the global id of '${id}'`)
}

function repository({ world, bearer }: Context, name: string, followRenames: boolean): unknown {
  const found = world.find(name) ?? (followRenames ? world.findRenamed(name) : undefined)
  if (found === undefined || !canSee({ bearer }, found)) throw unresolved(`a Repository with the name '${name}'.`)
  return repositoryNode(found)
}

export const queryResolvers: Resolvers = {
  repository: (_, { owner, name, followRenames }, context) => repository(context, `${owner}/${name}`, followRenames),
  node: (_, { id }, context) => nodeById(id, context),
  nodes: (_, { ids }, context) =>
    ids.map((id: string) => {
      try {
        return nodeById(id, context)
      } catch (error) {
        return error
      }
    }),
  user: (_, { login }, { world }) => {
    const user = world.people.find(login)
    if (user?.type !== 'User') throw unresolved(`a User with the login of '${login}'.`)
    return { type: 'User', record: user }
  },
  organization: (_, { login }, { world }) => {
    const found = world.people.organisation(login)
    if (found === undefined) throw unresolved(`an Organization with the login of '${login}'.`)
    return { type: 'Organization', record: found }
  },
  viewer: (_, __, { world, bearer }) => ({ type: 'User', record: world.people.find(bearer.login) }),
  search: (_, { query, type, ...page }, context) => {
    if (type !== 'REPOSITORY') throw new Error(`the fake GitHub does not search for ${type}`)
    const found = searchRepositories(context, query)
    return { ...plainConnection(page, found, repositoryNode), repositoryCount: found.length }
  },
  rateLimit: (_, __, { quota, cost }) => ({
    limit: quota.limit,
    remaining: quota.remaining,
    used: quota.used,
    resetAt: new Date(quota.reset * 1000).toISOString().replace('.000', ''),
    cost: cost.points,
    nodeCount: cost.nodes,
  }),
}

export const userResolvers: Resolvers<User> = {
  id: ({ record }) => record.nodeId,
  databaseId: ({ record }) => record.id,
  url: ({ record }) => `https://github.com/${record.login}`,
  avatarUrl: ({ record }) => `https://avatars.githubusercontent.com/u/${record.id}?v=4`,
  updatedAt: ({ record }) => record.createdAt,
  email: ({ record }, _, context) => {
    requireScope(context, 'email', 'user:email', 'read:user', 'user')
    return record.email ?? ''
  },
  organizations: ({ record }, args, context) => {
    requireScope(context, 'organizations', 'read:org', 'admin:org')
    return plainConnection(args, organisationsOf(context.world.people, record), (each) => ({
      type: 'Organization',
      record: each,
    }))
  },
  repositories: ({ record }, args, context) => repositoriesOf(record.login, args, context),
}

export const botResolvers: Resolvers<User> = {
  ...userResolvers,
  // The login is dependabot[bot] in REST and dependabot in GraphQL.
  login: ({ record }) => record.login.replace('[bot]', ''),
}

export const organisationResolvers: Resolvers<Organisation> = {
  id: ({ record }) => record.nodeId,
  databaseId: ({ record }) => record.id,
  name: ({ record }) => record.login,
  url: ({ record }) => `https://github.com/${record.login}`,
  avatarUrl: ({ record }) => `https://avatars.githubusercontent.com/u/${record.id}?v=4`,
  updatedAt: ({ record }) => record.createdAt,
  repositories: ({ record }, args, context) => repositoriesOf(record.login, args, context),
}

const repositoriesOf = (login: string, args: any, { world, bearer }: Context) => {
  const owned = world.repositories.filter((each: Repository) => each.owner === login && canSee({ bearer }, each))
  return plainConnection(args, owned, repositoryNode)
}
