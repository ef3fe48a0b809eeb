/** Suggests rules for the names that were found: the usual rule if it matches, otherwise names that look similar. */

import type { Field } from '../spec/fields.ts'
import { exactly, matchOwn } from '../spec/patterns.ts'
import type { PluginSpec } from '../spec/plugin.ts'
import type { FoundName, FoundNames, NameKind, RuleSuggestion } from '../spec/rule-names.ts'

/** Limit for the names in one rule: nobody would write a pattern with more. */
const MOST_NAMES = 5

export function suggestRules({ scopeConfig }: PluginSpec, found: FoundNames): RuleSuggestion[] {
  const values = new Map<string, string>()
  const suggestions: RuleSuggestion[] = []
  for (const [field, described] of Object.entries(scopeConfig.fields)) {
    if (described.kind !== 'regex') continue
    const texts = scopeConfig.names?.[described.textsOf ?? '']
    if (texts) suggestions.push({ field, ...suggestWords(texts, found.get(described.textsOf ?? '') ?? []) })
    if (!described.names) continue
    const titles = described.names.map((kind) => scopeConfig.names?.[kind]?.title ?? kind)
    const all = described.names.flatMap((kind) => found.get(kind) ?? [])
    const among = described.within ? matching(values.get(described.within) ?? '', all) : all
    const suggestion = suggestionFor(described, among, {
      title: titles[0] ?? 'names',
      isNeedless: described.needlessWith !== undefined && (found.get(described.needlessWith) ?? []).length > 0,
      needlessWith: scopeConfig.names?.[described.needlessWith ?? '']?.title ?? '',
    })
    values.set(field, suggestion.value)
    suggestions.push({ field, ...suggestion })
  }
  return [...suggestions, ...(scopeConfig.suggest?.(found) ?? [])]
}

/** Suggests a pattern of the usual words that occur in these texts. */
function suggestWords({ title, words = [] }: NameKind, texts: readonly FoundName[]): Omit<RuleSuggestion, 'field'> {
  const pattern = (some: readonly string[]) => `(?i)\\b(${some.join('|')})\\b`
  const used = words.filter((word) => matching(pattern([word]), texts).length > 0)
  if (used.length === 0) return { value: '', reason: `No ${title} have words such as ${words[0]}.`, isFound: false }
  return { value: pattern(used), reason: `Matches ${listed(matching(pattern(used), texts))}.`, isFound: true }
}

const matching = (pattern: string, names: readonly FoundName[]): FoundName[] => {
  const matches = matchOwn(
    pattern,
    names.map(({ name }) => name),
  )
  return names.filter((_, index) => matches[index])
}

interface About {
  readonly title: string
  readonly isNeedless: boolean
  readonly needlessWith: string
}

function suggestionFor(
  field: Field,
  names: readonly FoundName[],
  { title, isNeedless, needlessWith }: About,
): Omit<RuleSuggestion, 'field' | 'value'> & { readonly value: string } {
  const usual = typeof field.suggestion === 'string' ? field.suggestion : ''
  if (isNeedless)
    return { value: '', reason: `Not needed: there are ${needlessWith}, and they say it more exactly.`, isFound: false }
  const plain = matching(usual, names)
  const likely = matching(field.looksLike ?? '', names).filter((name) => !plain.includes(name))
  const named = patternOf(likely, (field.size ?? 255) - (plain.length > 0 ? usual.length + 1 : 0))
  if (plain.length > 0 && named)
    return {
      value: `${usual}|${named}`,
      reason: `Matches ${listed(plain)}; ${listed(likely)} looks like it too.`,
      isFound: true,
    }
  if (plain.length > 0) return { value: usual, reason: `Matches ${listed(plain)}.`, isFound: true }
  if (named) return { value: `(?i)${named}`, reason: `${listed(likely)} looks like it.`, isFound: true }
  const isFound = false
  if (names.length === 0)
    return { value: usual, reason: `No ${title} are known yet${usual ? '; this is usual' : ''}.`, isFound }
  const count = names.length === 1 ? 'The one known does not match' : `None of ${names.length} ${title} matches`
  return { value: usual, reason: usual ? `${count} what is usual.` : `None of the ${title} looks like it.`, isFound }
}

function patternOf(names: readonly FoundName[], size: number): string {
  const parts: string[] = []
  for (const { name } of names.slice(0, MOST_NAMES)) {
    const next = exactly(name)
    if ([...parts, next].join('|').length + '(?i)'.length <= size) parts.push(next)
  }
  return parts.join('|')
}

function listed(names: readonly FoundName[]): string {
  const some = names.slice(0, 3).map(({ name, count }) => (count === null ? name : `${name} (${count})`))
  const rest = names.length - some.length
  const all = [...some, ...(rest > 0 ? [`${rest} more`] : [])]
  return all.length === 1 ? String(all[0]) : `${all.slice(0, -1).join(', ')} and ${all.at(-1)}`
}
