/**
 * Plain English in comments, documents and texts for users. Words and phrases stand here once they were replaced everywhere, so
 * that they stay away. CONTRIBUTING.md says how to write instead.
 */
import { placeAt, type SourceFile } from './source-file.ts'

/** The beginnings of comments that are no sentence: they make the reader wait for the noun. */
const BEGINNING = /^(?:What|Of)\b(?! (?:course|is meant)\b)/

/** Words for comments and documents, with the plain ones to use. */
const WORDS: Readonly<Record<string, string>> = {
  kin: 'related, or of the same family',
  'twins?': 'counterpart, or the same record elsewhere',
  'heirs?': 'the next holder',
  'siblings?': 'related, or neighbouring',
  'strangers?': 'another, or unknown',
  'followers?': 'the next ones',
  'puzzles?': 'problem',
  anew: 'again',
  afresh: 'again',
  'whereof|thereof': 'of which, of it',
  'wherein|therein': 'in which, in it',
  lest: 'so that … not',
  'had back': 'recovered',
}

/** Phrases that users must not read, wherever they stand. */
const PHRASES: Readonly<Record<string, string>> = {
  'needs a hand': 'needs attention',
  'done in part': 'partly done',
  'ended so': 'say how it ended',
  'own fields': 'custom fields',
  'field of your own': 'custom field',
  'cannot be had back': 'cannot be recovered',
}

const patternOf = (words: Readonly<Record<string, string>>) =>
  new RegExp(`\\b(?:${Object.keys(words).join('|')})\\b`, 'gi')
const [WORD, PHRASE] = [patternOf(WORDS), patternOf(PHRASES)]

const insteadOf = (words: Readonly<Record<string, string>>, found: string): string =>
  Object.entries(words).find(([word]) => new RegExp(`^(?:${word})$`, 'i').test(found))?.[1] ?? ''

const ITSELF = /^scripts\/word-rules(\.test)?\.ts$/
const isDocument = (path: string) => path.endsWith('.md')

interface Found {
  readonly index: number
  readonly problem: string
}

const findIn = (text: string, start: number, pattern: RegExp, words: Readonly<Record<string, string>>): Found[] =>
  [...text.matchAll(pattern)].map(({ 0: found, index }) => ({
    index: start + index,
    problem: `"${found}" is no plain word here: write ${insteadOf(words, found)}`,
  }))

function findInComment(text: string, start: number): Found[] {
  const said = text.replace(/^[/*\s{]+/, '')
  const begins = BEGINNING.exec(said)
  return [
    ...(begins
      ? [
          {
            index: start,
            problem: `a comment does not begin with "${begins[0]}": begin with the thing, or with what the code does`,
          },
        ]
      : []),
    ...findIn(text, start, WORD, WORDS),
  ]
}

/** One line for each place that is not plain. */
export const findDialect = (files: readonly SourceFile[]): string[] =>
  files
    .filter(({ path }) => !ITSELF.test(path))
    .flatMap((file) => {
      const { path, text } = file
      const inWords = isDocument(path)
        ? findIn(text, 0, WORD, WORDS)
        : wordedIn(text).flatMap(({ 0: words, index }) => {
            if (words.startsWith('/')) return findInComment(words, index)
            return FOR_USERS.test(path) && isSentence(words) ? findIn(words, index, WORD, WORDS) : []
          })
      return [...inWords, ...findIn(text, 0, PHRASE, PHRASES)].map(
        ({ index, problem }) => `${placeAt(file, index)}: ${problem}`,
      )
    })

const FOR_USERS = /^(?:src|web)\/(?!.*\.test\.tsx?$)/
/** Names and fixed words have fewer words. Statements for the database stand in other quotation marks. */
const isSentence = (text: string) => /^['"]\S+(?: \S+){3}/.test(text)

/** Comments and texts. A comment within a text is none: an address contains two slashes, and a pattern of paths a star. */
const wordedIn = (code: string): RegExpExecArray[] => [
  ...code.matchAll(
    /\/\*[\s\S]*?\*\/|(?:\/\/[^\n]*(?:\n\s*\/\/[^\n]*)*)|'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`(?:\\.|[^`\\])*`/g,
  ),
]
