import { cqIssueCodeBlocks } from '../../../domain/quality.ts'
import { innerJoin } from '../../../plugin-kit/index.ts'
import { entity } from '../kit.ts'
import { codeBlocks, issues } from './issues.ts'

export default entity(codeBlocks, {
  label: 'Issue Code Blocks',
  domainTypes: ['CODEQUALITY'],
  convert: {
    to: [cqIssueCodeBlocks],
    joins: { issue: innerJoin(issues, { connection_id: 'connection_id', issue_key: 'issue_key' }) },
    where: ({ project_key }) => ({ 'issue.project_key': project_key }),
    rows: (block, { idOf }) => [
      cqIssueCodeBlocks.row({
        id: idOf(codeBlocks, block.id),
        issue_key: idOf(issues, block.issue_key),
        component: block.component,
        start_line: block.start_line,
        end_line: block.end_line,
        start_offset: block.start_offset,
        end_offset: block.end_offset,
        msg: block.msg,
      }),
    ],
  },
})
