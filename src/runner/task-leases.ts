/** Names the leases of a task: the data that only one task may work on at a time. */

import { decimalOf } from '../basics/decimal.ts'
import { domainScopesOf, entitiesOf } from '../control-plane/plan/domain-scopes.ts'
import type { TaskRow } from '../control-plane/runs/pipeline-rows.ts'
import { scopeParams } from '../control-plane/scopes/scope-data.ts'
import { createReader, openOptions } from '../control-plane/sealed.ts'
import type { SettingsRow } from '../control-plane/sources.ts'
import type { Database } from '../database/database.ts'
import { UserError } from '../errors.ts'
import type { PlanTask } from '../plugin-kit/spec/plan.ts'
import type { Plugin, PluginSpec } from '../plugin-kit/spec/plugin.ts'
import { ownerOf } from '../plugin-kit/task/family.ts'
import { findScope, scopeKey } from '../plugin-kit/task/source-task.ts'
import type { Secrets } from '../secrets/secrets.ts'

/** Decrypts the options of a task. If they cannot be read, they count as empty; the task itself fails later with the reason. */
export const optionsOfTask = ({ options }: Pick<TaskRow, 'options'>, secrets: Secrets): PlanTask['options'] =>
  createReader().read('options', () => openOptions(options, secrets), {})

/** The connection that a task works through, if any. */
export function connectionOfTask(
  plugins: readonly Plugin[],
  { plugin, options: { connectionId } }: Pick<PlanTask, 'plugin' | 'options'>,
): string | null {
  const source = plugins.find(({ name }) => name === plugin)?.source
  return source && connectionId ? `${ownerOf(source).name}:${connectionId}` : null
}

/** Returns names of leases. Plugins that share connections also share scopes: github_graphql works on those of github. */
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
  if (plugin.pushSource) return [...own, `${name} ${connectionId}`]
  if (!plugin.source) return own
  try {
    return [
      ...own,
      leaseOfScope(plugin.source, connectionId, await findScope(plugin.source, connectionId, { database, options })),
    ]
  } catch (error) {
    // The task will fail with the same message before it changes anything.
    if (error instanceof UserError) return own
    throw error
  }
}

function leaseOfScope(source: PluginSpec, connectionId: number, scope: SettingsRow): string {
  const key = scope[scopeKey(source)] || scopeParams(source, connectionId, scope)
  return `${ownerOf(source).name} ${connectionId} ${key}`
}

/** The leases of everything that tasks of a scope work on: the scope itself and its repository. */
export const leasesOfScope = (
  plugins: readonly Plugin[],
  source: PluginSpec,
  connectionId: number,
  scope: SettingsRow,
) => [
  leaseOfScope(source, connectionId, scope),
  ...domainScopesOf(source, connectionId, scope, entitiesOf(['CODE'])).flatMap(({ rowId: repoId }) =>
    plugins.flatMap((plugin) => plugin.leases?.({ repoId }) ?? []),
  ),
]
