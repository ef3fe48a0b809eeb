import { bigint, indexed, json, key, text, timestamp } from '../../../database/table.ts'
import { eachIssue, issueOfInput, updateOfInput } from '../issue.ts'
import { entity, table } from '../kit.ts'
import { issueCommits } from './issue-commits.ts'

const remotelinks = table('remotelinks', 'JiraRemotelink', {
  remotelink_id: key(bigint('id')),
  issue_id: indexed(bigint(issueOfInput)),
  raw_json: json((link) => link),
  self: text(),
  title: text('object.title'),
  url: text('object.url'),
  issue_updated: timestamp(updateOfInput),
})

export default entity(remotelinks, {
  label: 'Remotelinks',
  domainTypes: ['TICKET'],
  raw: 'jira_api_remotelinks',
  collect: {
    // This needs one request for each issue. It is done only if a pattern looks for commits in links, and the development panel does not name them.
    when: ({ scopeConfig }) => scopeConfig.applicationType === '' && scopeConfig.findsCommits,
    forEach: eachIssue(),
    request: ({ input }) => ({ path: `api/2/issue/${input.issue_id}/remotelink` }),
    emptyOn: [404],
  },
  extract: {
    writes: [issueCommits],
    dependsOn: ['remotelinkCommitShaPattern', 'remotelinkRepoPattern'],
    *rows(link, { read, scopeConfig }) {
      yield read(remotelinks, link)
      const url: string = link.object?.url ?? ''
      const sha = scopeConfig.commitShaIn(url)
      if (sha) yield read(issueCommits, { id: sha, url })
    },
  },
})
