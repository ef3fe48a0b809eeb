/** Refuses rules that match nothing of what was collected, since they are usually misspelt. */

import { guessOf } from '../basics/nearest.ts'
import { UserError } from '../errors.ts'
import { isFoundInTexts, MOST_NAMES, storedNames } from '../plugin-kit/define/found-names.ts'
import type { Field, Settings } from '../plugin-kit/spec/fields.ts'
import type { PluginSpec } from '../plugin-kit/spec/plugin.ts'
import type { FoundNames } from '../plugin-kit/spec/rule-names.ts'
import { isEmpty, isSame } from './change.ts'
import type { Match, Reconciling } from './context.ts'

const MOST_SHOWN = 5
/** `a`, `a and b`, `a, b and c` */
const LIST = new Intl.ListFormat('en-GB')
const INSIST = 'Correct it, or use --allow-empty.'

interface Rule {
  readonly name: string
  readonly field: Field
  readonly value: unknown
  readonly before: unknown
}

/** Checks rules that the file adds or changes. A default rule may wait for its first match. */
export async function requireMatches(
  { database, match }: Pick<Reconciling, 'database' | 'match'>,
  source: PluginSpec,
  connectionId: number,
  { before, rules }: { readonly before: Settings | undefined; readonly rules: Settings },
): Promise<void> {
  const { fields, names: kinds = {} } = source.scopeConfig
  const changed = Object.entries(rules).flatMap(([name, value]): Rule[] => {
    const field = fields[name]
    const isOld = isEmpty(value) || isSame(value, field?.suggestion) || isSame(value, before?.[name])
    return field && !isOld && (field.names || field.textsOf) ? [{ name, field, value, before: before?.[name] }] : []
  })
  if (changed.length === 0) return
  const found = await storedNames(database, source, connectionId, undefined)
  for (const rule of changed) {
    const { name, field, value } = rule
    const texts = kinds[field.textsOf ?? '']
    if (field.spokenNames) requireSpoken(source, found, rule)
    else if (field.names) await requireNamed(source, found, rule, match)
    else if (texts) {
      const isFound = async (some: readonly string[]) => {
        const { problem, matches } = await match(String(value), some)
        return problem !== null || matches.some(Boolean)
      }
      if ((await isFoundInTexts(database, texts, connectionId, isFound)) !== false) continue
      throw new UserError(`${name} matches none of the ${texts.title} that were collected, nor their texts. ${INSIST}`)
    }
  }
}

/** A pattern must match one of the names, and a list must contain one of them. */
async function requireNamed(
  source: PluginSpec,
  found: FoundNames,
  { name, field, value }: Rule,
  match: Match,
): Promise<void> {
  const known = knownNames(source, found, field.names ?? [])
  if (!known) return
  if (field.kind === 'regex') {
    const { problem, matches } = await match(String(value), known.names)
    if (problem || matches.some(Boolean)) return
  } else if (
    String(value)
      .split(',')
      .some((word) => known.names.includes(word.trim()))
  ) {
    return
  }
  throw new UserError(`${name} matches none of the ${known.titles} that were collected (${known.few}). ${INSIST}`)
}

/** In a value that is JSON, each name is a separate rule. */
function requireSpoken(source: PluginSpec, found: FoundNames, { name, field, value, before }: Rule): void {
  const spoken = (some: unknown) => field.spokenNames?.(some ?? null) ?? []
  const old = [...spoken(before), ...spoken(field.suggestion)]
  for (const each of spoken(value)) {
    if (old.some((other) => isSame(other, each))) continue
    const known = knownNames(source, found, [each.kind], each.isGroup)
    if (!known || known.names.includes(each.name)) continue
    const title = each.isGroup ? `categories of ${known.titles}` : known.titles
    throw new UserError(
      `${name}.${each.place} is none of the ${title} that were collected (${known.few})${guessOf(each.name, known.names)} ${INSIST}`,
    )
  }
}

/** Returns undefined if no names are known, or not all of them. */
function knownNames(
  { scopeConfig: { names: kinds = {} } }: PluginSpec,
  found: FoundNames,
  spokenOf: readonly string[],
  areGroups = false,
) {
  const all = spokenOf.map((kind) => found.get(kind) ?? [])
  const names = [...new Set(all.flat().map(({ name, group }) => (areGroups ? group : name)))]
  if (names.length === 0 || all.some((some) => some.length >= MOST_NAMES)) return undefined
  const titles = LIST.format(spokenOf.map((kind) => kinds[kind]?.title ?? kind))
  const more = names.length > MOST_SHOWN ? ` and ${names.length - MOST_SHOWN} more` : ''
  return { names, titles, few: `${names.slice(0, MOST_SHOWN).join(', ')}${more}` }
}
