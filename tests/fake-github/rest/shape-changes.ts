import { globalId } from '../world/ids.ts'
import type { Commit, PullRequest, Review, ReviewComment } from '../world/records.ts'
import type { Repository } from '../world/repository.ts'
import { person, personOrGhost, persons, repositoryOwner, type Shaping } from './shape-people.ts'
import { minimalRepository, pageUrl, repositoryShape, repositoryUrl } from './shape-repository.ts'
import { associationOf, label, labelsOf, milestoneOf } from './shape-tickets.ts'

/** A pull request as in lists: without merge details and sizes. */
export function pullRequest(on: Shaping, repository: Repository, pull: PullRequest) {
  const root = repositoryUrl(on, repository)
  const url = `${root}/pulls/${pull.number}`
  const issueUrl = `${root}/issues/${pull.number}`
  const htmlUrl = `${pageUrl(repository)}/pull/${pull.number}`
  const urls = {
    commits: `${url}/commits`,
    review_comments: `${url}/comments`,
    review_comment: `${root}/pulls/comments{/number}`,
    comments: `${issueUrl}/comments`,
    statuses: `${root}/statuses/${pull.headSha}`,
  }
  const href = Object.fromEntries(
    Object.entries({ ...urls, self: url, html: htmlUrl, issue: issueUrl }).map(([name, to]) => [name, { href: to }]),
  )
  return {
    url,
    id: pull.id,
    node_id: pull.nodeId,
    html_url: htmlUrl,
    diff_url: `${htmlUrl}.diff`,
    patch_url: `${htmlUrl}.patch`,
    issue_url: issueUrl,
    number: pull.number,
    state: pull.state,
    locked: false,
    title: pull.title,
    user: personOrGhost(on, pull.author),
    body: pull.body,
    created_at: pull.createdAt,
    updated_at: pull.updatedAt,
    closed_at: pull.closedAt,
    merged_at: pull.mergedAt,
    merge_commit_sha: pull.mergeCommitSha,
    assignee: person(on, pull.assignees[0] ?? null),
    assignees: persons(on, pull.assignees),
    requested_reviewers: persons(on, pull.requestedReviewers),
    requested_teams: [],
    labels: labelsOf(repository, pull).map((each) => label(on, repository, each)),
    milestone: milestoneOf(on, repository, pull),
    draft: pull.isDraft,
    commits_url: urls.commits,
    review_comments_url: urls.review_comments,
    review_comment_url: urls.review_comment,
    comments_url: urls.comments,
    statuses_url: urls.statuses,
    head: head(on, repository, pull),
    base: {
      label: `${repository.owner}:${pull.baseRef}`,
      ref: pull.baseRef,
      sha: pull.baseSha,
      user: repositoryOwner(on, repository),
      repo: repositoryShape(on, repository),
    },
    _links: href,
    author_association: associationOf(pull.author),
    auto_merge: null,
    active_lock_reason: null,
  }
}

function head(on: Shaping, repository: Repository, pull: PullRequest) {
  const from = pull.headRepository
  const owner = from === null ? null : repositoryOwner(on, from)
  return {
    label: `${from?.owner ?? 'unknown repository'}:${pull.headRef}`,
    ref: pull.headRef,
    sha: pull.headSha,
    user: owner,
    repo:
      from === null
        ? null
        : from.id === repository.id
          ? repositoryShape(on, repository)
          : // A fork has a repository's fields with its own name, and the rest of its parent.
            {
              ...repositoryShape(on, repository),
              ...minimalRepository(on, { ...from, nodeId: globalId('R', String(from.id)) }, false, true),
            },
  }
}

/** A single pull request, with all details. */
export function fullPullRequest(on: Shaping, repository: Repository, pull: PullRequest) {
  const reviews = repository.reviews.childrenOf(pull.number)
  return {
    ...pullRequest(on, repository, pull),
    merged: pull.mergedAt !== null,
    mergeable: pull.state === 'open' ? true : null,
    rebaseable: null,
    mergeable_state: 'unknown',
    merged_by: person(on, pull.mergedBy),
    comments: repository.comments.countOf(pull.number),
    review_comments: reviews.reduce((sum, each) => sum + repository.reviewComments.countOf(each.index), 0),
    maintainer_can_modify: false,
    commits: repository.pullCommits.countOf(pull.number),
    additions: pull.additions,
    deletions: pull.deletions,
    changed_files: pull.changedFiles,
  }
}

export function commit(on: Shaping, repository: Repository, each: Commit) {
  const root = repositoryUrl(on, repository)
  const url = `${root}/commits/${each.sha}`
  const htmlUrl = `${pageUrl(repository)}/commit/${each.sha}`
  const signature = { name: each.authorName, email: each.authorEmail, date: each.authoredAt }
  return {
    sha: each.sha,
    node_id: each.nodeId,
    commit: {
      author: signature,
      committer: signature,
      message: each.message,
      tree: { sha: each.sha, url: `${root}/git/trees/${each.sha}` },
      url: `${root}/git/commits/${each.sha}`,
      comment_count: 0,
    },
    url,
    html_url: htmlUrl,
    comments_url: `${url}/comments`,
    author: person(on, each.author),
    committer: person(on, each.author),
    parents: each.parents.map((sha) => ({
      sha,
      url: `${root}/commits/${sha}`,
      html_url: `${pageUrl(repository)}/commit/${sha}`,
    })),
  }
}

export function fullCommit(on: Shaping, repository: Repository, each: Commit) {
  const root = repositoryUrl(on, repository)
  const { additions, deletions, sha } = each
  const file = 'src/main.ts'
  return {
    ...commit(on, repository, each),
    stats: { additions, deletions, total: additions + deletions },
    files: [
      {
        sha,
        filename: file,
        status: 'modified',
        additions,
        deletions,
        changes: additions + deletions,
        blob_url: `${pageUrl(repository)}/blob/${sha}/${file}`,
        raw_url: `${pageUrl(repository)}/raw/${sha}/${file}`,
        contents_url: `${root}/contents/${file}?ref=${sha}`,
      },
    ],
  }
}

export function review(on: Shaping, repository: Repository, each: Review) {
  const pullUrl = `${repositoryUrl(on, repository)}/pulls/${each.number}`
  const htmlUrl = `${pageUrl(repository)}/pull/${each.number}#pullrequestreview-${each.id}`
  return {
    id: each.id,
    node_id: each.nodeId,
    user: person(on, each.author),
    body: each.body,
    state: each.state,
    html_url: htmlUrl,
    pull_request_url: pullUrl,
    author_association: associationOf(each.author),
    _links: { html: { href: htmlUrl }, pull_request: { href: pullUrl } },
    ...(each.submittedAt !== null && { submitted_at: each.submittedAt }),
    commit_id: each.commitSha,
  }
}

export function reviewComment(on: Shaping, repository: Repository, each: ReviewComment) {
  const root = repositoryUrl(on, repository)
  const url = `${root}/pulls/comments/${each.id}`
  const pullUrl = `${root}/pulls/${each.number}`
  const htmlUrl = `${pageUrl(repository)}/pull/${each.number}#discussion_r${each.id}`
  return {
    url,
    pull_request_review_id: each.reviewId,
    id: each.id,
    node_id: each.nodeId,
    diff_hunk: '@@ -1,3 +1,4 @@',
    path: each.path,
    position: each.line,
    original_position: each.line,
    commit_id: each.commitSha,
    original_commit_id: each.commitSha,
    user: person(on, each.author),
    body: each.body,
    created_at: each.createdAt,
    updated_at: each.updatedAt,
    html_url: htmlUrl,
    pull_request_url: pullUrl,
    author_association: associationOf(each.author),
    _links: { self: { href: url }, html: { href: htmlUrl }, pull_request: { href: pullUrl } },
    start_line: null,
    original_start_line: null,
    start_side: null,
    line: each.line,
    original_line: each.line,
    side: 'RIGHT',
    subject_type: 'line',
  }
}
