/** Before a blueprint runs: scopes that have come to match its selectors join it. */
import { messageOf } from '../errors.ts'
import type { Blueprint, BlueprintConnection } from '../pipelines/records.ts'
import type { ServiceContext, Services } from '../pipelines/services.ts'
import { sourceNamed } from '../pipelines/sources.ts'
import { idOfScope, scopesOf } from './reconcile-project.ts'
import { chooseScopes } from './selectors.ts'
import { readSelectors } from './stored-selectors.ts'

type Context = Pick<ServiceContext, 'database' | 'plugins' | 'log'>

export async function adoptScopes(context: Context, services: Services, blueprint: Blueprint): Promise<Blueprint> {
  const rules = blueprint.mode === 'NORMAL' ? await readSelectors(context.database, blueprint.id) : []
  if (rules.length === 0) return blueprint
  const connections = blueprint.connections.map((each) => ({ ...each, scopes: [...each.scopes] }))
  let count = 0
  for (const { plugin, connectionId, selectors } of rules) {
    try {
      const source = sourceNamed(context.plugins, plugin)
      const settings = await services.connections.reveal(plugin, connectionId)
      const known = new Set((await scopesOf(services, plugin, connectionId)).map((scope) => idOfScope(source, scope)))
      for (const { scopeConfigId, ...selector } of selectors) {
        for (const data of await chooseScopes(source, settings, selector)) {
          const scopeId = idOfScope(source, data)
          const scope = { ...data, ...(scopeConfigId && { scopeConfigId }) }
          if (!known.has(scopeId)) await services.scopes.put(plugin, connectionId, [scope])
          if (join(connections, plugin, connectionId, scopeId)) count++
        }
      }
    } catch (error) {
      // What is known is collected all the same; a source that is down is told by its own tasks.
      context.log.warn(
        `${blueprint.name}: new scopes of ${plugin} connection ${connectionId} were not looked for: ${messageOf(error)}`,
      )
    }
  }
  if (count === 0) return blueprint
  context.log.info(`${blueprint.name}: ${count} new scopes match its selectors and are collected from now on`)
  await services.blueprints.update(blueprint.id, { connections })
  // Not what the service shows: plans in it are masked.
  return { ...blueprint, connections }
}

type Growing = Omit<BlueprintConnection, 'scopes'> & { scopes: { scopeId: string }[] }

/** True when it was not there yet. */
function join(connections: Growing[], pluginName: string, connectionId: number, scopeId: string): boolean {
  let own = connections.find((each) => each.pluginName === pluginName && each.connectionId === connectionId)
  if (!own) {
    own = { pluginName, connectionId, scopes: [] }
    connections.push(own)
  }
  if (own.scopes.some((scope) => scope.scopeId === scopeId)) return false
  own.scopes.push({ scopeId })
  return true
}
