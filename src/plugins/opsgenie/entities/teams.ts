import { key, string, text } from '../../../database/table.ts'
import { teams as domainTeams } from '../../../domain/people.ts'
import { wholeConnection } from '../../../plugin-kit/index.ts'
import { data, entity, table } from '../kit.ts'

export const teams = table('teams', 'Team', {
  id: key(string(191)),
  name: text(),
  description: text(),
})

export default entity(teams, {
  label: 'Teams',
  domainTypes: ['CROSS'],
  raw: 'opsgenie_teams',
  collect: { request: () => ({ path: 'v2/teams' }), records: data, isForAll: true },
  convert: {
    to: [domainTeams],
    where: wholeConnection,
    // As in DevLake, the name of the team is its id, and the alias is its name.
    rows: ({ id, name }, { idOf }) => [domainTeams.row({ id: idOf(teams, id), name: id, alias: name })],
  },
})
