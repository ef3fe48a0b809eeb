import { bigint, key, string } from '../../../database/table.ts'
import { issueLabels as domainIssueLabels } from '../../../domain/ticket.ts'
import { issues } from '../issue.ts'
import { entity, ISSUE_SOURCES, onBoard, table } from '../kit.ts'

export const labels = table('issue_labels', 'JiraIssueLabel', {
  issue_id: key(bigint('id')),
  label_name: key(string()),
})

export default entity(labels, {
  label: 'Issue Labels',
  domainTypes: ['TICKET'],
  convert: {
    ...onBoard,
    to: [domainIssueLabels],
    replaces: ISSUE_SOURCES,
    rows: ({ issue_id, label_name }, { idOf }) => [
      domainIssueLabels.row({ issue_id: idOf(issues, issue_id), label_name }),
    ],
  },
})
