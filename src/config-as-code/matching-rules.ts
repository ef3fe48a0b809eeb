/** A rule that matches nothing of what was collected is misspelt more often than meant. */
import { UserError } from '../errors.ts'
import { MOST_NAMES, storedNames } from '../plugin-kit/define/found-names.ts'
import type { Settings } from '../plugin-kit/spec/fields.ts'
import type { PluginSpec } from '../plugin-kit/spec/plugin.ts'
import { isSame } from './change.ts'
import type { Reconciling } from './context.ts'

const MOST_SHOWN = 5

/** Looks at rules that the file brings or changes; a default rule may wait for its first match. */
export async function requireMatches(
  { database, match }: Pick<Reconciling, 'database' | 'match'>,
  source: PluginSpec,
  connectionId: number,
  { before, rules }: { readonly before: Settings | undefined; readonly rules: Settings },
): Promise<void> {
  const { fields, names: kinds = {} } = source.scopeConfig
  const changed = Object.entries(rules).filter(
    ([name, value]) =>
      fields[name]?.kind === 'regex' &&
      fields[name].names &&
      value &&
      !isSame(value, fields[name].suggestion) &&
      !isSame(value, before?.[name]),
  )
  if (changed.length === 0) return
  const found = await storedNames(database, source, connectionId, undefined)
  for (const [name, value] of changed) {
    const spokenOf = fields[name]?.names ?? []
    const known = spokenOf.flatMap((kind) => (found.get(kind) ?? []).map((each) => each.name))
    const isWhole = spokenOf.every((kind) => (found.get(kind) ?? []).length < MOST_NAMES)
    if (known.length === 0 || !isWhole) continue
    const { problem, matches } = await match(String(value), known)
    if (problem || matches.some(Boolean)) continue
    const titles = spokenOf.map((kind) => kinds[kind]?.title ?? kind).join(' and ')
    const shown = known.slice(0, MOST_SHOWN).join(', ')
    const more = known.length > MOST_SHOWN ? ` and ${known.length - MOST_SHOWN} more` : ''
    throw new UserError(
      `${name} matches none of the ${titles} that were collected (${shown}${more}). Correct it, or use --allow-empty.`,
    )
  }
}
