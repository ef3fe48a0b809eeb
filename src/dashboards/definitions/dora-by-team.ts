import { sql } from 'kysely'
import { changeFailureRate } from '../../metrics/definitions/change-failure-rate.ts'
import { changeLeadTime } from '../../metrics/definitions/change-lead-time.ts'
import { deploymentFrequency } from '../../metrics/definitions/deployment-frequency.ts'
import { recoveryTime } from '../../metrics/definitions/recovery-time.ts'
import { timeToRestore } from '../../metrics/definitions/time-to-restore.ts'
import type { Metric } from '../../metrics/metric.ts'
import { summarized } from '../../metrics/read/read.ts'
import { count, minutes, text } from '../columns.ts'
import type { Dashboard, Panel, PanelQuery } from '../dashboard.ts'
import { gradesPanel } from '../grades.ts'
import { numberPanel, seriesPanel } from '../panels.ts'
import { countedItems, type Narrowing } from '../statements.ts'
import { INTERVAL, PROJECT, REPORT, TEAM } from '../variables.ts'

const narrowing = (query: PanelQuery): Narrowing => ({ team: query.variable('team') })
const OF_A_TEAM =
  'A deployment belongs to the team of the author of its commit, a pull request to that of its author, an incident to that of its assignee.'

const members: Panel = {
  name: 'members',
  title: 'Who belongs to the team',
  definition:
    'Members of the team and the accounts that are known to be theirs. What a person does with another account does not count for the team.',
  look: 'table',
  columns: { name: text('Name'), email: text('E-mail'), accounts: count('Accounts') },
  statement: (query) => sql`select u.name, u.email, count(ua.account_id) as accounts from team_users tu
    inner join users u on u.id = tu.user_id left join user_accounts ua on ua.user_id = u.id
    where tu.team_id = ${query.variable('team')} group by u.id, u.name, u.email order by u.name, u.id limit 500`,
  remedy: 'The team has no members: import teams and users in the settings.',
}

/** Shows items by the teams of the owner of the account that they contain. */
const byTeam = (metric: Metric): Panel => ({
  name: `${metric.name}-of-teams`,
  title: `${metric.title} of all teams`,
  definition: `${metric.definition} Somebody in two teams counts for both. ${OF_A_TEAM}`,
  look: 'ranking',
  better: metric.better,
  columns: { team: text('Team'), value: minutes(metric.title), counted: count('Items') },
  statement: (query) => {
    const items = sql`select item.id, item.value, tu.team_id from (${countedItems(query, metric)}) item
      inner join user_accounts ua on ua.account_id = item.account inner join team_users tu on tu.user_id = ua.user_id`
    return sql`select coalesce(nullif(teams.name, ''), own.team_id) as team, own.value, own.counted
      from (${summarized(query.dialect, metric, items, { team_id: sql`team_id` })}) own left join teams on teams.id = own.team_id
      order by own.value desc, team, own.team_id limit 50`
  },
  remedy: 'Nothing of this range was done by an account of a team: import teams and users in the settings.',
})

export const doraByTeam: Dashboard = {
  name: 'dora-by-team',
  title: 'DORA by team',
  question: 'How fast and how safely does one team deliver in a project, and how do teams compare?',
  group: 'Delivery',
  variables: [PROJECT, TEAM, REPORT, INTERVAL],
  sections: [
    {
      panels: [
        numberPanel(deploymentFrequency, { narrowing }),
        numberPanel(changeLeadTime, { narrowing }),
        numberPanel(changeFailureRate, { narrowing }),
        numberPanel(recoveryTime, { narrowing }),
      ],
    },
    { panels: [gradesPanel(narrowing)] },
    {
      title: 'Over time',
      panels: [
        seriesPanel(deploymentFrequency, { narrowing, title: 'Deployments' }),
        seriesPanel(changeLeadTime, { narrowing }),
        seriesPanel(changeFailureRate, { narrowing }),
        seriesPanel(timeToRestore, { narrowing }),
      ],
    },
    { title: 'Teams', panels: [byTeam(changeLeadTime), byTeam(timeToRestore), members] },
  ],
}
