import { expect, it } from 'vitest'
import { typeOrText } from './issue-types.ts'

it('the text of an issue decides only if neither its type nor a label does', () => {
  const typed = (type: string) => typeOrText(type, () => true)
  expect(['', 'issue', 'TASK', 'Epic'].map(typed)).toEqual(Array(4).fill('INCIDENT'))
  expect(['BUG', 'bug', 'REQUIREMENT', 'INCIDENT', 'SUBTASK'].map(typed)).toEqual([
    'BUG',
    'bug',
    'REQUIREMENT',
    'INCIDENT',
    'SUBTASK',
  ])
  expect(typeOrText('TASK', () => false)).toBe('TASK')
})
