import fc from 'fast-check'
import { expect, test } from 'vitest'
import { slicesOf } from './json-slices.ts'

const sliced = (text: string, choose: (body: any) => readonly unknown[]) => {
  const body = JSON.parse(text)
  const slices = slicesOf(new TextEncoder().encode(text), body, choose(body))
  return choose(body).map((value) => slices.get(value)?.toString())
}

test('a record is cut out as it stands, with its spaces, escapes and spellings of numbers', () => {
  const records = [
    '{ "id" : 9007199254740993,\n\t"name":"\\u00e9 \\"]},{[\\\\" }',
    '{"n":[1.0,1e2,-0.50],"a":{"b":[]}}',
    '[ ]',
    '{}',
  ]
  expect(sliced(`\n [ ${records.join(' ,\r\n ')} ] `, (body) => body)).toEqual(records)
  expect(
    sliced(`{"total":3,"text":"x\\\\","items":[${records}],"more":{"items":[{"id":1}]}}`, (body) => body.items),
  ).toEqual(records)
  expect(
    sliced(`{"data":{"rate":{"left":1},"user\\u0030":{"id":1},"user1":{"id": 2}}}`, ({ data: { rate: _, ...users } }) =>
      Object.values(users),
    ),
  ).toEqual(['{"id":1}', '{"id": 2}'])
})

test('of two lists with one name the later counts', () => {
  expect(sliced('{"items":[{"a":1},{"a":2},{"a":3}],"items":[{"b":1},{"b":2}]}', ({ items }) => items)).toEqual([
    '{"b":1}',
    '{"b":2}',
  ])
})

test('what is not in the answer has no bytes there', () => {
  const body = { items: [{ id: 1 }] }
  const bytes = Buffer.from(JSON.stringify(body))
  const made = { ...body.items[0], more: true }
  expect([...slicesOf(bytes, body, [made, body.items[0], 5, null, 'x']).keys()]).toEqual([body.items[0]])
  expect(slicesOf(bytes, 7, [made]).size).toBe(0)
})

test('a view into a larger buffer is cut at its own places', () => {
  const whole = new TextEncoder().encode('xxxx[{"id":1},{"id":2}]')
  const body = [{ id: 1 }, { id: 2 }]
  expect([...slicesOf(whole.subarray(4), body, body).values()].map(String)).toEqual(['{"id":1}', '{"id":2}'])
})

test('whatever the value and however it is written, its bytes mean what was parsed', () => {
  const spacing = fc.constantFrom(undefined, 1, '\t', '\n  ')
  const value = fc.jsonValue({ depthSize: 'medium', maxDepth: 6 })
  fc.assert(
    fc.property(fc.array(value, { maxLength: 6 }), value, spacing, fc.string(), (list, other, space, name) => {
      const text = JSON.stringify({ other, [`${name}x`]: { list }, again: other }, null, space)
      const body = JSON.parse(text)
      const records: any[] = body[`${name}x`].list
      const objects = records.filter((each) => each !== null && typeof each === 'object')
      const slices = slicesOf(Buffer.from(text), body, records)
      expect([...slices.keys()]).toEqual(objects)
      for (const [record, bytes] of slices) {
        expect(JSON.parse(bytes.toString())).toEqual(record)
        expect(text).toContain(bytes.toString())
      }
    }),
  )
})
