/** Finds default rules that a scope config drops. People who write one rule seldom mean to drop the others. */
import { rulesOf, textOf } from '../control-plane/plan/assumptions.ts'
import type { PluginSpec } from '../plugin-kit/spec/plugin.ts'
import { isEmpty, isSame, type State } from './change.ts'

export function droppedRules(source: PluginSpec, before: State | undefined, after: State): string[] {
  return rulesOf(source).flatMap(({ name, label, value }) => {
    const what = `the default rule for ${lowerFirst(label)}: ${name}`
    if (isEmpty(after[name])) return before && isEmpty(before[name]) ? [] : [`drops ${what} ${textOf(value)}`]
    // In a value that is JSON, each name is a separate rule.
    const spoken = (some: unknown) => source.scopeConfig.fields[name]?.spokenNames?.(some ?? null) ?? []
    const isIn = (some: unknown, place: string) => spoken(some).some((each) => each.place === place)
    const dropped = spoken(value).filter(
      ({ place }) => !isIn(after[name], place) && (!before || isIn(before[name], place)),
    )
    if (dropped.length === 0 || isSame(after[name], before?.[name])) return []
    return [`drops from ${what} ${dropped.map(({ place }) => place).join(', ')}`]
  })
}
const lowerFirst = (text: string) => `${text.slice(0, 1).toLowerCase()}${text.slice(1)}`
