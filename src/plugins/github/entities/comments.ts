import { bigint, indexed, key, string, text, timestamp, zeroTime } from '../../../database/table.ts'
import { pullRequestComments as domainPullRequestComments } from '../../../domain/pull-requests.ts'
import { issueComments as domainIssueComments } from '../../../domain/ticket.ts'
import { byKey, innerJoin } from '../../../plugin-kit/index.ts'
import {
  entity,
  inRepo,
  LONG_LIST_BY_CHANGE,
  numberAtEnd,
  peopleIn,
  REST_PAGE,
  type Repo,
  repoAccounts,
  table,
  withoutGhosts,
} from '../kit.ts'
import { accounts } from './accounts.ts'
import { issues } from './issues.ts'
import { joinPullRequest, ofRepo, pullRequests } from './pull-requests.ts'
import { reviews } from './reviews.ts'

const RAW = 'github_api_comments'
const REVIEW_RAW = 'github_api_pull_request_review_comments'

const comment = {
  body: text(),
  author_username: string('user.login'),
  author_user_id: bigint('user.id'),
  github_created_at: zeroTime(timestamp('created_at')),
  github_updated_at: indexed(zeroTime(timestamp('updated_at'))),
}
export const issueComments = table('issue_comments', 'GithubIssueComment', {
  github_id: key(bigint('id')),
  issue_id: indexed(bigint()),
  ...comment,
})
export const pullRequestComments = table('pull_request_comments', 'GithubPrComment', {
  github_id: key(bigint('id')),
  pull_request_id: indexed(bigint()),
  ...comment,
  commit_sha: string('commit_id'),
  review_id: bigint('pull_request_review_id'),
  type: indexed(string()),
})

const inThisRepo = ({ github_id }: Repo) => ({ repo_id: github_id })
const since = { filterBy: (moment: Date) => ({ since: moment.toISOString() }) }

/** Comments on issues and on pull requests, which GitHub returns in one list. They are told apart by the number of what they belong to. */
export default entity(issueComments, {
  label: 'Comments',
  domainTypes: ['TICKET', 'CODEREVIEW'],
  raw: RAW,
  collect: {
    request: ({ scope }) => ({ path: inRepo(scope, 'issues/comments'), query: { sort: 'updated', direction: 'desc' } }),
    paging: REST_PAGE,
    incremental: since,
    longList: LONG_LIST_BY_CHANGE,
    emptyOn: [410],
    canBeSwitchedOff: true,
  },
  extract: {
    writes: [pullRequestComments, repoAccounts],
    lookups: {
      issues: byKey(issues, 'number', ({ issue_url }) => numberAtEnd(issue_url), inThisRepo),
      pulls: byKey(pullRequests, 'number', ({ issue_url }) => numberAtEnd(issue_url), inThisRepo),
    },
    *rows(given, context) {
      const record = withoutGhosts(given, 'user')
      if (context.scopeConfig.isExcluded(record.user)) return
      const { issues, pulls } = context.lookups
      const number = numberAtEnd(record.issue_url)
      const issue = issues.get(number)
      yield issue
        ? context.read(issueComments, record, { issue_id: issue.github_id })
        : context.read(pullRequestComments, record, {
            pull_request_id: pulls.get(number)?.github_id ?? 0,
            type: 'NORMAL',
          })
      yield* peopleIn([record.user], context)
    },
  },
})

/** Comments on lines of code. */
export const reviewComments = entity(pullRequestComments, {
  label: 'PR Review Comments',
  domainTypes: ['CODEREVIEW'],
  raw: REVIEW_RAW,
  collect: {
    request: ({ scope }) => ({ path: inRepo(scope, 'pulls/comments'), query: { sort: 'updated', direction: 'desc' } }),
    paging: REST_PAGE,
    incremental: since,
    longList: LONG_LIST_BY_CHANGE,
  },
  extract: {
    writes: [repoAccounts],
    lookups: { pulls: byKey(pullRequests, 'number', (record) => numberAtEnd(record.pull_request_url), inThisRepo) },
    *rows(given, context) {
      const record = withoutGhosts(given, 'user')
      if (context.scopeConfig.isExcluded(record.user)) return
      const pull = context.lookups.pulls.get(numberAtEnd(record.pull_request_url))
      yield context.read(pullRequestComments, record, { pull_request_id: pull?.github_id ?? 0, type: 'DIFF' })
      yield* peopleIn([record.user], context)
    },
  },
})

export const onIssues = entity(issueComments, {
  label: 'Issue Comments',
  domainTypes: ['TICKET'],
  convert: {
    to: [domainIssueComments],
    joins: { issue: innerJoin(issues, { connection_id: 'connection_id', github_id: 'issue_id' }) },
    where: ({ github_id }) => ({ 'issue.repo_id': github_id }),
    replaces: [RAW],
    rows: (comment, { idOf }) => [
      domainIssueComments.row({
        id: idOf(issues, comment.github_id), // as in DevLake, the prefix of issues with the id of a comment
        issue_id: idOf(issues, comment.issue_id),
        body: comment.body,
        account_id: idOf(accounts, comment.author_user_id || null),
        created_date: comment.github_created_at,
        updated_date: comment.github_updated_at,
      }),
    ],
  },
})

export const onPullRequests = entity(pullRequestComments, {
  label: 'PR Comments',
  domainTypes: ['CODEREVIEW'],
  convert: {
    to: [domainPullRequestComments],
    joins: joinPullRequest,
    where: ofRepo,
    replaces: [RAW, REVIEW_RAW],
    rows: (comment, { idOf }) => [
      domainPullRequestComments.row({
        id: idOf(pullRequestComments, comment.github_id),
        pull_request_id: idOf(pullRequests, comment.pull_request_id),
        body: comment.body,
        account_id: idOf(accounts, comment.author_user_id || null),
        created_date: comment.github_created_at,
        commit_sha: comment.commit_sha,
        type: comment.type,
        review_id: idOf(reviews, comment.review_id),
      }),
    ],
  },
})
