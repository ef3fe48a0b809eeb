import { generateTicket } from './generate-tickets.ts'
import { type Ground, secondsBetween } from './ground.ts'
import { CHILD_SPAN, type CommitKind, databaseId, globalId, sha } from './ids.ts'
import type { Commit, PullRequest, Review, ReviewComment } from './records.ts'

export function generatePullRequest(on: Ground, number: number, ordinal: number, commitCount: number): PullRequest {
  const { luck } = on
  const ticket = generateTicket(on, 'pull', number, ordinal)
  const isMerged = ticket.closedAt !== null && luck.chance('merged', 0.8, number)
  const [owner, name] = on.settings.name.split('/') as [string, string]
  const forkOwner = on.person('fork owner', number)
  return {
    ...ticket,
    issueId: databaseId('issue', on.ordinal, number),
    isDraft: !isMerged && ordinal % 8 === 5,
    mergedAt: isMerged ? ticket.closedAt : null,
    mergedBy: isMerged && ordinal % 13 !== 6 ? ticket.closedBy : null,
    mergeCommitSha: isMerged ? sha(luck, 'merge', on.ordinal, number) : null,
    headRef: `feature-${number}`,
    headSha: sha(luck, 'pull', on.ordinal, number * CHILD_SPAN + Math.max(0, commitCount - 1)),
    headRepository:
      ordinal % 19 === 4
        ? null
        : ordinal % 5 === 0
          ? { id: 800_000_000 + on.ordinal * 1000 + on.people.logins.indexOf(forkOwner), owner: forkOwner, name }
          : { id: repositoryId(on.ordinal), owner, name },
    baseRef: ordinal % 9 === 1 ? 'release' : 'main',
    baseSha: sha(luck, 'branch', on.ordinal, 1),
    additions: luck.integer('additions', 0, 900, number),
    deletions: luck.integer('deletions', 0, 300, number),
    changedFiles: luck.integer('files', 1, 40, number),
    requestedReviewers: luck.some('requested', on.people.logins, luck.integer('requested count', 0, 2, number), number),
  }
}

export const repositoryId = (ordinal: number): number => 700_000_000 + ordinal

/** If `author` is null although there is a name and an address, the address belongs to no account. */
export function generateCommit(
  on: Ground,
  kind: CommitKind,
  index: number,
  authoredAt: string,
  parents: string[],
): Commit {
  const name = sha(on.luck, kind, on.ordinal, index)
  const isBot = index % 12 === 7
  const login = isBot ? on.luck.pick('commit bot', on.people.bots, index) : on.person('commit author', index)
  const author = on.people.find(login)!
  const address = `${isBot ? `${author.id}+` : ''}${login}@users.noreply.github.com`
  return {
    index,
    id: index,
    nodeId: globalId('C', name),
    sha: name,
    message: kind === 'merge' ? `Merge pull request #${index}` : `Change something (${index})\n\nWith a reason.`,
    authorName: author.name ?? login,
    authorEmail: author.email ?? address,
    authoredAt,
    author: index % 12 === 5 ? null : login,
    parents,
    additions: on.luck.integer('commit additions', 0, 200, index),
    deletions: on.luck.integer('commit deletions', 0, 80, index),
    createdAt: authoredAt,
    updatedAt: authoredAt,
  }
}

export function generatePullCommit(on: Ground, index: number, pull: PullRequest, ordinal: number): Commit {
  const parent = ordinal === 0 ? pull.baseSha : sha(on.luck, 'pull', on.ordinal, index - 1)
  // Work starts before the pull request is opened.
  const authoredAt = on.later(pull.createdAt, (ordinal - 3) * 1800)
  return generateCommit(on, 'pull', index, authoredAt, [parent])
}

const REVIEW_STATES = ['APPROVED', 'APPROVED', 'CHANGES_REQUESTED', 'COMMENTED', 'COMMENTED', 'DISMISSED'] as const

export function generateReview(on: Ground, index: number, pull: PullRequest, ordinal: number): Review {
  const span = secondsBetween(pull.createdAt, pull.updatedAt)
  const createdAt = on.later(pull.createdAt, Math.floor((span * (ordinal + 1)) / 8))
  const isPending = on.luck.chance('pending', 0.03, index)
  return {
    ...on.identify('review', index),
    number: pull.number,
    author: on.luck.chance('review ghost', 0.04, index) ? null : on.person('reviewer', index),
    body: ordinal % 2 === 0 ? `Review ${ordinal + 1} of ${pull.number}` : '',
    state: isPending ? 'PENDING' : on.luck.pick('review state', REVIEW_STATES, index),
    commitSha: pull.headSha,
    submittedAt: isPending ? null : createdAt,
    createdAt,
    updatedAt: createdAt,
  }
}

export function generateReviewComment(on: Ground, index: number, review: Review, ordinal: number): ReviewComment {
  const createdAt = on.later(review.createdAt, ordinal * 60)
  return {
    ...on.identify('reviewComment', index),
    number: review.number,
    reviewId: review.id,
    reviewIndex: review.index,
    author: review.author,
    body: `Remark ${ordinal + 1} in review ${review.id}`,
    path: on.luck.pick('path', ['src/main.ts', 'docs/read me.md', 'lib/größe.ts'], index),
    line: on.luck.integer('line', 1, 400, index),
    commitSha: review.commitSha,
    createdAt,
    updatedAt: on.luck.chance('remark edited', 0.2, index) ? on.later(createdAt, 7200) : createdAt,
  }
}
