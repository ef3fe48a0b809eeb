import { GraphQLError } from 'graphql'
import type { Quota } from '../limits.ts'
import { notAccessible } from '../rest/answer.ts'
import type { Bearer } from '../tokens.ts'
import { globalId } from '../world/ids.ts'
import { GHOST } from '../world/people.ts'
import type * as records from '../world/records.ts'
import type { Repository } from '../world/repository.ts'
import type { World } from '../world/world.ts'
import type { Cost } from './cost.ts'

/** The value that resolvers use: a record with the name of its GraphQL type and, for most, its repository. */
export interface Node<T = any> {
  readonly type: string
  readonly record: T
  readonly repository: Repository
}
export interface Context {
  readonly world: World
  readonly bearer: Bearer
  readonly cost: Cost
  /** The remaining quota after this query. */
  readonly quota: Quota
}
export type Resolver<T = any> = (node: Node<T>, args: any, context: Context) => unknown
export type Resolvers<T = any> = Readonly<Record<string, Resolver<T>>>

export const nodeOf = <T>(type: string, repository: Repository, record: T): Node<T> => ({ type, record, repository })
/** Like `nodeOf`, but null stays null. */
export const nodeOrNull = <T>(type: string, repository: Repository, record: T | undefined | null): Node<T> | null =>
  record == null ? null : nodeOf(type, repository, record)

/** Returns an `Actor`, or null for a deleted account. */
export function actor({ world }: Context, login: string | null): { type: string; record: records.User } | null {
  if (login === null) return null
  const user = world.people.find(login) ?? { ...GHOST, login }
  return { type: user.type, record: user }
}
/** Returns a `User`, for fields whose schema allows nothing else. */
export const userNode = (context: Context, login: string | null) => {
  const found = actor(context, login)
  return found?.type === 'User' ? found : null
}

export const repositoryNode = (repository: Repository): Node<Repository> => nodeOf('Repository', repository, repository)

/** Returns the fork that a pull request came from. Only its name may be known. */
export function forkNode(from: NonNullable<records.PullRequest['headRepository']>, context: Context) {
  const known = context.world.findById(from.id)
  if (known !== undefined) return repositoryNode(known)
  const { id, owner, name } = from
  return {
    type: 'Repository',
    databaseId: id,
    id: globalId('R', String(id)),
    name,
    nameWithOwner: `${owner}/${name}`,
    url: `https://github.com/${owner}/${name}`,
    isFork: true,
    isPrivate: false,
    owner: ownerNode(owner, context),
  }
}

export function ownerNode(login: string, { world }: Context) {
  const company = world.people.organisation(login)
  return company === undefined
    ? { type: 'User', record: world.people.find(login) }
    : { type: 'Organization', record: company }
}

export const pullState = (pull: records.PullRequest): 'OPEN' | 'CLOSED' | 'MERGED' =>
  pull.state === 'open' ? 'OPEN' : pull.mergedAt === null ? 'CLOSED' : 'MERGED'

export const failure = (type: string, message: string, extra: object = {}): GraphQLError =>
  new GraphQLError(message, { extensions: { type, ...extra } })
export const unresolved = (what: string): GraphQLError => failure('NOT_FOUND', `Could not resolve to ${what}`)

/** Refuses fields for which a fine-grained or installation token has no permission. */
export function requirePermission({ bearer }: Context, ...anyOf: string[]): void {
  const granted = bearer.permissions
  if (granted !== undefined && !anyOf.some((permission) => granted[permission] !== undefined))
    throw failure('FORBIDDEN', notAccessible(bearer.kind), { saml_failure: false })
}

/** Refuses fields that the scopes of a classic token do not cover. */
export function requireScope({ bearer }: Context, field: string, ...anyOf: string[]): void {
  if (bearer.kind !== 'classic' || anyOf.some((scope) => bearer.scopes.includes(scope))) return
  const wanted = anyOf.map((scope) => `'${scope}'`).join(', ')
  const granted = bearer.scopes.map((scope) => `'${scope}'`).join(', ')
  throw failure(
    'INSUFFICIENT_SCOPES',
    `Your token has not been granted the required scopes to execute this query. The '${field}' field requires one of the following scopes: [${wanted}], but your token has only been granted the: [${granted}] scopes. Please modify your token's scopes at: https://github.com/settings/tokens.`,
  )
}
