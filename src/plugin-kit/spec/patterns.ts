/** Applies patterns of users: to names and texts, to decide which runs deploy, and which issues are incidents. */
import { z } from 'zod'
import {
  checkPattern,
  compilePattern,
  ownPattern,
  type Pattern,
  type PatternProblem,
  problemOf,
} from '../../basics/user-patterns.ts'
import { type Delivery, deliveryOf, type Run } from '../../domain/deliveries.ts'
import { typeOrText } from '../../domain/issue-types.ts'
import { messageOf } from '../../errors.ts'

/** Tells for each text whether a pattern matches it, in the same way as rules do. An empty pattern matches none. */
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
  /** For each text, the groups from 1 on, or null if the pattern does not match. */
  readonly found: readonly (readonly (string | null)[] | null)[]
}
/** Finds the groups of a pattern in each text. */
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

/** Tells for each name whether one of our own patterns matches it. */
export function matchOwn(pattern: string, names: readonly string[]): readonly boolean[] {
  const compiled = pattern === '' ? null : ownPattern(pattern)
  return names.map((name) => matches(compiled, name))
}

/** A pattern that matches exactly this text; it can also be part of a larger pattern. */
export const exactly = (text: string): string => `^${text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')}$`

/** A pattern in the schema of a JSON field. */
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

interface DeliveryPatterns {
  readonly deploymentPattern?: string | null
  readonly productionPattern?: string | null
  readonly productionBranchPattern?: string | null
}

/** Decides for most build tools which runs and jobs deploy, and to where. */
export function deliveryRules(patterns: DeliveryPatterns) {
  const matcher = (name: keyof DeliveryPatterns) => matcherOf(optionalPattern(patterns[name], name))
  const matchers = {
    deployment: matcher('deploymentPattern'),
    production: matcher('productionPattern'),
    productionBranch: matcher('productionBranchPattern'),
  }
  return { deliveryOf: (run: Run): Delivery => deliveryOf(matchers, run) }
}
/** The fields on which the result of `deliveryOf` depends. */
export const DELIVERY_FIELDS = ['deploymentPattern', 'productionPattern', 'productionBranchPattern'] as const

/** The text of an issue makes it an incident only if neither its type nor a label says what it is. */
export function incidentTextRule({ issueTextIncident }: { readonly issueTextIncident?: string | null }) {
  const pattern = optionalPattern(issueTextIncident, 'issueTextIncident')
  return (type: string, ...texts: readonly (string | null | undefined)[]): string =>
    typeOrText(type, () => texts.some((text) => matches(pattern, text ?? '')))
}
