import { expect, it } from 'vitest'
import { canonicalJson } from './canonical-json.ts'

it.each([
  ['{ "b": 1, "a": [ 2, 1 ] }', '{"a":[2,1],"b":1}'],
  ['{"b":{"d":1,"c":null},"a":"é"}', '{"a":"é","b":{"c":null,"d":1}}'],
  ['{"id":9007199254740993}', '{"id":9007199254740993}'],
  ['1234567890.1234567', '1234567890.1234567'],
  ['12345678.901234567890', '12345678.901234567890'],
  ['1.50', '1.5'],
  ['[true,null,"{\\"b\\":1}"]', '[true,null,"{\\"b\\":1}"]'],
])('%s', (text, canonical) => {
  expect(canonicalJson(text)).toBe(canonical)
  expect(canonicalJson(canonical)).toBe(canonical)
})
