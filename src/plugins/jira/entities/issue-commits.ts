import { bigint, key, string, text } from '../../../database/table.ts'
import { issueCommits as domainIssueCommits } from '../../../domain/crossdomain.ts'
import { issueOfInput, issues } from '../issue.ts'
import { entity, onBoard, table } from '../kit.ts'

/** Commits that are named by remote links or the development panel. */
export const issueCommits = table('issue_commits', 'JiraIssueCommit', {
  issue_id: key(bigint(issueOfInput)),
  commit_sha: key(string(40, 'id')),
  commit_url: text('url'),
  repo_url: text(),
})
export const COMMIT_SOURCES = ['jira_api_remotelinks', 'jira_api_development_panels']

export default entity(issueCommits, {
  label: 'Issue Commits',
  domainTypes: ['CROSS'],
  convert: {
    ...onBoard,
    to: [domainIssueCommits],
    replaces: COMMIT_SOURCES,
    rows: ({ issue_id, commit_sha }, { idOf }) => [
      domainIssueCommits.row({ issue_id: idOf(issues, issue_id), commit_sha }),
    ],
  },
})
