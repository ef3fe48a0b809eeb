/** Scopes of a stored connection that have no scope config go by what forms suggest; an empty rule of one stays empty. */

import type { Settings } from '../spec/fields.ts'
import type { PluginSpec } from '../spec/plugin.ts'

export function assumedRules({ settingsOf, scopeConfig }: PluginSpec): Settings {
  if (settingsOf) return assumedRules(settingsOf)
  const assumed = Object.entries(scopeConfig.fields).filter(
    ([, { suggestion, isOnRequest }]) => suggestion !== undefined && suggestion !== '' && !isOnRequest,
  )
  return Object.fromEntries(assumed.map(([name, { suggestion }]) => [name, suggestion]))
}
