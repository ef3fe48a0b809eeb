import { expect, it } from 'vitest'
import type { HttpResponse } from './http-message.ts'
import { reasonOf } from './judge.ts'

it('what a source says ends without its full stop: it stands within a sentence of ours', () => {
  const reason = (message: string) =>
    reasonOf({ status: 403, headers: {}, body: { message }, bytes: new Uint8Array() } as unknown as HttpResponse)
  expect(reason('Permission denied.')).toBe('403 Permission denied')
  expect(reason('Permission\n denied')).toBe('403 Permission denied')
  expect(reason('Wait...')).toBe('403 Wait...')
  expect(reason('')).toBe('403')
})
