import { expect, test } from 'vitest'
import { queuedSeconds } from './queued-seconds.ts'

const at = (time: string) => new Date(`2024-05-01T${time}Z`)

test('whole seconds from queued to started', () => {
  expect(queuedSeconds(at('10:00:00.000'), at('10:01:30.900'))).toBe(90)
  expect(queuedSeconds(at('10:00:00.000'), at('10:00:00.000'))).toBe(0)
})

test('null when unknown or negative', () => {
  expect(queuedSeconds(null, at('10:00:00.000'))).toBeNull()
  expect(queuedSeconds(at('10:00:00.000'), undefined)).toBeNull()
  expect(queuedSeconds(at('10:00:00.500'), at('10:00:00.000'))).toBeNull()
})
