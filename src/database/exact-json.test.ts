import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parseExact, parseExactBytes } from './exact-json.ts'

const READERS = { text: parseExact, bytes: (text: string) => parseExactBytes(new TextEncoder().encode(text)) }

describe.each(Object.entries(READERS))('JSON as %s', (_, parse) => {
  test.each([
    ['9007199254740991', 9007199254740991],
    ['9007199254740992', '9007199254740992'],
    ['-9007199254740993', '-9007199254740993'],
    ['1111111111111111', 1111111111111111],
    ['12345678901234567.5', Number('12345678901234567.5')],
    ['12345678901234567e3', Number('12345678901234567e3')],
    ['0.12345678901234567', Number('0.12345678901234567')],
    ['"9007199254740993"', '9007199254740993'],
    ['[{"id" : 1112345678001000123 }]', [{ id: '1112345678001000123' }]],
    ['{"__proto__":9007199254740993,"a":"\\u00e9"}', JSON.parse('{"__proto__":"9007199254740993","a":"é"}')],
  ])('%s', (text, value) => {
    expect(parse(text)).toEqual(value)
  })

  test('every whole number keeps its digits, wherever it stands', () => {
    const whole = fc.bigInt({ min: -(2n ** 70n), max: 2n ** 70n })
    fc.assert(
      fc.property(fc.array(whole, { maxLength: 8 }), fc.string(), fc.nat(40), (numbers, some, padding) => {
        const text = `${' '.repeat(padding)}{${JSON.stringify(some)}:[${numbers.join(' , ')}]}`
        expect(parse(text)[some].map(String)).toEqual(numbers.map(String))
      }),
    )
  })

  test('all else is as the engine parses it', () => {
    fc.assert(
      fc.property(fc.json(), (text) => {
        fc.pre(!/(?<![.\d])\d{16}/.test(text))
        expect(parse(text)).toEqual(JSON.parse(text))
      }),
    )
    expect(() => parse('{"id":9007199254740993')).toThrow(SyntaxError)
    // A number must not begin with 0, and a text may.
    expect(() => parse('[09007199254740993]')).toThrow(SyntaxError)
  })
})
