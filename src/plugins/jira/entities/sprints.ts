import { bigint, key, string, timestamp } from '../../../database/table.ts'
import { boardSprints as domainBoardSprints, sprints as domainSprints } from '../../../domain/ticket.ts'
import { innerJoin } from '../../../plugin-kit/index.ts'
import { boards, entity, ofBoard, startAt, table } from '../kit.ts'

export const sprints = table('sprints', 'JiraSprint', {
  sprint_id: key(bigint('id')),
  self: string(),
  state: string(),
  name: string(),
  start_date: timestamp('startDate'),
  end_date: timestamp('endDate'),
  complete_date: timestamp('completeDate'),
  origin_board_id: bigint('originBoardId'),
})
const boardSprints = table('board_sprints', 'JiraBoardSprint', { board_id: ofBoard(), sprint_id: key(bigint('id')) })

export default entity(sprints, {
  label: 'Sprints',
  domainTypes: ['TICKET'],
  raw: 'jira_api_sprints',
  collect: {
    request: ({ scope }) => ({ path: `agile/1.0/board/${scope.board_id}/sprint` }),
    paging: startAt(50),
    records: ({ values }) => values,
    emptyOn: [400], // a kanban board has no sprints
  },
  extract: {
    writes: [boardSprints],
    rows: (sprint, { read }) => [read(sprints, sprint), read(boardSprints, sprint)],
  },
  convert: {
    to: [domainSprints, domainBoardSprints],
    joins: { board: innerJoin(boardSprints, { connection_id: 'connection_id', sprint_id: 'sprint_id' }) },
    where: ({ board_id }) => ({ 'board.board_id': board_id }),
    rows(sprint, { idOf, scope }) {
      const id = idOf(sprints, sprint.sprint_id)
      return [
        domainSprints.row({
          id,
          name: sprint.name,
          url: sprint.self,
          status: sprint.state.toUpperCase(),
          started_date: sprint.start_date,
          ended_date: sprint.end_date,
          completed_date: sprint.complete_date,
          original_board_id: idOf(boards, sprint.origin_board_id || null),
        }),
        domainBoardSprints.row({ board_id: idOf(boards, scope.board_id), sprint_id: id }),
      ]
    },
  },
})
