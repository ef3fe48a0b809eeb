import { sql } from 'kysely'
import type { Variable } from './dashboard.ts'

export const PROJECT: Variable = {
  name: 'project',
  title: 'Project',
  statement: () => sql`select name as value, name as label from projects order by name`,
  remedy: 'There is no project yet: create one, and collect.',
}

export const REPORT: Variable = { name: 'dora_report', title: 'DORA report', options: ['2023', '2021'] }

export const INTERVAL: Variable = { name: 'interval', title: 'Interval', options: ['month', 'week', 'day'] }

export const TEAM: Variable = {
  name: 'team',
  title: 'Team',
  statement: () => sql`select id as value, name as label from teams order by name, id`,
  remedy: 'There is no team yet: import teams and users in the settings.',
}

/** Repositories of the chosen project. */
export const REPOSITORY: Variable = {
  name: 'repository',
  title: 'Repository',
  isList: true,
  statement: (query) => sql`select repos.id as value, repos.name as label from project_mapping m
    inner join repos on repos.id = m.row_id where m.project_name = ${query.variable('project')} and m.${sql.id('table')} = 'repos'
    order by repos.name, repos.id`,
  remedy: 'The project has no repository: add one to its blueprint.',
}
