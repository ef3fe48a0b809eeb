import { expect, it } from 'vitest'
import type { PluginSpec } from '../plugin-kit/spec/plugin.ts'
import { plugins } from '../plugins/index.ts'
import { droppedRules } from './dropped-rules.ts'

const sourceNamed = (name: string) => plugins.find((each) => each.name === name)?.source as PluginSpec

it('names what a rule made of names no longer says: incidents of other types would count no more', () => {
  const jira = sourceNamed('jira')
  const bug = { typeMappings: { Bug: { standardType: 'BUG' } } }
  const [told = '', ...more] = droppedRules(jira, undefined, bug)
  expect(told).toMatch(
    /^drops from the default rule for issue types and statuses: typeMappings Story, .*\bIncident\b.*Outage$/,
  )
  expect(told).not.toMatch(/\bBug\b/)
  expect(more).toEqual([])
  // Reported once, and only for rules that were there before.
  expect(droppedRules(jira, bug, bug)).toEqual([])
  expect(droppedRules(jira, bug, { typeMappings: { Incident: { standardType: 'INCIDENT' } } })).toEqual([
    'drops from the default rule for issue types and statuses: typeMappings Bug',
  ])
  const whole = { typeMappings: jira.scopeConfig.fields.typeMappings?.suggestion }
  expect(droppedRules(jira, undefined, whole)).toEqual([])
  expect(droppedRules(jira, whole, { typeMappings: null })).toEqual([
    expect.stringContaining('drops the default rule for issue types and statuses: typeMappings {"Story"'),
  ])
})
