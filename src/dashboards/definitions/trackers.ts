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

/** Makes the dashboard of one tracker. `type`: the column that tells what kind of issue it is. */
function tracker(plugin: string, title: string, type: string, ofWhat: readonly [one: string, many: string]): Dashboard {
  const [board, boards] = ofWhat
  const BOARD = scopesVariable(plugin, 'boards', {
    name: board.toLowerCase(),
    title: board,
    remedy: `No ${board.toLowerCase()} of ${title} was collected: connect ${title}, add ${boards} to a project, and collect.`,
  })
  const ofBoards = sourceIssues(plugin, BOARD.name)
  const column = sql.ref(`i.${type}`)
  const TYPE: Variable = {
    name: 'type',
    title: 'Type',
    isList: true,
    statement: (query) => {
      const { from, where } = ofBoards(query)
      return sql`select distinct ${column} as value, ${column} as label ${from}
        where ${where} and coalesce(${column}, '') <> '' order by value`
    },
    remedy: `The chosen ${boards} have no issues.`,
  }
  const issues = narrowed(ofBoards, TYPE.name, column)
  return {
    name: plugin,
    title,
    question: `How many issues come in and get done on these ${boards}, and how long do they take?`,
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
}

export const jira = tracker('jira', 'Jira', 'original_type', ['Board', 'boards'])
/** Linear has labels, and no types of its own. */
export const linear = tracker('linear', 'Linear', 'type', ['Team', 'teams'])
