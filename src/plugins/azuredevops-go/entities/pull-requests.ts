import type { RawRecord } from '../../../database/table.ts'
import { bigint, boolean, key, string, text, timestamp } from '../../../database/table.ts'
import { classify } from '../../../domain/classify.ts'
import {
  pullRequests as domainPullRequests,
  pullRequestLabels,
  pullRequestReviewers,
} from '../../../domain/pull-requests.ts'
import { innerJoin } from '../../../plugin-kit/index.ts'
import { entity, inRepo, type Repo, repos, repositoryId, reviews, SKIP, table, versioned } from '../kit.ts'
import { identities, peopleIn, users } from './people.ts'

const RAW = 'azuredevops_go_api_pull_requests'
const STATUS = { OPEN: ['active'], MERGED: ['completed'], CLOSED: ['abandoned'] }

export const pullRequests = table('pull_requests', 'AzuredevopsPullRequest', {
  azuredevops_id: key(bigint('pullRequestId')),
  repository_id: text(repositoryId),
  creation_date: timestamp('creationDate'),
  merge_commit_sha: string('lastMergeCommit.commitId'),
  target_ref_name: string('targetRefName'),
  description: text(),
  status: string(({ status }) => classify(status, STATUS, status)),
  source_ref_name: string('sourceRefName'),
  source_commit_sha: string('lastMergeSourceCommit.commitId'),
  target_commit_sha: string('lastMergeTargetCommit.commitId'),
  type: string(() => ''),
  created_by_id: string('createdBy.id'),
  created_by_name: string('createdBy.displayName'),
  closed_date: timestamp('closedDate'),
  title: text(),
  fork_repo_id: string('forkSource.repository.id'),
  url: string(),
  is_draft: boolean('isDraft'),
  closed_by_id: string('closedBy.id'),
  closed_by_name: string('closedBy.displayName'),
})
const labels = table('pull_request_labels', 'AzuredevopsPrLabel', {
  pull_request_id: key(bigint()),
  label_name: key(string('name')),
})
export const reviewers = table('pull_request_reviewers', 'AzuredevopsPrReviewer', {
  pull_request_id: key(bigint()),
  reviewer_id: key(string(191, 'id')),
  name: string('displayName'),
  unique_name: string('uniqueName'),
  vote: bigint(),
  is_required: boolean('isRequired'),
})

/** For tables whose rows belong to a pull request. `where` limits them to the repository. */
export const ofPullRequest = {
  joins: {
    pullRequest: innerJoin(pullRequests, { connection_id: 'connection_id', azuredevops_id: 'pull_request_id' }),
  },
  where: ({ id }: Repo) => ({ 'pullRequest.repository_id': id }),
}

const WEEK = 7 * 86_400_000
/**
 * There is no time of the last change. So an open pull request is requested in every run, and a closed one once more within a
 * week, because people continue to discuss for a while.
 */
export const forEachPullRequest = {
  table: pullRequests,
  input: ({ azuredevops_id }: { azuredevops_id: number }) => ({ AzuredevopsId: azuredevops_id }),
  changedBy: 'closed_date',
  again: { where: { status: 'OPEN' }, within: WEEK },
}

const owned = (each: typeof labels | typeof reviewers) => ({
  table: each,
  by: { connection_id: 'connection_id', pull_request_id: 'azuredevops_id' },
})
const isPerson = ({ isContainer }: RawRecord) => !isContainer

export default entity(pullRequests, {
  label: 'Api Pull Requests',
  domainTypes: ['CODEREVIEW'],
  raw: RAW,
  collect: {
    when: reviews,
    // The whole list is read, newest first. It can be filtered only by times of creation or closing, which do not show other changes.
    request: ({ scope }) => versioned(inRepo(scope, 'pullrequests'), { 'searchCriteria.status': 'all' }),
    paging: SKIP,
    key: ({ pullRequestId }) => pullRequestId,
  },
  extract: {
    writes: [identities],
    owns: [owned(labels), owned(reviewers)],
    *rows(record, { read }) {
      const pull_request_id = record.pullRequestId
      yield read(pullRequests, record)
      for (const label of record.labels ?? []) yield read(labels, label, { pull_request_id })
      const people: RawRecord[] = (record.reviewers ?? []).filter(isPerson)
      for (const one of people) yield read(reviewers, one, { pull_request_id })
      yield* peopleIn([record.createdBy, record.closedBy, ...people], { read })
    },
  },
  convert: {
    to: [domainPullRequests],
    rows: (row, { idOf }) => {
      const isMerged = row.status === 'MERGED'
      return [
        domainPullRequests.row({
          id: idOf(pullRequests, row.azuredevops_id),
          base_repo_id: idOf(repos, row.repository_id),
          head_repo_id: idOf(repos, row.fork_repo_id || row.repository_id),
          status: row.status,
          original_status: row.status,
          title: row.title,
          description: row.description,
          url: row.url,
          author_name: row.created_by_name,
          author_id: idOf(users, row.created_by_id || null),
          ...(isMerged && { merged_by_name: row.closed_by_name, merged_by_id: idOf(users, row.closed_by_id || null) }),
          pull_request_key: row.azuredevops_id,
          created_date: row.creation_date,
          merged_date: isMerged ? row.closed_date : null,
          closed_date: row.closed_date,
          type: row.type,
          merge_commit_sha: row.merge_commit_sha,
          head_ref: row.source_ref_name,
          base_ref: row.target_ref_name,
          base_commit_sha: row.target_commit_sha,
          head_commit_sha: row.source_commit_sha,
          is_draft: row.is_draft,
        }),
      ]
    },
  },
})

export const labelsEntity = entity(labels, {
  label: 'Pr Labels',
  domainTypes: ['CODEREVIEW'],
  convert: {
    to: [pullRequestLabels],
    ...ofPullRequest,
    replaces: [RAW],
    rows: ({ pull_request_id, label_name }, { idOf }) => [
      pullRequestLabels.row({ pull_request_id: idOf(pullRequests, pull_request_id), label_name }),
    ],
  },
})

export const reviewersEntity = entity(reviewers, {
  label: 'Pr Reviewers',
  domainTypes: ['CODEREVIEW'],
  convert: {
    to: [pullRequestReviewers],
    ...ofPullRequest,
    replaces: [RAW],
    rows: ({ pull_request_id, reviewer_id, name, unique_name }, { idOf }) => [
      pullRequestReviewers.row({
        pull_request_id: idOf(pullRequests, pull_request_id),
        reviewer_id: idOf(users, reviewer_id),
        name,
        user_name: unique_name,
      }),
    ],
  },
})
