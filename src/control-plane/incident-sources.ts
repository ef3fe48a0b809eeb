/** Whether a project has anything that could tell of an incident: without, no incidents is not the same as none happened. */

import { projectsKnowingIncidents } from '../metrics/read-grades.ts'
import type { Settings } from '../plugin-kit/spec/fields.ts'
import { assumedRules } from '../plugin-kit/task/assumed-rules.ts'
import { settingsTables } from '../plugin-kit/task/settings-tables.ts'
import { connectionsOfProject } from './plan/assumptions.ts'
import type { ServiceContext } from './services.ts'
import type { SettingsRow } from './sources.ts'
import { scopeKey } from './sources.ts'
import { selectRows } from './store.ts'

type Context = Pick<ServiceContext, 'database' | 'plugins'>

/** Those of the projects that have none. */
export async function projectsWithoutIncidents(context: Context, projects: readonly string[]): Promise<Set<string>> {
  const known = await projectsKnowingIncidents(context.database, projects)
  const without = new Set(projects.filter((name) => !known.has(name)))
  for (const name of without) if (await hasIncidentRule(context, name)) without.delete(name)
  return without
}

/** A rule by which an issue would become an incident, written or assumed. */
async function hasIncidentRule(context: Context, project: string): Promise<boolean> {
  const { kysely } = context.database
  for (const { pluginName, connectionId, scopes } of await connectionsOfProject(context, project)) {
    const source = context.plugins.find(({ name }) => name === pluginName)?.source
    if (!source || !RULES.some((name) => name in source.scopeConfig.fields)) continue
    const key = scopeKey(source)
    const rows: Record<string, unknown>[] = await kysely
      .selectFrom(source.scope.table.name)
      .select([key, 'scope_config_id'])
      .where('connection_id', '=', connectionId)
      .execute()
    const own = new Set(scopes.map(({ scopeId }) => String(scopeId)))
    const ids = rows.filter((row) => own.has(String(row[key]))).map((row) => Number(row.scope_config_id ?? 0))
    if (ids.includes(0) && namesIncident(assumedRules(source))) return true
    const { scopeConfigs, settingsOf } = settingsTables(source)
    const configs = await selectRows(kysely, scopeConfigs, (query) => query.where('id', 'in', [...ids, 0]))
    const isTicket = ({ entities }: SettingsRow) =>
      !Array.isArray(entities) || entities.length === 0 || entities.includes('TICKET')
    if (configs.some((row) => isTicket(row) && namesIncident(settingsOf(scopeConfigs, row)))) return true
  }
  return false
}

const RULES = ['issueTypeIncident', 'typeMappings'] as const

function namesIncident({ issueTypeIncident, typeMappings }: Settings): boolean {
  if (issueTypeIncident) return true
  const types = typeMappings !== null && typeof typeMappings === 'object' ? Object.values(typeMappings) : []
  return types.some((type) => String((type as Settings | null)?.standardType).toUpperCase() === 'INCIDENT')
}
