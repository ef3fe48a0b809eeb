import { expect, it } from 'vitest'
import { listIn } from './list-in.ts'
import { pageNumber } from './paging.ts'
import { createTestClient, never, startServer } from './test-support.ts'

it('is the body itself, or the only list in it', () => {
  expect(listIn([1, 2], true)).toEqual([1, 2])
  expect(listIn({ count: 2, values: [1, 2], errors: [], warnings: ['slow'] }, true)).toEqual([1, 2])
})

it('is the record itself where there are no pages', () => {
  expect(listIn({ id: 1, labels: [], assignees: [] }, false)).toEqual([{ id: 1, labels: [], assignees: [] }])
})

it.each([
  [{ issues: [1], users: [2] }, 'there are 2 lists in it'],
  [{ count: 0, errors: [] }, 'there is no list in it'],
  ['busy', 'there is no list in it'],
])('is missing in a page with %j, which is no empty page', async (body, problem) => {
  expect(() => listIn(body, true)).toThrow(problem)
  const server = await startServer(() => ({ status: 200, body }))
  const pages = createTestClient(server.endpoint).pages({ path: '/' }, pageNumber({ size: 5 }), never)
  await expect(Array.fromAsync(pages)).rejects.toThrow(`the answer has an unexpected form: ${problem}`)
})
