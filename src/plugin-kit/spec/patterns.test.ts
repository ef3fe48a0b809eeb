import { describe, expect, it, test } from 'vitest'
import { compilePattern } from '../../basics/user-patterns.ts'
import { UserError } from '../../errors.ts'
import { deliveryRules, matches, optionalPattern } from './patterns.ts'

describe('patterns', () => {
  it('are searched anywhere, with flags as in Go', () => {
    expect(matches(compilePattern('(?i)prod', 'x'), 'To PRODUCTION')).toBe(true)
    expect(matches(compilePattern('^prod', 'x'), 'to prod')).toBe(false)
    expect(matches(optionalPattern('', 'x'), 'anything')).toBe(false)
  })

  test.each([
    ['(bug', 'missing closing )', 1],
    ['a(b(c)', 'missing closing )', 2],
    ['foo)', 'unexpected )', 4],
    ['[)]\\)x)', 'unexpected )', 7],
    ['ab**', 'invalid nested repetition operator', 3],
    ['x[z-a]', 'invalid character class range', 3],
    ['a(?=b)', 'invalid or unsupported Perl syntax', 2],
    ['abc\\', 'trailing backslash at end of expression', 4],
  ])('%s is refused with its field and the place', (pattern, problem, place) => {
    expect(() => compilePattern(pattern, 'issueTypeBug')).toThrow(UserError)
    expect(() => compilePattern(pattern, 'issueTypeBug')).toThrow(
      `issueTypeBug: the pattern ${JSON.stringify(pattern)} does not compile: ${problem} at character ${place}`,
    )
  })

  it('say what deploys, and where to', () => {
    const { deliveryOf } = deliveryRules({ deploymentPattern: 'deploy', productionPattern: 'prod' })
    expect(deliveryOf({ names: ['deploy x'] })).toEqual({ type: 'DEPLOYMENT', environment: '' })
    expect(deliveryOf({ names: ['x'], places: ['x', 'prod'] })).toEqual({ type: '', environment: 'PRODUCTION' })
    expect(deliveryRules({}).deliveryOf({ names: ['x'] }).environment).toBe('PRODUCTION')
    expect(deliveryRules({}).deliveryOf({ names: ['x'], isProductionNamed: true }).environment).toBe('')
  })
})
