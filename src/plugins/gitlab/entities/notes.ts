import type { RawRecord } from '../../../database/table.ts'
import { bigint, boolean, indexed, key, string, text, timestamp, zeroTime } from '../../../database/table.ts'
import { pullRequestComments } from '../../../domain/pull-requests.ts'
import { entity, inProject, PAGE, table } from '../kit.ts'
import { accounts } from './accounts.ts'
import { forEachMergeRequest, joinMergeRequest, mergeRequestId, mergeRequests, ofProject } from './merge-requests.ts'
import { people, peopleIn } from './people.ts'

const RAW = 'gitlab_api_merge_request_notes'

const note = {
  gitlab_id: key(bigint('id')),
  merge_request_id: indexed(mergeRequestId()),
  merge_request_iid: bigint((_note: unknown, { input }: RawRecord) => input.Iid),
  author_user_id: bigint('author.id'),
  author_username: string('author.username'),
  body: text(),
  gitlab_created_at: zeroTime(timestamp('created_at')),
  resolvable: boolean(),
  type: text(),
}
const notes = table('mr_notes', 'GitlabMrNote', {
  ...note,
  noteable_type: string(100),
  confidential: boolean(),
  is_system: boolean('system'),
})
/** Comments that people wrote, and their approvals. */
export const comments = table('mr_comments', 'GitlabMrComment', note)

/** Notes that GitLab itself adds when somebody approves, or withdraws an approval. */
const REVIEWS = new Map([
  ['approved this merge request', { type: 'REVIEW', status: 'APPROVED' }],
  ['unapproved this merge request', { type: 'REVIEW', status: 'CHANGES_REQUESTED' }],
])

export default entity(notes, {
  label: 'MR Notes',
  domainTypes: ['CODEREVIEW'],
  raw: RAW,
  collect: {
    forEach: forEachMergeRequest,
    request: ({ scope, input }) => ({ path: inProject(scope, `merge_requests/${input.Iid}/notes`) }),
    paging: PAGE,
    emptyOn: [404], // deleted since
  },
  extract: {
    writes: [comments, people],
    edition: 2,
    *rows(record, { read }) {
      yield read(notes, record)
      if (!record.system || REVIEWS.has(record.body)) yield read(comments, record)
      yield* peopleIn([record.author], { read })
    },
  },
})

export const commentsEntity = entity(comments, {
  label: 'MR Comments',
  domainTypes: ['CODEREVIEW'],
  convert: {
    to: [pullRequestComments],
    joins: joinMergeRequest,
    where: ofProject,
    replaces: [RAW],
    rows: (comment, { idOf }) => [
      pullRequestComments.row({
        id: idOf(comments, comment.gitlab_id),
        pull_request_id: idOf(mergeRequests, comment.merge_request_id),
        body: comment.body,
        account_id: idOf(accounts, comment.author_user_id),
        created_date: comment.gitlab_created_at,
        ...(REVIEWS.get(comment.body) ?? { type: comment.type === 'DiffNote' ? 'DIFF' : 'NORMAL' }),
      }),
    ],
  },
})
