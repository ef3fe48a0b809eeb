/** Finds projects that have no source of incidents. For them, zero incidents does not mean that none happened. */

import { projectsKnowingIncidents } from '../../metrics/grades/read-grades.ts'
import type { Settings } from '../../plugin-kit/spec/fields.ts'
import { scopeRulesOf } from '../scopes/rules-in-force.ts'
import type { ServiceContext } from '../services.ts'

type Context = Pick<ServiceContext, 'database' | 'plugins'>

/** Returns those of `projects` that have no source of incidents. */
export async function projectsWithoutIncidents(context: Context, projects: readonly string[]): Promise<Set<string>> {
  const known = await projectsKnowingIncidents(context.database, projects)
  const without = new Set(projects.filter((name) => !known.has(name)))
  for (const name of without) if (await hasIncidentRule(context, name)) without.delete(name)
  return without
}

/** True when a rule, written or default, would turn an issue into an incident. */
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
