/** What a task works on alone. */
import type { Database } from '../database/database.ts'
import { decimalOf } from '../decimal.ts'
import { UserError } from '../errors.ts'
import type { PluginSpec } from '../plugin-kit/plugin.ts'
import { findScope, scopeKey } from '../plugin-kit/source-task.ts'
import type { Plugin } from '../plugin-kit/subtask.ts'
import { domainScopesOf, entitiesOf } from './plan/domain-scopes.ts'
import type { PlanTask } from './records.ts'
import { scopeParams } from './scope-data.ts'

/** Names of leases. Plugins that share connections share scopes: github_graphql works for github. */
export async function leasesOfTask(
  database: Database,
  plugins: readonly Plugin[],
  { plugin: name, options }: Pick<PlanTask, 'plugin' | 'options'>,
): Promise<readonly string[]> {
  const plugin = plugins.find((each) => each.name === name)
  if (!plugin) return []
  const connectionId = decimalOf(options.connectionId)
  const own = plugin.leases?.(options) ?? []
  if (connectionId === undefined) return own
  if (plugin.feed) return [...own, `${name} ${connectionId}`]
  if (!plugin.source) return own
  try {
    return [
      ...own,
      leaseOfScope(plugin.source, connectionId, await findScope(plugin.source, connectionId, { database, options })),
    ]
  } catch (error) {
    // The task ends with the same sentence before it touches anything.
    if (error instanceof UserError) return own
    throw error
  }
}

function leaseOfScope(source: PluginSpec, connectionId: number, scope: any): string {
  const key = scope[scopeKey(source)] || scopeParams(source, connectionId, scope)
  return `${(source.settingsOf ?? source).name} ${connectionId} ${key}`
}

/** Everything that tasks of a scope work on: itself, and its repository. */
export const leasesOfScope = (plugins: readonly Plugin[], source: PluginSpec, connectionId: number, scope: any) => [
  leaseOfScope(source, connectionId, scope),
  ...domainScopesOf(source, connectionId, scope, entitiesOf(['CODE'])).flatMap(({ rowId: repoId }) =>
    plugins.flatMap((plugin) => plugin.leases?.({ repoId }) ?? []),
  ),
]
