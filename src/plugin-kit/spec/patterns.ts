/** Users' patterns: RE2 syntax as in Go, linear time, searched unanchored. */
import { RE2JS } from 're2js'
import { z } from 'zod'
import { type Delivery, deliveryOf, type Run } from '../../domain/deliveries.ts'
import { typeOrText } from '../../domain/issue-types.ts'
import { messageOf, UserError } from '../../errors.ts'

export type Pattern = RE2JS

export interface PatternProblem {
  readonly message: string
  /** The character, from 0, that it is about. */
  readonly at: number
}

/** Without a name, the caller says which setting holds the pattern. */
export function compilePattern(pattern: string, name = ''): Pattern {
  const compiled = tryPattern(pattern)
  if (!('problem' in compiled)) return compiled.pattern
  const { message, at } = compiled.problem
  throw new UserError(
    `${name && `${name}: `}the pattern ${JSON.stringify(pattern)} does not compile: ${message} at character ${at + 1}`,
  )
}

function tryPattern(pattern: string): { readonly pattern: Pattern } | { readonly problem: PatternProblem } {
  try {
    return { pattern: RE2JS.compile(pattern) }
  } catch (error) {
    const { error: message = messageOf(error), input } = error as { error?: string; input?: string | null }
    return { problem: { message, at: placeOf(pattern, message, input ?? '') } }
  }
}

/** Which texts a pattern matches, as rules do it; an empty pattern matches none. */
export function matchPattern(
  pattern: string,
  texts: readonly string[],
): { readonly matches: readonly boolean[]; readonly problem: PatternProblem | null } {
  const compiled = pattern === '' ? { pattern: null } : tryPattern(pattern)
  if ('problem' in compiled) return { matches: texts.map(() => false), problem: compiled.problem }
  return { matches: texts.map((text) => matches(compiled.pattern, text)), problem: null }
}

/** Matches exactly this text, in any place where a pattern may stand. */
export const exactly = (text: string): string => `^${text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')}$`

/** In the schema of a JSON field. */
export const patternText = z
  .string('must be text')
  .max(10_000)
  .superRefine((pattern, context) => {
    try {
      compilePattern(pattern)
    } catch (error) {
      context.addIssue({ code: 'custom', message: messageOf(error) })
    }
  })

/** RE2 names the piece that it cannot read; for a parenthesis without its other half it names the whole pattern. */
function placeOf(pattern: string, problem: string, piece: string): number {
  if (!problem.endsWith(')')) return piece === '' ? pattern.length - 1 : Math.max(0, pattern.indexOf(piece))
  const open: number[] = []
  // Escaped characters and those in [classes] are skipped whole.
  for (const { 0: part, index } of pattern.matchAll(/\\.|\[\^?\]?(?:\\.|[^\]\\])*\]?|[()]/gs)) {
    if (part === '(') open.push(index)
    else if (part === ')' && open.pop() === undefined) return index
  }
  return open.at(-1) ?? 0
}

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
