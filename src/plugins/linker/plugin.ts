import { UserError } from '../../errors.ts'
import { linkedIssues, linkPrToIssue } from '../../metrics/calculate/pull-request-issues.ts'
import { calculations } from '../../metrics/calculate/results.ts'
import { calculation, checkPattern, type Plugin } from '../../plugin-kit/index.ts'

export const linker: Plugin = {
  name: 'linker',
  title: 'Linker',
  tables: [calculations, linkedIssues],
  options: {
    projectName: { kind: 'text', label: 'Project', isRequired: true, example: 'shop' },
    prToIssueRegexp: { kind: 'text', label: 'Finds keys of issues in titles of pull requests', example: '#(\\d+)' },
  },
  plans: {
    metric: {
      plan: ({ projectName, option }) => [
        [
          {
            plugin: 'linker',
            subtasks: ['LinkPrToIssue'],
            options: { projectName, prToIssueRegexp: option.prToIssueRegexp ?? '' },
          },
        ],
      ],
      check: ({ prToIssueRegexp: pattern = null }) => {
        if (pattern === null) return
        if (typeof pattern !== 'string') throw new UserError('pluginOption: prToIssueRegexp must be text.')
        checkPattern(pattern, 'pluginOption: prToIssueRegexp')
      },
    },
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
