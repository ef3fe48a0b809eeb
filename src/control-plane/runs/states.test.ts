import { expect, test } from 'vitest'
import { TASK_STATUSES } from '../../domain/enums.ts'
import { finalStatus } from '../../runner/run-pipeline.ts'
import { FINISHED, mayFollow, QUEUED, statesBefore } from './states.ts'

test('what is finished runs again only by way of RERUN', () => {
  for (const status of FINISHED) {
    expect(mayFollow(status, 'TASK_RERUN')).toBe(true)
    for (const next of ['TASK_CREATED', 'TASK_RUNNING', 'TASK_RESUME', 'TASK_COMPLETED', 'TASK_CANCELLED'] as const) {
      expect(mayFollow(status, next), `${status} → ${next}`).toBe(false)
    }
  }
})

test('only what waits begins, and only what runs completes or resumes', () => {
  expect(statesBefore('TASK_RUNNING')).toEqual([...QUEUED])
  for (const status of ['TASK_COMPLETED', 'TASK_PARTIAL', 'TASK_RESUME'] as const) {
    expect(statesBefore(status)).toEqual(['TASK_RUNNING'])
  }
  expect(statesBefore('TASK_CREATED')).toEqual([])
  // A task may fail by what is found after it ended. Only pipelines are partial, and theirs is the last word.
  expect(statesBefore('TASK_FAILED').toSorted()).toEqual(
    TASK_STATUSES.filter((status) => status !== 'TASK_PARTIAL').toSorted(),
  )
  expect(statesBefore('TASK_CANCELLED')).toEqual([...QUEUED, 'TASK_RUNNING'])
  for (const status of TASK_STATUSES) expect(mayFollow(status, 'TASK_CREATED')).toBe(false)
})

test('how a pipeline ends follows from its tasks', () => {
  const end = (states: string, skipOnFail: boolean, isCancelled = false) =>
    finalStatus(
      [...states].map((letter) => ({
        status: { C: 'TASK_COMPLETED', F: 'TASK_FAILED', X: 'TASK_CANCELLED', N: 'TASK_CREATED' }[letter] ?? '',
      })),
      skipOnFail,
      isCancelled,
    )
  expect(end('CC', false)).toBe('TASK_COMPLETED')
  expect(end('CFN', false)).toBe('TASK_FAILED')
  expect(end('CF', true)).toBe('TASK_PARTIAL')
  expect(end('FF', true)).toBe('TASK_FAILED')
  expect(end('CFX', true)).toBe('TASK_CANCELLED')
  expect(end('CC', true, true)).toBe('TASK_CANCELLED')
})
