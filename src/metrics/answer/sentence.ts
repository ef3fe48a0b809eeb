/** The answer in one or two sentences: what changed, by how much, the largest stage, and what got worse. */
import { changeLeadTime } from '../definitions/change-lead-time.ts'
import { INCIDENTS_UNKNOWN } from '../grades/evidence.ts'
import type { Answer, KeyAnswer, Sentence, Stage, WhereTimeGoes } from './answer.ts'
import {
  changeClause,
  figureOf,
  missingClause,
  NOTHING_COUNTS,
  nameOf,
  realChange,
  reasonOf,
  stateClause,
} from './key-clauses.ts'
import { figured, numberInWords, say, sentenceOfClauses } from './say.ts'
import { largestStage, shareInWords } from './stage-words.ts'

/** Nobody keeps more than two changes in mind. */
const MOST_CHANGES = 2

const DOING: Readonly<Record<Stage, string>> = {
  coding: 'coding',
  pickup: 'waiting for a first review',
  review: 'review',
  deploy: 'waiting to be deployed',
}

export const NOTHING_BEFORE = 'there is nothing before to compare with'

export function sentenceOf({ keys, where }: Pick<Answer, 'keys' | 'where'>): Sentence[] {
  const withValue = keys.filter(({ now }) => now.value !== null)
  const [first] = keys
  if (!first) return []
  if (withValue.length === 0) return [sentenceOfClauses([say`there is nothing to say yet: ${reasonOf(first)}`], '.')]
  const leadTime = keys.find(({ metric }) => metric === changeLeadTime.name)
  const others = withValue.filter((key) => key !== leadTime)
  const isLeadKnown = leadTime !== undefined && leadTime.now.value !== null
  const beginning = isLeadKnown ? leadClauses(leadTime, where) : leadTime ? [missingClause(leadTime)] : []
  const rest = otherClauses(others, isLeadKnown ? leadTime : undefined)
  return [beginning, rest].filter(({ length }) => length > 0).map((clauses) => sentenceOfClauses(clauses, '.'))
}

/** The sentence of one key, for messages about it alone. */
export function keySentence(key: KeyAnswer): Sentence {
  if (key.now.value === null) return sentenceOfClauses([missingClause(key)], '.')
  const change = realChange(key)
  return sentenceOfClauses([change ? changeClause(key, change) : stateClause(key)], '.')
}

/** Why nothing tells a key: it has no value, or one of 0 that rests on no incident ever known. */
const unknownBecause = ({ now, noGrade }: KeyAnswer): string | undefined =>
  now.value === null
    ? (now.noData?.because ?? '')
    : noGrade?.because === INCIDENTS_UNKNOWN.because
      ? noGrade.because
      : undefined

/** Says which keys nothing tells and why, one sentence for each reason. */
export function missingSentences(keys: readonly KeyAnswer[]): Sentence[] {
  const missing = keys.flatMap((key) => {
    const because = unknownBecause(key)
    return because === undefined ? [] : [{ key, because }]
  })
  return [...Map.groupBy(missing, ({ because }) => because)].map(([because, own]) => {
    const [first] = own.map(({ key }) => key) as [KeyAnswer]
    const names = own.map(({ key }) => nameOf(key)).join(' and the ')
    return sentenceOfClauses([say`nothing tells the ${names}: ${figured(because || NOTHING_COUNTS, first)}`], '.')
  })
}

function leadClauses(key: KeyAnswer, where: WhereTimeGoes): Sentence[] {
  const change = realChange(key)
  const said = change ? changeClause(key, change) : stateClause(key)
  const largest = largestStage(where)
  const before = key.change ? [] : [say`${NOTHING_BEFORE}`]
  if (!largest) return [said, ...before]
  const share = figureOf(key, shareInWords(largest.share))
  const part = largest.share > 0.5 ? say`most of it, ${share}, is ` : say`its largest part, ${share}, is `
  return [said, say`${part}${DOING[largest.stage]}`, ...before]
}

/** Says what got worse, then what got better; if nothing changed, says that. */
function otherClauses(others: readonly KeyAnswer[], leadTime: KeyAnswer | undefined): Sentence[] {
  const changed = others.flatMap((key) => {
    const change = realChange(key)
    return change ? [{ key, change }] : []
  })
  const worse = changed.filter(({ change }) => change.direction === 'worse')
  const told = [...worse, ...changed.filter(({ change }) => change.direction !== 'worse')].slice(0, MOST_CHANGES)
  const untold = worse.length - MOST_CHANGES
  const more = untold > 0 ? [say`${numberInWords(untold)} more ${untold === 1 ? 'key' : 'keys'} got worse`] : []
  if (told.length > 0) return [...told.map(({ key, change }) => changeClause(key, change)), ...more]
  if (others.some(({ change }) => change)) {
    const isLeadChanged = leadTime !== undefined && realChange(leadTime) !== undefined
    return [say`nothing ${isLeadChanged ? 'else ' : ''}changed by more than chance`]
  }
  const states = others.slice(0, MOST_CHANGES).map(stateClause)
  return leadTime || states.length === 0 ? states : [...states, say`${NOTHING_BEFORE}`]
}
