/** What users' patterns decide: which names and texts they match, which runs deploy, which issues are incidents. */
import { z } from 'zod'
import { type Delivery, deliveryOf, type Run } from '../../domain/deliveries.ts'
import { typeOrText } from '../../domain/issue-types.ts'
import { messageOf } from '../../errors.ts'
import {
  checkPattern,
  compilePattern,
  ownPattern,
  type Pattern,
  type PatternProblem,
  problemOf,
} from '../../user-patterns.ts'

/** Which texts a pattern matches, as rules do it; an empty pattern matches none. */
export function matchPattern(
  pattern: string,
  texts: readonly string[],
): { readonly matches: readonly boolean[]; readonly problem: PatternProblem | null } {
  const problem = pattern === '' ? null : problemOf(pattern)
  if (problem) return { matches: texts.map(() => false), problem }
  const compiled = pattern === '' ? null : compilePattern(pattern)
  return { matches: texts.map((text) => matches(compiled, text)), problem: null }
}

export interface Groups {
  readonly count: number
  readonly named: Readonly<Record<string, number>>
  /** Of each text: the groups from 1, or null where the pattern finds nothing. */
  readonly found: readonly (readonly (string | null)[] | null)[]
}
/** What a pattern finds in each of some texts. */
export function findGroups(pattern: string, name: string, texts: readonly string[]): Groups {
  const compiled = compilePattern(pattern, name)
  const count = compiled.groupCount()
  return {
    count,
    named: { ...compiled.namedGroups() },
    found: texts.map((text) => {
      const matcher = compiled.matcher(text)
      return matcher.find() ? Array.from({ length: count }, (_, index) => matcher.group(index + 1) ?? null) : null
    }),
  }
}

/** Which of these names a pattern of our own matches. */
export function matchOwn(pattern: string, names: readonly string[]): readonly boolean[] {
  const compiled = pattern === '' ? null : ownPattern(pattern)
  return names.map((name) => matches(compiled, name))
}

/** Matches exactly this text, in any place where a pattern may stand. */
export const exactly = (text: string): string => `^${text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')}$`

/** In the schema of a JSON field. */
export const patternText = z.string('must be text').superRefine((pattern, context) => {
  try {
    checkPattern(pattern)
  } catch (error) {
    context.addIssue({ code: 'custom', message: messageOf(error) })
  }
})

/** Null for an empty or absent pattern, which matches nothing. */
export const optionalPattern = (pattern: string | null | undefined, name: string): Pattern | null =>
  pattern ? compilePattern(pattern, name) : null

export const matches = (pattern: Pattern | null, ...texts: readonly string[]): boolean =>
  pattern !== null && texts.some((text) => pattern.matcher(text).find())

const matcherOf = (pattern: Pattern | null) => (pattern === null ? null : (text: string) => matches(pattern, text))

export interface DeliveryPatterns {
  readonly deploymentPattern?: string | null
  readonly productionPattern?: string | null
  readonly productionBranchPattern?: string | null
}

/** How most build tools decide which runs and jobs deploy, and to where. */
export function deliveryRules(patterns: DeliveryPatterns) {
  const matcher = (name: keyof DeliveryPatterns) => matcherOf(optionalPattern(patterns[name], name))
  const matchers = {
    deployment: matcher('deploymentPattern'),
    production: matcher('productionPattern'),
    productionBranch: matcher('productionBranchPattern'),
  }
  return { deliveryOf: (run: Run): Delivery => deliveryOf(matchers, run) }
}
/** What outcomes of `deliveryOf` depend on. */
export const DELIVERY_FIELDS = ['deploymentPattern', 'productionPattern', 'productionBranchPattern'] as const

/** The text of an issue makes it an incident only if neither its type nor a label says what it is. */
export function incidentTextRule({ issueTextIncident }: { readonly issueTextIncident?: string | null }) {
  const pattern = optionalPattern(issueTextIncident, 'issueTextIncident')
  return (type: string, ...texts: readonly (string | null | undefined)[]): string =>
    typeOrText(type, () => texts.some((text) => matches(pattern, text ?? '')))
}
