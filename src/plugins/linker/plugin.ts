import { linkedIssues, linkPrToIssue } from '../../metrics/calculate/pull-request-issues.ts'
import { calculations } from '../../metrics/calculate/results.ts'
import { calculation } from '../../plugin-kit/calculation.ts'
import type { Plugin } from '../../plugin-kit/subtask.ts'

export const linker: Plugin = {
  name: 'linker',
  title: 'Linker',
  tables: [calculations, linkedIssues],
  options: {
    projectName: { kind: 'text', label: 'Project', isRequired: true, example: 'shop' },
    prToIssueRegexp: { kind: 'text', label: 'Finds keys of issues in titles of pull requests', example: '#(\\d+)' },
  },
  leases: ({ projectName }) => (projectName ? [`links of project ${projectName}`] : []),
  subtasks: [
    calculation(
      {
        name: 'LinkPrToIssue',
        reads: ['project_mapping', 'pull_requests', 'board_issues', 'issues'],
        writes: ['pull_request_issues'],
        domainTypes: ['CROSS'],
      },
      linkPrToIssue,
    ),
  ],
}
