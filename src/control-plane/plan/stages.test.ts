import { expect, it } from 'vitest'
import { plugins } from '../../plugins/index.ts'
import { parsePlan } from './parse-plan.ts'
import { PlanError, stagesOf } from './stages.ts'

const ONE = { plugin: 'dora', subtasks: null, options: { projectName: 'shop' } }
const OTHER = { plugin: 'org', subtasks: [], options: {} }
const refusalOf = (plan: unknown, name?: string) => {
  try {
    parsePlan(plugins, plan, name)
  } catch (error) {
    if (error instanceof PlanError) return [error.message, error.path]
    throw error
  }
  return undefined
}

it('takes tasks alone for one stage, and stages as they are', () => {
  const flat = parsePlan(plugins, [ONE, OTHER])
  expect(flat).toEqual([[{ ...ONE, subtasks: [] }, OTHER]])
  expect(parsePlan(plugins, [[ONE, OTHER]])).toEqual(flat)
  expect(parsePlan(plugins, [[ONE], [OTHER], []])).toEqual([[{ ...ONE, subtasks: [] }], [OTHER], []])
  expect(stagesOf([]).stages).toEqual([])
})

it('refuses a mix in one sentence, at the first entry that is unlike the ones before', () => {
  const sentence =
    'afterPlan mixes tasks and lists of tasks: write either tasks alone, which are one stage, or every stage as a list of tasks.'
  expect(refusalOf([ONE, [OTHER]], 'afterPlan')).toEqual([sentence, [1]])
  expect(refusalOf([[ONE], [OTHER], ONE], 'afterPlan')).toEqual([sentence, [2]])
})

it('names a place as it is written', () => {
  expect(refusalOf([ONE, { ...OTHER, plugin: 'orgg' }])).toEqual([
    expect.stringMatching(/^Task 2 of plan names the plugin orgg/),
    [1, 'plugin'],
  ])
  expect(refusalOf([[ONE], [{ ...OTHER, plugin: 'orgg' }]])).toEqual([
    expect.stringMatching(/^Task 1 in stage 2 of plan names the plugin orgg/),
    [1, 0, 'plugin'],
  ])
  expect(refusalOf([ONE, null])).toEqual(['Task 2 of plan must be an object.', [1]])
  expect(refusalOf([null])).toEqual(['Stage 1 of plan must be a list of tasks.', [0]])
  expect(refusalOf({})).toEqual(['plan must be a list of tasks, or a list of stages, each a list of tasks.', []])
})
