import { describe, expect, it } from 'vitest'
import { plugins } from '../../plugins/index.ts'
import type { PluginSpec } from '../spec/plugin.ts'
import { assumedRules } from './assumed-rules.ts'

const sourceOf = (name: string) => plugins.find((plugin) => plugin.name === name)?.source as PluginSpec
const rulesOf = (name: string) => sourceOf(name).scopeConfig.prepare(assumedRules(sourceOf(name))) as any

describe('without a scope config', () => {
  it.each(['github', 'github_graphql'])('%s: environments called production are, and labels tell types', (name) => {
    const { isProduction, issueTypeOf, deliveryOf } = rulesOf(name)
    expect(['production', 'prod', 'Prod-EU'].map(isProduction)).toEqual([true, true, true])
    expect(['staging', 'preview'].map(isProduction)).toEqual([false, false])
    expect([['Incident'], ['bug'], ['feature'], ['question']].map(issueTypeOf)).toEqual([
      'INCIDENT',
      'BUG',
      'REQUIREMENT',
      '',
    ])
    // GitHub's own deployments are already counted. Counting the runs that made them would count them twice.
    expect(deliveryOf({ names: ['deploy to production'], branches: ['main'] }).type).toBe('')
  })

  it('circleci: jobs and workflows called deploy do, to production unless they name another place', () => {
    const { deliveryOf } = rulesOf('circleci')
    const told = (name: string) => Object.values(deliveryOf({ names: [name] }))
    for (const name of ['deploy', 'Deploy', 'build-and-deploy', 'deploy-production', 'deploy_to_prod', 'live deploy']) {
      expect(told(name), name).toEqual(['DEPLOYMENT', 'PRODUCTION'])
    }
    for (const name of ['deploy-staging', 'deploy dev', 'deploy-preview']) {
      expect(told(name), name).toEqual(['DEPLOYMENT', ''])
    }
    expect(deliveryOf({ names: ['test'] }).type).toBe('')
  })

  it('jira: the types that it comes with are known', () => {
    const { standardType } = rulesOf('jira')
    expect(['Incident', '[System] Incident', 'Bug', 'Story', 'Task'].map(standardType)).toEqual([
      'INCIDENT',
      'INCIDENT',
      'BUG',
      'REQUIREMENT',
      'TASK',
    ])
  })

  it('no source assumes what costs work and nobody asked for', () => {
    for (const { source } of plugins) {
      if (!source) continue
      expect(assumedRules(source)).not.toHaveProperty('refdiff')
      expect(() => source.scopeConfig.prepare(assumedRules(source))).not.toThrow()
    }
  })
})
