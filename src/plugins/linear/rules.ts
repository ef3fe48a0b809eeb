import { incidentTextRule, matches, optionalPattern, type Settings } from '../../plugin-kit/index.ts'

export type Rules = ReturnType<typeof rules>

/** The first of these types whose pattern matches any label decides. */
const TYPES = [
  ['INCIDENT', 'issueTypeIncident'],
  ['BUG', 'issueTypeBug'],
  ['REQUIREMENT', 'issueTypeRequirement'],
] as const

export function rules(settings: Settings) {
  const patterns = TYPES.map(([type, field]) => [type, optionalPattern(settings[field], field)] as const)
  const typeOrText = incidentTextRule(settings)
  return {
    typeOf(labels: readonly string[], ...texts: readonly string[]): string {
      const byLabel = patterns.find(([, pattern]) => matches(pattern, ...labels))?.[0] ?? ''
      return typeOrText(byLabel, ...texts) || 'REQUIREMENT'
    },
  }
}
