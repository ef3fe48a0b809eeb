/**
 * Finds the default rules that apply where no scope config exists. They are listed wherever a plan or number that depends on
 * them is shown.
 */

import { knowing } from '../../database/kysely.ts'
import type { PluginSpec } from '../../plugin-kit/spec/plugin.ts'
import { assumedRules } from '../../plugin-kit/task/assumed-rules.ts'
import { settingsTables } from '../../plugin-kit/task/settings-tables.ts'
import { blueprintScopes, blueprints } from '../../system/projects.ts'
import type { Assumption, BlueprintConnection } from '../records.ts'
import type { ServiceContext } from '../services.ts'
import { scopeKey } from '../sources.ts'
import { findRow, selectRows } from '../store.ts'

type Context = Pick<ServiceContext, 'database' | 'plugins'>
type Connections = readonly Pick<BlueprintConnection, 'pluginName' | 'connectionId' | 'scopes'>[]

export async function assumptionsOf(context: Context, connections: Connections): Promise<Assumption[]> {
  const found = await Promise.all(connections.map((connection) => assumptionOf(context, connection)))
  return found.filter((each) => each !== undefined)
}

export const assumptionsOfProject = async (context: Context, project: string): Promise<Assumption[]> =>
  assumptionsOf(context, await connectionsOfProject(context, project))

/** The connections and scopes that the blueprint of a project collects. */
export async function connectionsOfProject({ database: { kysely } }: Context, project: string): Promise<Connections> {
  const own = kysely.selectFrom(blueprints.name).select('id').where('project_name', '=', project)
  const rows = await selectRows(kysely, blueprintScopes, (query) => query.where('blueprint_id', 'in', own))
  const groups = Map.groupBy(rows, ({ plugin_name, connection_id }) => `${plugin_name} ${connection_id}`)
  return [...groups.values()].map((group) => ({
    pluginName: group[0]?.plugin_name ?? '',
    connectionId: Number(group[0]?.connection_id),
    scopes: group.map(({ scope_id }) => ({ scopeId: scope_id })),
  }))
}

async function assumptionOf(
  { database: { kysely }, plugins }: Context,
  { pluginName, connectionId, scopes }: Connections[number],
): Promise<Assumption | undefined> {
  const source = plugins.find(({ name }) => name === pluginName)?.source
  if (!source || rulesOf(source).length === 0) return undefined
  const key = scopeKey(source)
  const rows = await knowing(kysely, source.scope.table)
    .selectFrom(source.scope.table.name)
    .select(key)
    .where('connection_id', '=', connectionId)
    .where((where) => where.or([where('scope_config_id', 'is', null), where('scope_config_id', '=', 0)]))
    .execute()
  const bare = new Set(rows.map((row) => String((row as Record<string, unknown>)[key])))
  const count = scopes.filter(({ scopeId }) => bare.has(String(scopeId))).length
  if (count === 0) return undefined
  const connection = await findRow(kysely, settingsTables(source).connections, { id: connectionId })
  const name = String(connection?.name ?? connectionId)
  const subject = `${count} ${count === 1 ? 'scope' : 'scopes'} of ${pluginName} connection ${name}`
  return { subject, rules: rulesOf(source) }
}

export const rulesOf = (source: PluginSpec): Assumption['rules'] =>
  Object.entries(assumedRules(source)).map(([name, value]) => ({
    name,
    label: source.scopeConfig.fields[name]?.label ?? '',
    value,
  }))

export const textOf = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value))

/** For people: a heading, and a line for each rule. */
export const assumptionLines = ({ subject, rules }: Assumption): string[] => [
  `Assumed for ${subject} (no scope config):`,
  ...rules.map(({ name, label, value }) => `    ${name}: ${textOf(value)}  (${label})`),
]
