import { expect, it } from 'vitest'
import { readPath } from './json-path.ts'

const document = {
  key: 'EE-1',
  fields: {
    created: null,
    'story.points': 8,
    'a*b': 'star',
    components: [{ name: 'web', leads: [{ id: 1 }, { id: 2 }] }, { name: 'api' }, { title: 'no name' }],
    labels: ['one', 'two'],
    empty: [],
    '0': 'zero',
    '#': 'hash',
    '': 'nameless',
    length: 3,
  },
}

it.each([
  ['key', 'EE-1'],
  ['fields.created', null],
  ['fields.missing', undefined],
  ['fields.created.deeper', undefined],
  ['key.length', undefined],
  ['fields.length', 3],
  [String.raw`fields.story\.points`, 8],
  [String.raw`fields.a\*b`, 'star'],
  ['fields.labels', ['one', 'two']],
  ['fields.labels.1', 'two'],
  ['fields.labels.2', undefined],
  ['fields.labels.length', undefined],
  ['fields.labels.-1', undefined],
  ['fields.0', 'zero'],
  [String.raw`fields.\#`, 'hash'],
  ['fields.labels.#', 2],
  ['fields.empty.#', 0],
  ['fields.empty.#.name', []],
  ['fields.#', undefined],
  ['fields.components.#.name', ['web', 'api']],
  ['fields.components.#.leads.#.id', [[1, 2]]],
  ['fields.components.#.leads.0.id', [1]],
  ['fields.components.0.leads.#.id', [1, 2]],
  ['constructor', undefined],
  ['__proto__', undefined],
  ['fields.toString', undefined],
])('%s', (path, value) => {
  expect(readPath(path)(document)).toEqual(value)
})

it('begins at a list, too', () => {
  expect(readPath('#')([1, 2, 3])).toBe(3)
  expect(readPath('1.a')([{}, { a: 5 }])).toBe(5)
  for (const nothing of [null, 'text', 5, undefined]) expect(readPath('a.b')(nothing)).toBeUndefined()
})

it.each([
  ['', 'has an empty part'],
  ['a..b', 'has an empty part'],
  ['a.', 'has an empty part'],
  ['.a', 'has an empty part'],
  ['a.*', 'has "*"'],
  ['a?', 'has "?"'],
  ['a.#(name=="x").b', 'has "("'],
  ['a|b', 'has "|"'],
  ['a.@reverse', 'has "@"'],
  ['{a,b}', 'has "{"'],
  ['a.[b,c]', 'has "["'],
  ['!"x"', 'has "!"'],
  ['a\\', 'ends with a backslash'],
])('refuses %s', (path, problem) => {
  expect(() => readPath(path)).toThrow(problem)
})
