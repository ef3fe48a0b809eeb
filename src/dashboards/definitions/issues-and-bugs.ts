import { sql } from 'kysely'
import type { Dashboard, Variable } from '../dashboard.ts'
import { latestResolvedIssues, oldestOpenIssues, openByPriority, openByStatus } from '../parts/issue-lists.ts'
import {
  issueFlow,
  issuesCreated,
  issuesResolved,
  leadTimeClasses,
  leadTimeSeries,
  meanLeadTime,
  openIssues,
  openIssuesSeries,
} from '../parts/issues.ts'
import { narrowed, projectIssues } from '../populations.ts'
import { INTERVAL, PROJECT } from '../variables.ts'

const TYPE: Variable = {
  name: 'type',
  title: 'Type',
  isList: true,
  statement: (query) => {
    const { from, where } = projectIssues(query)
    return sql`select distinct i.type as value, i.type as label ${from} where ${where} and coalesce(i.type, '') <> '' order by value`
  },
  remedy: 'The project has no issues: add a board to its blueprint, and collect.',
}
const population = narrowed(projectIssues, 'type', sql`i.type`)

export const issuesAndBugs: Dashboard = {
  name: 'issues-and-bugs',
  title: 'Issues and bugs',
  question: 'What came in, what was done, what is open, and how old is it? Choose the type BUG for a bug meeting.',
  group: 'Engineering',
  variables: [PROJECT, TYPE, INTERVAL],
  sections: [
    {
      panels: [issuesCreated(population), issuesResolved(population), meanLeadTime(population), openIssues(population)],
    },
    {
      title: 'Over time',
      panels: [
        issueFlow(population),
        openIssuesSeries(population),
        leadTimeSeries(population),
        leadTimeClasses(population),
      ],
    },
    {
      title: 'What waits',
      panels: [
        openByPriority(population),
        openByStatus(population),
        oldestOpenIssues(population),
        latestResolvedIssues(population),
      ],
    },
  ],
}
