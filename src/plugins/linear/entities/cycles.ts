import { bigint, key, type RowOf, string, timestamp } from '../../../database/table.ts'
import { boardSprints, sprintIssues, sprints } from '../../../domain/ticket.ts'
import { asSent, entity, table, teamIdColumn, teamList, teams } from '../kit.ts'
import { issues } from './issues.ts'

const cycles = table('cycles', 'LinearCycle', {
  id: key(string(191)),
  team_id: teamIdColumn(),
  number: bigint(),
  name: string(),
  starts_at: timestamp('startsAt'),
  ends_at: timestamp('endsAt'),
  completed_at: timestamp('completedAt'),
})

export const { query, collect } = teamList('cycles', {
  fields: 'id number name startsAt endsAt completedAt',
  filter: ', includeArchived: true',
})

/** DevLake calls cycles that have not begun active too. */
function statusOf({ starts_at, completed_at }: RowOf<typeof cycles>): string {
  if (completed_at) return 'CLOSED'
  return starts_at && starts_at > new Date() ? 'FUTURE' : 'ACTIVE'
}

export default entity(cycles, {
  label: 'Cycles',
  domainTypes: ['TICKET'],
  raw: 'linear_cycles',
  collect,
  extract: { rows: (cycle, { read }) => [read(cycles, asSent(cycle))] },
  convert: {
    to: [sprints, boardSprints],
    rows(cycle, { idOf, scope }) {
      const id = idOf(cycles, cycle.id)
      const board_id = idOf(teams, scope.team_id)
      return [
        sprints.row({
          id,
          name: cycle.name || `Cycle ${cycle.number}`,
          status: statusOf(cycle),
          started_date: cycle.starts_at,
          ended_date: cycle.ends_at,
          completed_date: cycle.completed_at,
          original_board_id: board_id,
        }),
        boardSprints.row({ board_id, sprint_id: id }),
      ]
    },
  },
})

export const sprintIssueEntity = entity(issues, {
  label: 'Sprint Issues',
  domainTypes: ['TICKET'],
  convert: {
    to: [sprintIssues],
    *rows({ id, cycle_id }, { idOf }) {
      if (cycle_id) yield sprintIssues.row({ sprint_id: idOf(cycles, cycle_id), issue_id: idOf(issues, id) })
    },
  },
})
