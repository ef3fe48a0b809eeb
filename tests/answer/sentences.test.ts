/** Each clause of the sentences is read back and compared with the numbers that it speaks of. */
import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { KeyAnswer, Piece, Sentence } from '../../src/metrics/answer/answer.ts'
import { findingsOfParts } from '../../src/metrics/answer/part-findings.ts'
import { textOf } from '../../src/metrics/answer/say.ts'
import { sentenceOf } from '../../src/metrics/answer/sentence.ts'
import { GRAMMARS, wrongClauses } from './clause-grammar.ts'
import { answers, type Parts } from './generated-answers.ts'

const LONGEST = 240
/** Names of settings, columns and enums: `envNamePattern`, `merged_date`, `TASK_FAILED`, and what is quoted as code. */
const NO_ENGLISH = /[a-z][A-Z]|\w_\w|`|[A-Z]{2,}/

type Kind = keyof typeof GRAMMARS

const told = (parts: Parts): [Kind, Sentence][] => [
  ...sentenceOf(parts).map((each): [Kind, Sentence] => ['sentence', each]),
  ...(Object.entries(findingsOfParts(parts)) as [Kind, Sentence][]),
]

/** Looks for what is wrong in 2,000 generated answers. An expectation for each sentence would take longer than the sentences. */
const neverWrong = (seed: number, wrongIn: (parts: Parts) => readonly string[]) =>
  fc.assert(
    fc.property(answers, (parts) => {
      const wrong = wrongIn(parts)
      if (wrong.length > 0) expect(wrong).toEqual([])
    }),
    { numRuns: 2000, seed },
  )

it('every clause is true of the numbers beneath it', () => {
  const seen = new Set<string>()
  neverWrong(37, (parts) =>
    told(parts).flatMap(([kind, sentence]) => {
      const text = textOf(sentence)
      seen.add(`${kind} ${text.replace(/[\d,.]+/g, '0').slice(0, 40)}`)
      return wrongClauses(text, GRAMMARS[kind], parts)
    }),
  )
  expect(seen.size).toBeGreaterThan(100)
})

it('every sentence is short plain English, and each figure has the address of its items', () => {
  const isPlaced = (piece: Piece) =>
    typeof piece === 'string'
      ? !/\d/.test(piece.replace(/\d+ parts are missing/, ''))
      : piece.items.startsWith(`/v1/metrics/${piece.metric}/items`)
  neverWrong(38, (parts) =>
    told(parts).flatMap(([, sentence]) => {
      const text = textOf(sentence)
      const isPlain = /^[A-Z\d]/.test(text) && !NO_ENGLISH.test(text) && !text.includes('…')
      return isPlain && text.length <= LONGEST && sentence.every(isPlaced) ? [] : [text]
    }),
  )
})

it('says what the reader asks first: the lead time, and what got worse', () => {
  neverWrong(39, (parts) => {
    const sentences = sentenceOf(parts)
    const text = sentences.map(textOf).join(' ')
    const figures = new Set(sentences.flat().flatMap((piece) => (typeof piece === 'string' ? [] : [piece.metric])))
    const isReal = ({ change }: KeyAnswer) => change !== null && !change.mayBeChance
    const [lead] = parts.keys as [KeyAnswer]
    const worse = parts.keys.filter((key) => isReal(key) && key.change?.direction === 'worse')
    const rules: Readonly<Record<string, boolean>> = {
      'one sentence or two': sentences.length === 1 || sentences.length === 2,
      'the lead time': lead.now.value === null || figures.has(lead.metric),
      'how the lead time changed': !isReal(lead) || /^Lead time (rose|fell) /.test(text),
      'what got worse': worse.length === 0 || worse.some(({ metric }) => figures.has(metric)),
      'no verb for chance': parts.keys.some(isReal) || !/rose|fell|worse|better|(more|less) than before/.test(text),
    }
    return Object.entries(rules).flatMap(([rule, isKept]) => (isKept ? [] : [`${rule}: ${text}`]))
  })
})
