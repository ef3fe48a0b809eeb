/** Makes sentences of words and figures. */
import type { Piece, Sentence } from './answer.ts'

export type Figure = Exclude<Piece, string>

/** A table of sentences tells nobody anything: a longer one loses its last clauses. */
const LONGEST_SENTENCE = 240

const NUMBERS = [
  'no',
  'one',
  'two',
  'three',
  'four',
  'five',
  'six',
  'seven',
  'eight',
  'nine',
  'ten',
  'eleven',
  'twelve',
]

/** `two`, `twelve`, `1,234` */
export const numberInWords = (count: number): string => NUMBERS[count] ?? count.toLocaleString('en')

export const textOf = (sentence: Sentence): string =>
  sentence.map((piece) => (typeof piece === 'string' ? piece : piece.figure)).join('')

const isSentence = (part: Piece | Sentence): part is Sentence => typeof part !== 'string' && !('figure' in part)

/** Joins words that stand side by side, so that figures are the only pieces of their own. */
function joined(pieces: readonly Piece[]): Sentence {
  const all: Piece[] = []
  for (const piece of pieces) {
    const last = all.at(-1)
    if (typeof piece === 'string' && typeof last === 'string') all[all.length - 1] = last + piece
    else if (piece !== '') all.push(piece)
  }
  return all
}

/** A template of words, figures and sentences. */
export function say(words: TemplateStringsArray, ...parts: readonly (Piece | Sentence)[]): Sentence {
  const all = words.flatMap((text, place): Sentence => {
    const part = parts[place]
    if (part === undefined) return [text]
    return isSentence(part) ? [text, ...part] : [text, part]
  })
  return joined(all)
}

/** Replaces each number of a text by a figure with this address. */
export const figured = (text: string, { metric, items }: Omit<Figure, 'figure'>): Sentence =>
  joined(
    text.split(/(\d[\d,.]*\d|\d)/).map((part, place) => (place % 2 === 1 ? { figure: part, metric, items } : part)),
  )

const withCapital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)

function capitalised([first, ...others]: Sentence): Sentence {
  if (first === undefined) return others
  return [typeof first === 'string' ? withCapital(first) : { ...first, figure: withCapital(first.figure) }, ...others]
}

/** Joins clauses, the most important first. The last ones are left out if the sentence becomes too long. */
export function sentenceOfClauses(clauses: readonly Sentence[], end: '.' | ''): Sentence {
  for (let size = clauses.length; size > 0; size--) {
    const all = clauses.slice(0, size).flatMap((clause, place) => (place === 0 ? [...clause] : ['; ', ...clause]))
    const sentence = joined([...capitalised(all), end])
    if (textOf(sentence).length <= LONGEST_SENTENCE) return sentence
  }
  return [`${textOf(capitalised(clauses[0] ?? [])).slice(0, LONGEST_SENTENCE - 1)}…`]
}
