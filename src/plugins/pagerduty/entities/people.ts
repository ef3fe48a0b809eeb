/** Users and teams as incidents name them. */
import { key, string, text } from '../../../database/table.ts'
import { accounts, teams as domainTeams } from '../../../domain/people.ts'
import { entity, table } from '../kit.ts'

const reference = { id: key(string(191)), url: text('html_url'), name: text('summary') }
export const users = table('users', 'User', reference)
export const teams = table('teams', 'Team', reference)

export const userEntity = entity(users, {
  label: 'Users',
  domainTypes: ['CROSS'],
  convert: {
    to: [accounts],
    rows: ({ id, name }, { idOf }) => [accounts.row({ id: idOf(users, id), full_name: name, user_name: name })],
  },
})

export const teamEntity = entity(teams, {
  label: 'Teams',
  domainTypes: ['CROSS'],
  convert: {
    to: [domainTeams],
    rows: ({ id, name }, { idOf }) => [domainTeams.row({ id: idOf(teams, id), name, alias: name })],
  },
})
