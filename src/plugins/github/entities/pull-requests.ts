import { bigint, boolean, indexed, key, string, text, timestamp, zeroTime } from '../../../database/table.ts'
import { pullRequestLabels as domainLabels, pullRequests as domainPullRequests } from '../../../domain/pull-requests.ts'
import { innerJoin, leftJoin } from '../../../plugin-kit/index.ts'
import {
  BY_NUMBER,
  entity,
  inRepo,
  isOfRepo,
  LONG_LIST_OF_PULL_REQUESTS,
  labelNames,
  peopleIn,
  REST_PAGE,
  repoAccounts,
  repoIdColumn,
  repos,
  table,
  withoutGhosts,
} from '../kit.ts'
import { accounts } from './accounts.ts'

export const PULL_REQUEST_RAW = ['github_api_pull_requests', 'github_graphql_prs']

/** Columns that lists leave out. With REST they stay empty here, and `pull_request_details` has them. */
const details = {
  additions: bigint(),
  deletions: bigint(),
  comments: bigint(),
  commits: bigint(),
  review_comments: bigint(),
  merged: boolean(),
  merged_by_name: string(100, 'merged_by.login'),
  merged_by_id: bigint('merged_by.id'),
}

export const pullRequests = table('pull_requests', 'GithubPullRequest', {
  github_id: key(bigint('id')),
  repo_id: repoIdColumn(),
  head_repo_id: bigint('head.repo.id'),
  number: indexed(bigint()),
  state: string(),
  title: text(),
  github_created_at: zeroTime(timestamp('created_at')),
  github_updated_at: indexed(zeroTime(timestamp('updated_at'))),
  closed_at: timestamp(),
  ...details,
  is_draft: boolean('draft'),
  merged_at: timestamp(),
  body: text(),
  type: string((pull, { scopeConfig }) => scopeConfig.pullRequestTypeOf(labelNames(pull))),
  component: string((pull, { scopeConfig }) => scopeConfig.pullRequestComponentOf(labelNames(pull))),
  merge_commit_sha: string(40),
  head_ref: string('head.ref'),
  base_ref: string('base.ref'),
  base_commit_sha: string('base.sha'),
  head_commit_sha: string('head.sha'),
  url: string('html_url'),
  author_name: string(100, 'user.login'),
  author_id: bigint('user.id'),
})
/** For tables whose rows belong to a pull request. `where` limits them to the repository. */
export const joinPullRequest = {
  pull: innerJoin(pullRequests, { connection_id: 'connection_id', github_id: 'pull_request_id' }),
}
export const ofRepo = ({ github_id }: { github_id: number }) => ({ 'pull.repo_id': github_id })

/** Requests for each pull request that has changed. The stored input uses DevLake's names. */
export const forEachPullRequest = {
  table: pullRequests,
  input: ({ number, github_id }: { number: number; github_id: number }) => ({ Number: number, GithubId: github_id }),
  changedBy: 'github_updated_at',
}
type PullRequestInput = ReturnType<typeof forEachPullRequest.input>
/** The key column of tables whose rows belong to a pull request, taken from the input, or from the record if there is no input. */
export const pullRequestId = () => bigint((_record, { input }: { input: PullRequestInput | null }) => input?.GithubId)

export const pullRequestLabels = table('pull_request_labels', 'GithubPrLabel', {
  pull_id: key(bigint()),
  label_name: key(string('name')),
})

/**
 * Everyone who was asked for a review or gave one. `state` is REQUESTED until they have given it. DevLake stores those who gave a
 * review if it uses REST, and those who were asked if it uses GraphQL.
 */
export const reviewers = table('reviewers', 'GithubReviewer', {
  reviewer_id: key(bigint('id')),
  pull_request_id: key(pullRequestId()),
  name: string(() => ''),
  username: string('login'),
  state: string(() => ''),
  avatar_url: string(() => ''),
  web_url: string(() => ''),
})
const REQUESTED = { state: 'REQUESTED' }

export const pullRequestDetails = table('pull_request_details', 'GithubPullRequestDetails', {
  github_id: key(bigint('id')),
  ...details,
})

export default entity(pullRequests, {
  label: 'Pull Requests',
  domainTypes: ['CODEREVIEW', 'CROSS'],
  raw: 'github_api_pull_requests',
  collect: {
    // Ordered by time of change, so that open pull requests need not be requested one by one.
    request: ({ scope }) => ({
      path: inRepo(scope, 'pulls'),
      query: { state: 'all', sort: 'updated', direction: 'desc' },
    }),
    paging: REST_PAGE,
    isOwn: ({ base }, { scope }) => isOfRepo(base?.repo?.id, scope),
    knownBy: BY_NUMBER,
    incremental: { newestFirstBy: 'updated_at' },
    longList: LONG_LIST_OF_PULL_REQUESTS,
    endsOn: [410], // issues are switched off, and older pull requests can only be found through them
  },
  extract: {
    writes: [repoAccounts],
    owns: [
      { table: pullRequestLabels, by: { connection_id: 'connection_id', pull_id: 'github_id' } },
      { table: reviewers, by: { connection_id: 'connection_id', pull_request_id: 'github_id' }, where: REQUESTED },
    ],
    dependsOn: ['prType', 'prComponent'],
    *rows(given, context) {
      const pull = withoutGhosts(given, 'user', 'merged_by')
      if (context.scopeConfig.isExcluded(pull.user)) return
      const requested = pull.requested_reviewers ?? []
      yield context.read(pullRequests, pull)
      for (const label of pull.labels ?? []) yield context.read(pullRequestLabels, label, { pull_id: pull.id })
      for (const person of requested) {
        yield context.read(reviewers, person, { pull_request_id: pull.id, ...REQUESTED })
      }
      yield* peopleIn([pull.user, pull.merged_by, ...requested], context)
    },
  },
  convert: {
    to: [domainPullRequests],
    joins: { details: leftJoin(pullRequestDetails, { connection_id: 'connection_id', github_id: 'github_id' }) },
    replaces: PULL_REQUEST_RAW,
    rows: (pull, { idOf }) => {
      const { additions, deletions, merged, merged_by_id, merged_by_name } = pull.details ?? pull
      return [
        domainPullRequests.row({
          id: idOf(pullRequests, pull.github_id),
          base_repo_id: idOf(repos, pull.repo_id),
          head_repo_id: idOf(repos, pull.head_repo_id),
          status: statusOf(pull.state.toLowerCase(), merged || pull.merged || pull.merged_at !== null),
          original_status: pull.state,
          title: pull.title,
          description: pull.body,
          url: pull.url,
          author_name: pull.author_name,
          author_id: idOf(accounts, pull.author_id || null),
          merged_by_name,
          merged_by_id: idOf(accounts, merged_by_id || null),
          pull_request_key: pull.number,
          created_date: pull.github_created_at,
          merged_date: pull.merged_at,
          closed_date: pull.closed_at,
          type: pull.type,
          component: pull.component,
          merge_commit_sha: pull.merge_commit_sha,
          head_ref: pull.head_ref,
          base_ref: pull.base_ref,
          base_commit_sha: pull.base_commit_sha,
          head_commit_sha: pull.head_commit_sha,
          additions,
          deletions,
          is_draft: pull.is_draft,
        }),
      ]
    },
  },
})

function statusOf(state: string, isMerged: boolean): 'OPEN' | 'MERGED' | 'CLOSED' {
  if (state === 'open') return 'OPEN'
  return state === 'merged' || (state === 'closed' && isMerged) ? 'MERGED' : 'CLOSED'
}

/** Sizes, and the person who merged. REST has them only in answers about a single pull request. */
export const detailsEntity = entity(pullRequestDetails, {
  label: 'PR Details',
  domainTypes: ['CODEREVIEW'],
  raw: 'github_api_pull_request_details',
  collect: {
    forEach: forEachPullRequest,
    request: ({ scope, input }) => ({ path: inRepo(scope, `pulls/${input.Number}`) }),
    records: (pull) => [pull],
    emptyOn: [404],
  },
  extract: {
    writes: [repoAccounts],
    rows(given, context) {
      const pull = withoutGhosts(given, 'merged_by')
      return [context.read(pullRequestDetails, pull), ...peopleIn([pull.merged_by], context)]
    },
  },
})

export const labels = entity(pullRequestLabels, {
  label: 'PR Labels',
  domainTypes: ['CODEREVIEW'],
  convert: {
    to: [domainLabels],
    joins: { pull: innerJoin(pullRequests, { connection_id: 'connection_id', github_id: 'pull_id' }) },
    where: ofRepo,
    replaces: PULL_REQUEST_RAW,
    rows: ({ pull_id, label_name }, { idOf }) => [
      domainLabels.row({ pull_request_id: idOf(pullRequests, pull_id), label_name }),
    ],
  },
})
