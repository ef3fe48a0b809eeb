import { cqIssueImpacts } from '../../../domain/quality.ts'
import { innerJoin } from '../../../plugin-kit/index.ts'
import { entity } from '../kit.ts'
import { issueImpacts, issues } from './issues.ts'

export default entity(issueImpacts, {
  label: 'Issue Impacts',
  domainTypes: ['CODEQUALITY'],
  convert: {
    to: [cqIssueImpacts],
    joins: { issue: innerJoin(issues, { connection_id: 'connection_id', issue_key: 'issue_key' }) },
    where: ({ project_key }) => ({ 'issue.project_key': project_key }),
    rows: ({ issue_key, software_quality, severity }, { idOf }) => [
      cqIssueImpacts.row({ cq_issue_id: idOf(issues, issue_key), software_quality, severity }),
    ],
  },
})
