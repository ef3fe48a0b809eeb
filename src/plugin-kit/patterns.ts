/** Users' patterns: RE2 syntax as in Go, linear time, searched unanchored. */
import { RE2JS } from 're2js'
import { messageOf, UserError } from '../errors.ts'

export type Pattern = RE2JS

export function compilePattern(pattern: string, name: string): Pattern {
  try {
    return RE2JS.compile(pattern)
  } catch (error) {
    throw new UserError(`${name}: the pattern ${JSON.stringify(pattern)} does not compile: ${messageOf(error)}`)
  }
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
