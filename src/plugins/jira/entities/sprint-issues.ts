import { bigint, key, timestamp } from '../../../database/table.ts'
import { sprintIssues as domainSprintIssues } from '../../../domain/ticket.ts'
import { wholeConnection } from '../../../plugin-kit/index.ts'
import { issues } from '../issue.ts'
import { entity, ISSUE_SOURCES, table } from '../kit.ts'
import { sprints } from './sprints.ts'

export const sprintIssues = table('sprint_issues', 'JiraSprintIssue', {
  sprint_id: key(bigint()),
  issue_id: key(bigint('id')),
  resolution_date: timestamp('fields.resolutiondate'),
  issue_created_date: timestamp('fields.created'),
})

export default entity(sprintIssues, {
  label: 'Sprint Issues',
  domainTypes: ['TICKET'],
  convert: {
    to: [domainSprintIssues],
    replaces: ISSUE_SOURCES,
    // A sprint may hold issues that this board does not show.
    where: wholeConnection,
    rows: ({ sprint_id, issue_id }, { idOf }) => [
      domainSprintIssues.row({ sprint_id: idOf(sprints, sprint_id), issue_id: idOf(issues, issue_id) }),
    ],
  },
})
