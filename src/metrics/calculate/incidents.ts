/** Makes incidents from issues, and finds the deployment that each is attributed to. */
import { sql } from 'kysely'
import type { Database } from '../../database/database.ts'
import { projectIncidentDeploymentRelationships } from '../../domain/crossdomain.ts'
import { incidentAssignees, incidents } from '../../domain/ticket.ts'
import { latestDeployments } from '../blame.ts'
import { REFERENCE } from '../policy/policy.ts'
import { accountOfAssignee } from './account-of-assignee.ts'
import {
  type Calculation,
  copied,
  type Forgetting,
  mapped,
  mappedByOthers,
  originOf,
  projectOf,
  raw,
  type Sql,
  word,
  words,
} from './calculation.ts'
import { fill, inTurn, replace, replaceRows } from './results.ts'

/** An incident with an origin was made from an issue. One that somebody wrote by hand has no origin, and is kept. */
const wasIssue = sql`(coalesce(_raw_data_table, '') <> '' or coalesce(_raw_data_params, '') <> '')`
/** The issue of the incident is gone, or has left the board that the incident was made for. */
const hasLeftBoard = sql`incidents.${sql.id('table')} = 'boards' and ${wasIssue} and not exists (
  select 1 from board_issues b where b.board_id = incidents.scope_id and b.issue_id = incidents.id)`

/**
 * Makes one incident for each issue, however many projects have it on their boards. `scope_id` has room for only one board, and
 * gets the same one in every project's run. `board_issues` tells in which projects an incident counts.
 */
export const convertIssuesToIncidents: Calculation = ({ database, options }) =>
  inTurn(database, incidents.name, (inside) =>
    makeIncidents(inside, {
      project: projectOf(options),
      boards: sql`select distinct row_id from project_mapping where ${sql.ref('table')} = 'boards'`,
    }),
  )

/** Incidents that another project has too are assigned to a board of that project. No incident is made that was not there before. */
export const forgetIncidents: Forgetting = (inside, project) =>
  makeIncidents(inside, {
    project,
    boards: sql`select distinct row_id from (${mappedByOthers('boards', project)}) other`,
    among: sql`select id from incidents`,
  })

interface Making {
  /** The incidents of issues on its boards are made again. */
  readonly project: string
  /** All boards that an incident may be assigned to. */
  readonly boards: Sql
  /** Ids of the incidents that may be made. By default any. */
  readonly among?: Sql
}

async function makeIncidents(inside: Database, { project, boards, among }: Making): Promise<number> {
  const select = sql`select ${raw(inside.dialect.joinAsWritten)}`
  const onBoards = sql`select issue_id from board_issues where board_id in (${mapped('boards', project)})`
  const mayBe = among ? sql`and i.id in (${among})` : sql``
  const found = sql`with own as (
      select i.id from issues i where i.type = 'INCIDENT' and i.id in (${onBoards}) ${mayBe}
      union select i.id from issues i where i.type = 'INCIDENT' and i.id in (select id from incidents where ${hasLeftBoard})
    ), found as (
      ${select} own.id as issue_id, max(b.board_id) as board_id
      from own cross join (${boards}) board
      inner join board_issues b on b.board_id = board.row_id and b.issue_id = own.id group by own.id)`
  const made = await replace(inside, {
    table: incidents,
    within: [sql`id in (${onBoards})`, hasLeftBoard],
    with: found,
    columns: {
      ...words('i', 'id', 'url', 'title', 'description', 'status', 'original_status', 'creator_id', 'creator_name'),
      ...words('i', 'priority', 'severity', 'urgency', 'component', 'original_project'),
      ...words('i', 'assignee_name'),
      assignee_id: sql`coalesce(${accountOfAssignee('i')}, '')`,
      incident_key: word('i.issue_key'),
      parent_incident_id: word('i.parent_issue_id'),
      ...copied('i', 'resolution_date', 'created_date', 'updated_date', 'lead_time_minutes'),
      ...copied('i', 'original_estimate_minutes', 'time_spent_minutes', 'time_remaining_minutes'),
      table: sql`'boards'`,
      scope_id: sql`found.board_id`,
      ...originOf('i'),
    },
    from: sql`from found inner join issues i on i.id = found.issue_id where 1 = 1`,
  })
  const isGone = sql`not exists (select 1 from incidents i where i.id = incident_id)`
  const assigned = await replaceRows(
    inside,
    incidentAssignees,
    [sql`incident_id in (${onBoards})`, isGone],
    async (table) => {
      const add = (person: Sql, alias: string, assigned: Sql) =>
        fill(inside, {
          table,
          with: found,
          columns: {
            incident_id: sql`found.issue_id`,
            assignee_id: person,
            ...words(alias, 'assignee_name'),
            ...originOf(alias),
          },
          from: sql`from found inner join ${assigned} where coalesce(${person}, '') <> ''`,
        })
      const latest = await add(accountOfAssignee('i'), 'i', sql`issues i on i.id = found.issue_id`)
      return latest + (await add(sql`a.assignee_id`, 'a', sql`issue_assignees a on a.issue_id = found.issue_id`))
    },
  )
  return made + assigned
}

export const connectIncidentToDeployment: Calculation = ({ database, options }) => {
  const project = projectOf(options)
  const { dialect } = database
  const table = projectIncidentDeploymentRelationships
  return inTurn(database, `${table.name} ${project}`, (inside) =>
    replace(inside, {
      table,
      within: [sql`project_name = ${project}`],
      columns: {
        id: sql`i.id`,
        project_name: sql`${project}`,
        deployment_id: sql`blamed.deployment_id`,
        ...originOf('i'),
      },
      from: sql`from (${latestDeployments({ dialect, project, environment: 'PRODUCTION', policy: REFERENCE })}) blamed
        inner join incidents i on i.id = blamed.incident_id where 1 = 1`,
    }),
  )
}
