import { describe, expect, it } from 'vitest'
import { branchName, type DeliveryMatchers, deliveryOf, type Run } from './deliveries.ts'

const matchers = (patterns: Partial<Record<keyof DeliveryMatchers, RegExp>>): DeliveryMatchers => {
  const of = (pattern: RegExp | undefined) => (pattern ? (text: string) => pattern.test(text) : null)
  return {
    deployment: of(patterns.deployment),
    production: of(patterns.production),
    productionBranch: of(patterns.productionBranch),
  }
}
const decided = (patterns: Parameters<typeof matchers>[0], run: Run) =>
  Object.values(deliveryOf(matchers(patterns), run))
const NO = ['', '']
const PRODUCTION = ['DEPLOYMENT', 'PRODUCTION']
const ELSEWHERE = ['DEPLOYMENT', '']

describe('production deployments', () => {
  const run = (branch: string | null, name = 'CI'): Run => ({ names: [name], branches: [branch] })
  const job = (branch: string | null, name = 'deploy'): Run => ({ ...run(branch, name), isJob: true })
  const productionBranch = /^main$/

  it('are all runs on a branch, if a pattern of branches is the only one', () => {
    expect(decided({ productionBranch }, run('main'))).toEqual(PRODUCTION)
    expect(decided({ productionBranch }, { ...run('main'), isProductionNamed: true })).toEqual(PRODUCTION)
    for (const branch of ['maintenance', 'feature/main', '', null]) {
      expect(decided({ productionBranch }, run(branch)), String(branch)).toEqual(NO)
    }
    // The run is the deployment, not each of its jobs.
    expect(decided({ productionBranch }, job('main'))).toEqual(['', 'PRODUCTION'])
  })

  it('match by name and branch, if both patterns are set', () => {
    const both = { deployment: /^deploy$/, productionBranch }
    expect(decided(both, job('main'))).toEqual(PRODUCTION)
    expect(decided(both, job('develop'))).toEqual(ELSEWHERE)
    expect(decided(both, job('main', 'test'))).toEqual(['', 'PRODUCTION'])
    expect(decided(both, run('main', 'deploy'))).toEqual(PRODUCTION)
    expect(decided(both, run('main'))).toEqual(['', 'PRODUCTION'])
    expect(decided(both, { ...run('main'), names: ['CI', 'deploy'] })).toEqual(PRODUCTION)
    const all = { ...both, production: /live/ }
    expect(decided(all, job('main'))).toEqual(ELSEWHERE)
    expect(decided({ ...all, deployment: /deploy/ }, job('main', 'deploy live'))).toEqual(PRODUCTION)
    expect(decided({ production: /live/, productionBranch }, job('main', 'live'))).toEqual(PRODUCTION)
    expect(decided({ production: /live/, productionBranch }, job('develop', 'live'))).toEqual(NO)
  })

  it('are decided as in DevLake without a pattern of branches', () => {
    expect(decided({}, run('main'))).toEqual(['', 'PRODUCTION'])
    expect(decided({}, { ...run('main'), isProductionNamed: true })).toEqual(NO)
    expect(decided({ deployment: /CI/ }, run('x'))).toEqual(PRODUCTION)
    expect(decided({ deployment: /CI/, production: /prod/ }, { ...run('prod'), places: ['CI', 'prod'] })).toEqual(
      PRODUCTION,
    )
  })

  it('know a branch however a tool writes it', () => {
    const refs = ['refs/heads/main', 'refs/remotes/origin/main', 'origin/main', 'main', 'refs/tags/main']
    expect(refs.map(branchName)).toEqual(refs.map(() => 'main'))
    expect(branchName('feature/origin/main')).toBe('feature/origin/main')
    expect(decided({ productionBranch }, run('refs/heads/main'))).toEqual(PRODUCTION)
  })

  it('have all their checkouts on such a branch: one may be a library', () => {
    expect(decided({ productionBranch }, { names: ['CI'], branches: ['develop', 'main'] })).toEqual(NO)
    expect(decided({ productionBranch }, { names: ['CI'], branches: ['origin/main', 'main'] })).toEqual(PRODUCTION)
  })
})
