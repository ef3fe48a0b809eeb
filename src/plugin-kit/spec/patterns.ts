/** Users' patterns: RE2 syntax as in Go, linear time, searched unanchored. */
import { RE2JS } from 're2js'
import { z } from 'zod'
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

export interface DeliveryPatterns {
  readonly deploymentPattern?: string | null
  readonly productionPattern?: string | null
}

/** How most build tools decide which runs deploy, and to where. */
export function deliveryRules(patterns: DeliveryPatterns) {
  const deployment = optionalPattern(patterns.deploymentPattern, 'deploymentPattern')
  const production = optionalPattern(patterns.productionPattern, 'productionPattern')
  return {
    typeOf: (...texts: readonly string[]) => (matches(deployment, ...texts) ? 'DEPLOYMENT' : ''),
    /** Without a production pattern everything counts as production. */
    environmentOf: (...texts: readonly string[]) =>
      production === null || matches(production, ...texts) ? 'PRODUCTION' : '',
    /** Without a production pattern nothing counts as production. */
    strictEnvironmentOf: (...texts: readonly string[]) => (matches(production, ...texts) ? 'PRODUCTION' : ''),
  }
}
