import { boards } from '../../../domain/ticket.ts'
import { entity, teams } from '../kit.ts'

export default entity(teams, {
  label: 'Teams',
  domainTypes: ['TICKET'],
  convert: {
    to: [boards],
    replaces: ['linear_teams'],
    rows: ({ team_id, name, description }, { idOf }) => [
      boards.row({ id: idOf(teams, team_id), name, description, type: 'linear' }),
    ],
  },
})
