/** Scopes of a stored connection without a scope config use the rules that forms suggest. An empty rule of a scope config stays empty. */

import type { Settings } from '../spec/fields.ts'
import type { PluginSpec } from '../spec/plugin.ts'
import { ownerOf } from './family.ts'

export function assumedRules({ settingsOf, scopeConfig }: PluginSpec): Settings {
  if (settingsOf) return assumedRules(settingsOf)
  const assumed = Object.entries(scopeConfig.fields).filter(
    ([, { suggestion, isOnRequest }]) => suggestion !== undefined && suggestion !== '' && !isOnRequest,
  )
  return Object.fromEntries(assumed.map(([name, { suggestion }]) => [name, suggestion]))
}

/**
 * The rules of a scope: those of its scope config or, if it has none, the default rules. Rules in `tried` replace them; rules
 * that `tried` leaves out stay, and rules that the source does not have are ignored.
 */
export function rulesOfScope(source: PluginSpec, config: Settings | undefined, tried: Settings = {}): Settings {
  const { fields } = ownerOf(source).scopeConfig
  const known = Object.entries(tried).filter(([name, value]) => name in fields && value !== undefined)
  return { ...(config ?? assumedRules(source)), ...Object.fromEntries(known) }
}
