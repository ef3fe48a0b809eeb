import { boards as domainBoards } from '../../../domain/ticket.ts'
import { boards, entity } from '../kit.ts'

export default entity(boards, {
  label: 'Board',
  domainTypes: ['TICKET'],
  convert: {
    to: [domainBoards],
    replaces: ['jira_api_boards'],
    rows: ({ board_id, name, self, type }, { idOf }) => [
      domainBoards.row({ id: idOf(boards, board_id), name, url: self, type }),
    ],
  },
})
