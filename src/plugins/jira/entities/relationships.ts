import { bigint, key, string } from '../../../database/table.ts'
import { issueRelationships } from '../../../domain/ticket.ts'
import { issues } from '../issue.ts'
import { entity, ISSUE_SOURCES, onBoard, table } from '../kit.ts'

/** A link has the other issue at one of its two ends. The id at the opposite end is 0. */
export const relationships = table('issue_relationships', 'JiraIssueRelationship', {
  issue_id: key(bigint()),
  issue_key: string(),
  type_id: bigint('type.id'),
  type_name: string('type.name'),
  inward: string('type.inward'),
  outward: string('type.outward'),
  inward_issue_id: key(bigint((link) => link.inwardIssue?.id ?? 0)),
  inward_issue_key: string('inwardIssue.key'),
  outward_issue_id: key(bigint((link) => link.outwardIssue?.id ?? 0)),
  outward_issue_key: string('outwardIssue.key'),
})

export default entity(relationships, {
  label: 'Issue Relationships',
  domainTypes: ['TICKET'],
  convert: {
    ...onBoard,
    to: [issueRelationships],
    replaces: ISSUE_SOURCES,
    rows: (link, { idOf }) => [
      issueRelationships.row({
        source_issue_id: idOf(issues, link.issue_id),
        target_issue_id: idOf(issues, link.inward_issue_id || link.outward_issue_id),
        original_type: link.inward_issue_id ? link.inward : link.outward,
      }),
    ],
  },
})
