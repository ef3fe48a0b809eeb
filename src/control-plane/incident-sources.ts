/** Whether a project has anything that could tell of an incident: without, no incidents is not the same as none happened. */

import { sql } from 'kysely'
import type { Settings } from '../plugin-kit/spec/fields.ts'
import { scopeRulesOf } from './rules-in-force.ts'
import type { ServiceContext } from './services.ts'

type Context = Pick<ServiceContext, 'database' | 'plugins'>

/** Those of the projects that have none. */
export async function projectsWithoutIncidents(context: Context, projects: readonly string[]): Promise<Set<string>> {
  const without = new Set(projects)
  if (without.size === 0) return without
  const table = sql.id('table')
  const isAsked = sql`m.project_name in (${sql.join([...without])})`
  const { rows } = await sql<{ name: string }>`select distinct m.project_name as name from project_mapping m
      where ${isAsked} and exists (select 1 from incidents i where i.${table} = m.${table} and i.scope_id = m.row_id)
    union select distinct m.project_name from project_mapping m
      where ${isAsked} and m.${table} = 'boards' and exists (select 1 from board_issues b
        inner join issues i on i.id = b.issue_id where b.board_id = m.row_id and i.type = 'INCIDENT')`.execute(
    context.database.kysely,
  )
  for (const { name } of rows) without.delete(name)
  for (const name of without) if (await hasIncidentRule(context, name)) without.delete(name)
  return without
}

/** A rule by which an issue would become an incident, written or assumed. */
async function hasIncidentRule(context: Context, project: string): Promise<boolean> {
  const scopes = await scopeRulesOf(context, project)
  return scopes.some(({ entities, settings }) => isTicket(entities) && namesIncident(settings))
}

const isTicket = (entities: unknown) => !Array.isArray(entities) || entities.length === 0 || entities.includes('TICKET')

function namesIncident({ issueTypeIncident, issueTextIncident, typeMappings }: Settings): boolean {
  if (issueTypeIncident || issueTextIncident) return true
  const types = typeMappings !== null && typeof typeMappings === 'object' ? Object.values(typeMappings) : []
  return types.some((type) => String((type as Settings | null)?.standardType).toUpperCase() === 'INCIDENT')
}
