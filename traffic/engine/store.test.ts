import { expect, test } from 'vitest'
import { describeSwitch, type SwitchRow } from './store.ts'

test('a switch whose stored plan cannot be read is shown with a sentence', () => {
  const at = new Date()
  const row = {
    id: 'a',
    name: 'shop',
    state: 'READY',
    step: 0,
    version: 1,
    plan: '{"steps"',
    problem: null,
    routes: null,
  }
  const describeValue = describeSwitch({ ...row, created_at: at, updated_at: at } as unknown as SwitchRow)
  expect(describeValue.plan).toEqual({ steps: [] })
  expect(describeValue.problem).toMatch(/^Its stored plan cannot be read \(.*\): put the plan in again/)
})
