import type { RawRecord } from '../../../database/table.ts'
import { eachIssue } from '../issue.ts'
import { entity } from '../kit.ts'
import { issueCommits } from './issue-commits.ts'

export default entity(issueCommits, {
  label: 'Development Panel',
  names: { extract: 'ExtractDevelopmentPanel' },
  domainTypes: ['TICKET'],
  raw: 'jira_api_development_panels',
  collect: {
    when: ({ scopeConfig }) => scopeConfig.applicationType !== '',
    forEach: eachIssue(),
    request: ({ input, scopeConfig }) => ({
      path: 'dev-status/1.0/issue/detail',
      query: { issueId: input.issue_id, applicationType: scopeConfig.applicationType, dataType: 'repository' },
    }),
    records: (body) => (body.detail?.length > 0 ? [body] : []),
    emptyOn: [400],
  },
  extract: {
    *rows(panel, { read }) {
      const repositories = (panel.detail ?? [panel]).flatMap((detail: RawRecord) => detail.repositories ?? [])
      for (const { url, commits } of repositories) {
        for (const commit of commits ?? []) yield read(issueCommits, commit, { repo_url: url })
      }
    },
  },
})
