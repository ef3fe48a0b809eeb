import { sql } from 'kysely'
import type { Dashboard, Variable } from '../dashboard.ts'
import { oldestOpenIssues, openByPriority, openByStatus } from '../parts/issue-lists.ts'
import {
  deliveryRate,
  deliveryRateSeries,
  issueFlow,
  issuesCreated,
  leadTimeClasses,
  leadTimeOfMost,
  leadTimeSeries,
  meanLeadTime,
  storyPoints,
} from '../parts/issues.ts'
import { narrowed, scopesVariable, sourceIssues } from '../populations.ts'
import { INTERVAL } from '../variables.ts'

const PLUGIN = 'jira'
const BOARD = scopesVariable(PLUGIN, 'boards', {
  name: 'board',
  title: 'Board',
  remedy: 'No board of Jira was collected: connect Jira, add boards to a project, and collect.',
})
const ofBoards = sourceIssues(PLUGIN, BOARD.name)
const TYPE: Variable = {
  name: 'type',
  title: 'Type',
  isList: true,
  statement: (query) => {
    const { from, where } = ofBoards(query)
    return sql`select distinct i.original_type as value, i.original_type as label ${from}
      where ${where} and coalesce(i.original_type, '') <> '' order by value`
  },
  remedy: 'The chosen boards have no issues.',
}
const issues = narrowed(ofBoards, TYPE.name, sql`i.original_type`)

export const jira: Dashboard = {
  name: 'jira',
  title: 'Jira',
  question: 'How many issues come in and get done on these boards, and how long do they take?',
  group: 'Sources',
  variables: [BOARD, TYPE, INTERVAL],
  sections: [
    { panels: [issuesCreated(issues), deliveryRate(issues), meanLeadTime(issues), leadTimeOfMost(issues)] },
    {
      title: 'Over time',
      panels: [issueFlow(issues), deliveryRateSeries(issues), leadTimeSeries(issues), storyPoints(issues)],
    },
    {
      title: 'How long, and what waits',
      panels: [
        { ...leadTimeClasses(issues), width: 8 },
        { ...openByPriority(issues), width: 8 },
        { ...openByStatus(issues), width: 8 },
        oldestOpenIssues(issues),
      ],
    },
  ],
}
