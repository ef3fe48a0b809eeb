/** Adds scopes that newly match the selectors of a blueprint to it, before the blueprint runs. */

import { counted } from '../basics/counted.ts'
import { joined } from '../control-plane/blueprints/blueprint-rows.ts'
import type { Blueprint, BlueprintConnection } from '../control-plane/records.ts'
import type { ServiceContext, Services } from '../control-plane/services.ts'
import { sourceNamed } from '../control-plane/sources.ts'
import type { Database } from '../database/database.ts'
import { messageOf } from '../errors.ts'
import { chooseScopes } from './selectors.ts'
import { idOfScope, scopesOf } from './stored-scopes.ts'
import { type ConnectionSelectors, readSelectors } from './stored-selectors.ts'

type Context = Pick<ServiceContext, 'database' | 'plugins' | 'log'>

/** The longest wait for the lists of sources. After that, only scopes that are already known are collected. */
const PATIENCE_MS = 60_000

/** An aborted signal ends it with the reason of the signal. Selectors that others have changed meanwhile are not overwritten. */
export async function adoptScopes(
  context: Context,
  services: Services,
  blueprint: Blueprint,
  signal = new AbortController().signal,
): Promise<Blueprint> {
  const rulesIn = async (database: Database) =>
    blueprint.mode === 'NORMAL' ? readSelectors(database, blueprint.id) : []
  const rules = await rulesIn(context.database)
  if (rules.length === 0) return blueprint
  const either = AbortSignal.any([signal, AbortSignal.timeout(PATIENCE_MS)])
  const found: BlueprintConnection[] = []
  for (const rule of rules) {
    try {
      const chosen = await chosenBy(context, services, rule, either)
      if (chosen.scopes.length > 0) found.push(chosen)
    } catch (error) {
      signal.throwIfAborted()
      // Known scopes are collected anyway, and the tasks of a source that is down report that.
      context.log.warn(
        `${blueprint.name}: new scopes of ${rule.plugin} connection ${rule.connectionId} were not looked for: ${messageOf(error)}`,
      )
    }
  }
  if (!joined(blueprint.connections, found)) return blueprint
  const asked = JSON.stringify(rules)
  const grown = await services.blueprints.addScopes(blueprint.id, async (_current, database) =>
    JSON.stringify(await rulesIn(database)) === asked ? found : [],
  )
  const count = countScopes(grown) - countScopes(blueprint)
  if (count > 0) {
    context.log.info(`${blueprint.name}: its selectors added ${counted(count, 'new scope')}`)
  }
  return grown
}

/** Returns the scopes that the selectors of a connection choose now, and stores those that are new. */
async function chosenBy(
  { plugins }: Context,
  services: Services,
  { plugin, connectionId, selectors }: ConnectionSelectors,
  signal: AbortSignal,
): Promise<BlueprintConnection> {
  const source = sourceNamed(plugins, plugin)
  const settings = await services.connections.reveal(plugin, connectionId)
  const known = new Set((await scopesOf(services, plugin, connectionId)).map((scope) => idOfScope(source, scope)))
  const ids = new Set<string>()
  for (const { scopeConfigId, ...selector } of selectors) {
    const chosen = await chooseScopes(source, settings, selector, signal)
    const scopes = chosen.map((data) => ({ ...data, ...(scopeConfigId && { scopeConfigId }) }))
    const unknown = scopes.filter((scope) => !known.has(idOfScope(source, scope)))
    if (unknown.length > 0) await services.scopes.add(plugin, connectionId, unknown)
    for (const scope of scopes) ids.add(idOfScope(source, scope))
  }
  return { pluginName: plugin, connectionId, scopes: [...ids].map((scopeId) => ({ scopeId })) }
}

const countScopes = ({ connections }: Blueprint) => connections.reduce((sum, { scopes }) => sum + scopes.length, 0)
