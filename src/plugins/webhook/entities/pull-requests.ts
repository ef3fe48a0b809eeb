import { bigint, boolean, key, required, string, text, timestamp } from '../../../database/table.ts'
import { PULL_REQUEST_STATUSES } from '../../../domain/enums.ts'
import { pullRequests as domainPullRequests } from '../../../domain/pull-requests.ts'
import { fromFields, type Message, oneOf } from '../../../plugin-kit/index.ts'
import { entity, table } from '../kit.ts'

const fields = fromFields({
  pull_request_key: key(bigint()),
  id: required(string()),
  display_title: required(text()),
  created_date: required(timestamp()),
  status: oneOf(PULL_REQUEST_STATUSES, string(100)),
  original_status: string(100),
  description: text(),
  url: string(),
  author_name: string(100),
  author_id: string(100),
  merged_by_name: string(100),
  merged_by_id: string(100),
  parent_pr_id: string(100),
  merged_date: timestamp(),
  closed_date: timestamp(),
  type: string(100),
  component: string(100),
  merge_commit_sha: string(40),
  head_repo_id: string(191),
  base_repo_id: string(191), // kept for information only: the connection itself counts as the repository
  head_ref: string(),
  base_ref: string(),
  base_commit_sha: string(40),
  head_commit_sha: string(40),
  additions: bigint(),
  deletions: bigint(),
  is_draft: boolean(),
})

export const pullRequests = table('pull_requests', fields)

const pullRequestEntity = entity(pullRequests, {
  label: 'Pull Requests',
  domainTypes: ['CODEREVIEW'],
  raw: 'webhook_pull_requests',
  convert: {
    to: [domainPullRequests],
    rows: (pullRequest, { idOf }) => [
      domainPullRequests.row({
        ...pullRequest,
        id: idOf(pullRequests, pullRequest.pull_request_key),
        title: pullRequest.display_title,
        base_repo_id: idOf(pullRequests),
      }),
    ],
  },
})
export default pullRequestEntity

export const pullRequestMessage: Message = { entity: pullRequestEntity, fields }
