import { rulesOf } from '../control-plane/plan/assumptions.ts'
import type { Assumption } from '../control-plane/records.ts'
import type { PluginSpec } from '../plugin-kit/spec/plugin.ts'
import type { ChosenScope } from './choose.ts'
import type { SelectorConfig } from './document.ts'

const MOST_NAMED = 20

/** Finds the default rules for those chosen scopes that have no scope config. A plan names these rules before anything is collected. */
export function assumedFor(
  source: PluginSpec,
  project: string,
  { connection, scopes }: SelectorConfig,
  chosen: readonly ChosenScope[],
  bare: readonly ChosenScope[],
): Assumption | undefined {
  const rules = rulesOf(source)
  // Scopes that match later will not have a scope config either.
  if (rules.length === 0 || (chosen.length > 0 && bare.length === 0)) return undefined
  const names =
    bare.length === chosen.length
      ? scopes.map((each) => (typeof each === 'string' ? each : String(each.fullName ?? each.name ?? 'one')))
      : bare.map(({ id, data }) => String(data.fullName ?? data.name ?? id))
  const more = names.length > MOST_NAMED ? ` and ${names.length - MOST_NAMED} more` : ''
  return { subject: `${names.slice(0, MOST_NAMED).join(', ')}${more} of ${connection} in project ${project}`, rules }
}
