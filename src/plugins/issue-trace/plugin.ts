import {
  convertIssueAssigneeHistory,
  convertIssueStatusHistory,
  tracedBoards,
} from '../../metrics/calculate/issue-history.ts'
import { calculations } from '../../metrics/calculate/results.ts'
import { calculation, type Plugin } from '../../plugin-kit/index.ts'

const reads = ['project_mapping', 'board_issues', 'issues', 'issue_changelogs']

export const issueTrace: Plugin = {
  name: 'issue_trace',
  title: 'Issue trace',
  tables: [calculations, tracedBoards],
  options: {
    projectName: { kind: 'text', label: 'Project', isRequired: true, example: 'shop' },
    scopeIds: { kind: 'list', label: 'Ids of boards; all of the project when left out' },
  },
  plans: {
    metric: {
      plan: ({ projectName, domainScopes }) => {
        const scopeIds = domainScopes.filter(({ table }) => table === 'boards').map(({ rowId }) => rowId)
        const subtasks = ['ConvertIssueStatusHistory', 'ConvertIssueAssigneeHistory']
        return [[{ plugin: 'issue_trace', subtasks, options: { projectName, scopeIds } }]]
      },
    },
  },
  leases: ({ projectName }) => (projectName ? [`histories of project ${projectName}`] : []),
  subtasks: [
    calculation(
      { name: 'ConvertIssueStatusHistory', reads, writes: ['issue_status_history'], domainTypes: ['TICKET'] },
      convertIssueStatusHistory,
    ),
    calculation(
      { name: 'ConvertIssueAssigneeHistory', reads, writes: ['issue_assignee_history'], domainTypes: ['TICKET'] },
      convertIssueAssigneeHistory,
    ),
  ],
}
