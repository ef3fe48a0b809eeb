/** Pull requests (merge requests) and everything that belongs to them. */
import {
  bigint,
  boolean,
  common,
  defineTable,
  indexed,
  key,
  string,
  text,
  timestamp,
  zeroTime,
} from '../database/table.ts'

export const pullRequests = defineTable(
  'pull_requests',
  {
    id: key(string()),
    base_repo_id: indexed(string(191)),
    head_repo_id: indexed(string(191)),
    status: string(100),
    original_status: string(100),
    title: text(),
    description: text(),
    url: string(),
    author_name: string(100),
    author_id: string(100),
    merged_by_name: string(100),
    merged_by_id: string(100),
    parent_pr_id: indexed(string(100)),
    pull_request_key: bigint(),
    created_date: zeroTime(timestamp()),
    merged_date: timestamp(),
    closed_date: timestamp(),
    type: string(100),
    component: string(100),
    merge_commit_sha: indexed(string(40)),
    head_ref: string(),
    base_ref: string(),
    base_commit_sha: string(40),
    head_commit_sha: string(40),
    additions: bigint(),
    deletions: bigint(),
    is_draft: boolean(),
    ...common,
  },
  { meaning: 'A pull or merge request.' },
)

export const pullRequestCommits = defineTable(
  'pull_request_commits',
  {
    pull_request_id: key(string()),
    commit_sha: key(string(40)),
    commit_author_name: string(),
    commit_author_email: string(),
    commit_authored_date: zeroTime(timestamp()),
    ...common,
  },
  { meaning: 'The commits of a pull request, each with its author.' },
)

export const pullRequestComments = defineTable(
  'pull_request_comments',
  {
    id: key(string()),
    pull_request_id: indexed(string(191)),
    body: text(),
    account_id: string(),
    created_date: zeroTime(timestamp()),
    commit_sha: string(),
    type: string(),
    review_id: string(),
    status: string(),
    ...common,
  },
  { meaning: 'A comment or a review of a pull request; `type` tells which.' },
)

export const pullRequestLabels = defineTable(
  'pull_request_labels',
  {
    pull_request_id: key(string()),
    label_name: key(string()),
    ...common,
  },
  { meaning: 'The labels of a pull request.' },
)

export const pullRequestAssignees = defineTable(
  'pull_request_assignees',
  {
    pull_request_id: key(string()),
    assignee_id: key(string()),
    name: string(),
    user_name: string(),
    ...common,
  },
  { meaning: 'The people a pull request is assigned to.' },
)

export const pullRequestReviewers = defineTable(
  'pull_request_reviewers',
  {
    pull_request_id: key(string()),
    reviewer_id: key(string()),
    name: string(),
    user_name: string(),
    ...common,
  },
  { meaning: 'The people asked to review a pull request.' },
)

export const refsPrCherrypicks = defineTable(
  'refs_pr_cherrypicks',
  {
    parent_pr_id: key(string()),
    repo_name: string(),
    parent_pr_key: bigint(),
    cherrypick_base_branches: string(),
    cherrypick_pr_keys: string(),
    parent_pr_url: string(),
    ...common,
  },
  { meaning: 'A pull request and those that carried it to other branches.' },
)
