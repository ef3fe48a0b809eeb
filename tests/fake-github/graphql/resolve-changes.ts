import { labelsOf } from '../rest/shape-tickets.ts'
import type { Comment, Commit, Issue, Label, Milestone, PullRequest, Review, ReviewComment } from '../world/records.ts'
import { childConnection, plainConnection } from './connection.ts'
import {
  actor,
  forkNode,
  nodeOf,
  nodeOrNull,
  ownerNode,
  pullState,
  type Resolver,
  type Resolvers,
  repositoryNode,
  userNode,
} from './nodes.ts'

/** For records that have a database id. */
const identity: Resolvers = {
  id: ({ record }) => record.nodeId,
  databaseId: ({ record }) => record.id,
  fullDatabaseId: ({ record }) => String(record.id),
  repository: ({ repository }) => repositoryNode(repository),
}
const authored: Resolvers<{ author: string | null; body: string | null }> = {
  author: ({ record }, _, context) => actor(context, record.author),
  authorAssociation: ({ record }) => (record.author === null ? 'NONE' : 'MEMBER'),
  // For an empty body REST sends null and GraphQL an empty string.
  body: ({ record }) => record.body ?? '',
  bodyText: ({ record }) => record.body ?? '',
}
const pageOf =
  (kind: 'issues' | 'pull'): Resolver<Issue> =>
  ({ repository, record }) =>
    `https://github.com/${repository.owner}/${repository.name}/${kind}/${record.number}`

const ticket: Resolvers<Issue> = {
  ...identity,
  ...authored,
  closed: ({ record }) => record.state === 'closed',
  locked: () => false,
  assignees: ({ record }, args, context) =>
    plainConnection(args, record.assignees, (login) => userNode(context, login)),
  labels: ({ record, repository }, args) =>
    childConnection(args, labelsOf(repository, record), (each) => nodeOf('Label', repository, each)),
  milestone: ({ record, repository }) =>
    nodeOrNull('Milestone', repository, record.milestone === null ? null : repository.milestones.get(record.milestone)),
  comments: ({ record, repository }, args) =>
    childConnection(args, repository.comments.childrenOf(record.number), (each) =>
      nodeOf('IssueComment', repository, each),
    ),
}

export const issueResolvers: Resolvers<Issue> = {
  ...ticket,
  state: ({ record }) => record.state.toUpperCase(),
  stateReason: ({ record }) => (record.state === 'closed' ? 'COMPLETED' : null),
  url: pageOf('issues'),
}

export const pullRequestResolvers: Resolvers<PullRequest> = {
  ...(ticket as Resolvers<PullRequest>),
  state: ({ record }) => pullState(record),
  url: pageOf('pull') as Resolver<PullRequest>,
  permalink: pageOf('pull') as Resolver<PullRequest>,
  merged: ({ record }) => record.mergedAt !== null,
  mergedBy: ({ record }, _, context) => actor(context, record.mergedBy),
  mergeCommit: ({ record, repository }) =>
    record.mergeCommitSha === null ? null : nodeOrNull('Commit', repository, repository.commit(record.mergeCommitSha)),
  // Neither REST nor GraphQL shows trial merges here.
  potentialMergeCommit: () => null,
  headRefName: ({ record }) => record.headRef,
  headRefOid: ({ record }) => record.headSha,
  headRepository: ({ record }, _, context) =>
    record.headRepository === null ? null : forkNode(record.headRepository, context),
  headRepositoryOwner: ({ record }, _, context) =>
    record.headRepository === null ? null : ownerNode(record.headRepository.owner, context),
  baseRefName: ({ record }) => record.baseRef,
  baseRefOid: ({ record }) => record.baseSha,
  baseRepository: ({ repository }) => repositoryNode(repository),
  isCrossRepository: ({ record, repository }) => record.headRepository?.id !== repository.id,
  commits: ({ record, repository }, args) =>
    childConnection(args, repository.pullCommits.childrenOf(record.number), (each) => ({
      type: 'PullRequestCommit',
      id: `PURC_${each.sha}`,
      commit: nodeOf('Commit', repository, each),
    })),
  reviews: ({ record, repository }, args) => {
    const found = repository.reviews.childrenOf(record.number)
    const wanted = args.states == null ? found : found.filter((each) => args.states.includes(each.state))
    return childConnection(args, wanted, (each) => nodeOf('PullRequestReview', repository, each))
  },
  reviewRequests: ({ record }, args, context) =>
    plainConnection(args, record.requestedReviewers, (login) => ({
      type: 'ReviewRequest',
      id: `RR_${record.id}_${login}`,
      asCodeOwner: false,
      requestedReviewer: userNode(context, login),
    })),
}

export const commitResolvers: Resolvers<Commit> = {
  ...identity,
  oid: ({ record }) => record.sha,
  abbreviatedOid: ({ record }) => record.sha.slice(0, 7),
  messageHeadline: ({ record }) => record.message.split('\n')[0],
  messageBody: ({ record }) => record.message.split('\n').slice(2).join('\n'),
  authoredDate: ({ record }) => record.authoredAt,
  committedDate: ({ record }) => record.authoredAt,
  author: (node, _, context) => gitActor(node.record, context),
  committer: (node, _, context) => gitActor(node.record, context),
  changedFilesIfAvailable: () => 1,
  url: ({ record, repository }) => `https://github.com/${repository.owner}/${repository.name}/commit/${record.sha}`,
  parents: ({ record, repository }, args) =>
    plainConnection(args, record.parents, (sha) => nodeOrNull('Commit', repository, repository.commit(sha))),
}
const gitActor = (commit: Commit, context: Parameters<Resolver>[2]) => ({
  name: commit.authorName,
  email: commit.authorEmail,
  date: commit.authoredAt,
  user: userNode(context, commit.author),
})

export const reviewResolvers: Resolvers<Review> = {
  ...identity,
  ...authored,
  commit: ({ record, repository }) => nodeOrNull('Commit', repository, repository.commit(record.commitSha)),
  pullRequest: ({ record, repository }) =>
    nodeOf('PullRequest', repository, repository.pullRequests.get(record.number)!),
  url: ({ record, repository }) =>
    `https://github.com/${repository.owner}/${repository.name}/pull/${record.number}#pullrequestreview-${record.id}`,
  comments: ({ record, repository }, args) =>
    childConnection(args, repository.reviewComments.childrenOf(record.index), (each) =>
      nodeOf('PullRequestReviewComment', repository, each),
    ),
}

export const reviewCommentResolvers: Resolvers<ReviewComment> = {
  ...identity,
  ...authored,
  commit: ({ record, repository }) => nodeOrNull('Commit', repository, repository.commit(record.commitSha)),
  originalCommit: ({ record, repository }) => nodeOrNull('Commit', repository, repository.commit(record.commitSha)),
  originalLine: ({ record }) => record.line,
  diffHunk: () => '@@ -1,3 +1,4 @@',
  pullRequestReview: ({ record, repository }) =>
    nodeOrNull('PullRequestReview', repository, repository.reviews.get(record.reviewIndex)),
  pullRequest: ({ record, repository }) =>
    nodeOf('PullRequest', repository, repository.pullRequests.get(record.number)!),
  url: ({ record, repository }) =>
    `https://github.com/${repository.owner}/${repository.name}/pull/${record.number}#discussion_r${record.id}`,
}

export const commentResolvers: Resolvers<Comment> = {
  ...identity,
  ...authored,
  pullRequest: ({ record, repository }) =>
    nodeOrNull('PullRequest', repository, repository.pullRequests.get(record.number)),
  url: ({ record, repository }) =>
    `https://github.com/${repository.owner}/${repository.name}/${repository.issues.has(record.number) ? 'issues' : 'pull'}/${record.number}#issuecomment-${record.id}`,
}

export const labelResolvers: Resolvers<Label> = { ...identity, isDefault: () => false }

export const milestoneResolvers: Resolvers<Milestone> = {
  ...identity,
  closed: ({ record }) => record.state === 'closed',
  state: ({ record }) => record.state.toUpperCase(),
  creator: ({ record }, _, context) => actor(context, record.creator),
  url: ({ record, repository }) =>
    `https://github.com/${repository.owner}/${repository.name}/milestone/${record.number}`,
}
