/** Shared by the contract tests: names of fields, and the form of successes and failures. */
import { expect } from 'vitest'
import type { TestApi } from './test-api.ts'

export const DONE = { code: 0, success: true, message: 'success', causes: null, data: null }
export const FAILED = { code: 0, success: false, causes: null, message: expect.stringMatching(/\w/) }
export const ORIGIN = ['_raw_data_params', '_raw_data_table', '_raw_data_id', '_raw_data_remark']
export const WRITTEN = ['createdAt', 'updatedAt']
export const POLICY = ['skipOnFail', 'timeAfter', 'skipCollectors', 'fullSync']
export const sorted = (...names: readonly string[]) => [...names].sort()
export const keysOf = (record: object) => Object.keys(record).sort()

/** Fails unless the answer has the status, the envelope, and a message that matches `says`. */
export async function refused(
  api: TestApi,
  [method, url, body]: readonly [method: string, url: string, body?: unknown],
  status: number,
  says = /\w/,
  data: unknown = null,
): Promise<void> {
  const answer = await api.ask(method, url, body)
  expect(answer, `${method} ${url} ${JSON.stringify(body)}: ${answer.text}`).toMatchObject({
    status,
    body: { ...FAILED, data },
  })
  expect(answer.body.message).toMatch(says)
}

/** Sends a POST request and returns the created object. */
export async function create(api: TestApi, url: string, body: unknown): Promise<any> {
  const answer = await api.ask('POST', url, body)
  expect(answer.status, answer.text).toBe(201)
  return answer.body
}
