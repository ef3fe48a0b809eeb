/** The finding of each part of the answer, which is its title: worked out from the numbers below it. */

import { changeLeadTime } from '../definitions/change-lead-time.ts'
import { recoveryTime } from '../definitions/recovery-time.ts'
import { metricNamed } from '../index.ts'
import { amountInWords } from '../words/change-words.ts'
import { valueInWords } from '../words/value-words.ts'
import type { Answer, HeavyItem, KeyAnswer, Sentence, Stage, WhatToLookAt } from './answer.ts'
import { figureOf, nameOf, narrowed, realChange, reasonOf } from './key-clauses.ts'
import { type Figure, figured, numberInWords, say, sentenceOfClauses } from './say.ts'
import { NOTHING_BEFORE } from './sentence.ts'
import { largestStage, partInWords, shareInWords } from './stage-words.ts'

/** Says how changes spent their longest stage, one of them or several. */
const SPENT: Readonly<Record<Stage, string>> = {
  coding: 'spent most time in coding',
  pickup: 'waited for a first review',
  review: 'spent most time in review',
  deploy: 'waited for a deployment',
}

type Parts = Pick<Answer, 'keys' | 'where' | 'look' | 'sure'>

export const findingsOfParts = (parts: Parts): Answer['findings'] => ({
  keys: keysFinding(parts),
  where: whereFinding(parts),
  look: lookFinding(parts),
  sure: sureFinding(parts),
})

function keysFinding({ keys }: Pick<Parts, 'keys'>): Sentence {
  const [first] = keys
  if (!first || keys.every(({ now }) => now.value === null)) {
    return sentenceOfClauses([say`no key has a value: ${first ? reasonOf(first) : 'nothing is measured'}`], '')
  }
  const targets = keys.flatMap(({ target }) => target ?? [])
  return sentenceOfClauses(targets.length > 0 ? targetClauses(keys) : [say`no target is set`, changesClause(keys)], '')
}

function targetClauses(keys: readonly KeyAnswer[]): Sentence[] {
  const own = keys.filter(({ target }) => target !== null)
  const known = own.filter(({ target }) => target?.state !== 'unknown')
  const met = known.filter(({ target }) => target?.state === 'met').length
  const [only] = own
  if (own.length === 1 && only) {
    const says = { met: 'is met', missed: 'is missed', unknown: 'cannot be judged' }[only.target?.state ?? 'unknown']
    return [say`the target of ${nameOf(only)} ${says}`]
  }
  const said = metInWords(met, own.length)
  const unknown = own.length - known.length
  return [say`${said}`, ...(unknown > 0 ? [say`${numberInWords(unknown)} cannot be judged`] : [])]
}

/** `two of five targets are met`, `both targets are met` */
function metInWords(met: number, all: number): string {
  if (met === all) return `${all === 2 ? 'both' : `all ${numberInWords(all)}`} targets are met`
  const some = met > 0 ? numberInWords(met) : all === 2 ? 'neither' : 'none'
  return `${some} of ${numberInWords(all)} targets ${met > 1 ? 'are' : 'is'} met`
}

function changesClause(keys: readonly KeyAnswer[]): Sentence {
  if (keys.every(({ change }) => !change)) return say`${NOTHING_BEFORE}`
  const count = (direction: string) => keys.filter((key) => realChange(key)?.direction === direction).length
  const [worse, better] = [count('worse'), count('better')]
  if (worse + better === 0) return say`no key changed by more than chance`
  const words = [
    ...(worse > 0 ? [`${numberInWords(worse)} ${worse === 1 ? 'key' : 'keys'} got worse`] : []),
    ...(better > 0 ? [`${numberInWords(better)}${worse > 0 ? '' : better === 1 ? ' key' : ' keys'} got better`] : []),
  ]
  return say`${words.join(', ')}`
}

const leadTimeOf = ({ keys }: Pick<Parts, 'keys'>) => keys.find(({ metric }) => metric === changeLeadTime.name)

function whereFinding({ keys, where }: Pick<Parts, 'keys' | 'where'>): Sentence {
  const key = leadTimeOf({ keys })
  const largest = largestStage(where)
  if (!key || !largest) {
    const because = where.noData?.because ?? 'the time of no stage is known'
    return sentenceOfClauses([say`nothing tells where the time goes: ${key ? figured(because, key) : because}`], '')
  }
  const takes = say`${largest.title} takes ${figureOf(key, partInWords(largest.share))} of the time`
  // If the whole may have changed by chance, no part is said to have changed.
  if (!realChange(key)) return sentenceOfClauses([takes], '')
  const { change } = largest
  const compared =
    change === null || Math.abs(change) < 1
      ? takes
      : say`${takes}, ${figureOf(key, amountInWords('minutes', Math.abs(change)))} ${change > 0 ? 'more' : 'less'} than before`
  const main = where.stages.find(({ explains }) => explains !== null && explains >= 0.5 && explains <= 1)
  if (!main) return sentenceOfClauses([compared], '')
  const part = figureOf(key, shareInWords(main.explains ?? 0))
  const who = main.stage === largest.stage ? 'it' : main.title.toLowerCase()
  return sentenceOfClauses([compared, say`${who} explains ${part} of the change`], '')
}

/** Speaks of the metric whose items weigh most for a reader: changes, then outages, then what else there is. */
function lookFinding({ keys, look }: Pick<Parts, 'keys' | 'look'>): Sentence {
  const order = [changeLeadTime.name, recoveryTime.name]
  const told = look
    .filter(({ heaviest }) => heaviest.length > 0)
    .toSorted((one, other) => placeIn(order, one.metric) - placeIn(order, other.metric))[0]
  const key = told && keys.find(({ metric }) => metric === told.metric)
  if (!told || !key) return say`There is nothing to look at yet`
  return sentenceOfClauses([heldClause(told, key), ...stageClause(told, key), ...withoutClause(told, key)], '')
}

const placeIn = (order: readonly string[], metric: string): number =>
  order.includes(metric) ? order.indexOf(metric) : order.length

const NOUNS: Readonly<Record<HeavyItem['kind'], string>> = {
  pull_request: 'change',
  deployment: 'deployment',
  incident: 'incident',
  gap: 'gap between deployments',
}
const plural = (noun: string): string => noun.replace(/^\w+/, (word) => `${word}s`)

const counted = (key: KeyAnswer, figure: string): Figure => ({
  ...figureOf(key, figure),
  items: narrowed(key.items, 'counted'),
})

/** `ten changes hold 26 % of all the hours`, or only how many there are. */
function heldClause({ heaviest, of, share }: WhatToLookAt, key: KeyAnswer): Sentence {
  const noun = NOUNS[heaviest[0]?.kind ?? 'pull_request']
  const size = counted(key, numberInWords(heaviest.length))
  const many = heaviest.length === 1 ? noun : plural(noun)
  if (heaviest.length >= of)
    return heaviest.length === 1 ? say`there is ${size} ${noun}` : say`there are ${size} ${many}`
  if (share === undefined || share === null) {
    return say`${size} of ${counted(key, numberInWords(of))} ${plural(noun)} ${heaviest.length === 1 ? 'weighs' : 'weigh'} most`
  }
  const hold = heaviest.length === 1 ? 'holds' : 'hold'
  return say`${size} ${many} ${hold} ${counted(key, shareInWords(share))} of all the hours`
}

/** The stage in which most of the heaviest changes spent the most time. */
function stageClause({ heaviest }: WhatToLookAt, key: KeyAnswer): Sentence[] {
  const groups = Map.groupBy(
    heaviest.flatMap(({ longestStage }) => longestStage ?? []),
    (stage) => stage,
  )
  const [most] = [...groups].sort(([, one], [, other]) => other.length - one.length)
  // A minority does not say what the heaviest have in common.
  if (!most || most[1].length * 2 < heaviest.length) return []
  const [stage, { length }] = most
  const who =
    length === heaviest.length && length > 1
      ? say`all ${counted(key, numberInWords(length))}`
      : say`${counted(key, numberInWords(length))}`
  const ofThem = length === heaviest.length ? '' : ' of them'
  return [say`${who}${ofThem} ${SPENT[stage]}`]
}

function withoutClause({ without, heaviest, of }: WhatToLookAt, key: KeyAnswer): Sentence[] {
  if (without === null || heaviest.length >= of || key.now.value === null) return []
  const value = figureOf(key, valueInWords(key.unit, without))
  return [say`without ${heaviest.length === 1 ? 'it' : 'them'}, ${nameOf(key)} would be ${value}`]
}

function sureFinding({ keys, sure }: Pick<Parts, 'keys' | 'sure'>): Sentence {
  const told = sure.counted.find(({ total }) => total > 0)
  if (!told) return say`Nothing was collected that could count`
  const { material, total } = told
  const key = keys.find(({ metric }) => materialOf(metric) === material) ?? keys[0]
  const figure = `${told.counted.toLocaleString('en')} of ${total.toLocaleString('en')}`
  const one = total === 1 ? material.replace(/s$/, '') : material
  const count = total === 1 ? 'counts' : 'count'
  const share = key ? say`${figureOf(key, figure)} ${one} ${count}` : say`${figure} ${one} ${count}`
  const { length } = sure.gaps
  const lack = length === 0 ? [] : [say`${length === 1 ? 'one part is' : `${numberInWords(length)} parts are`} missing`]
  return sentenceOfClauses([share, ...lack], '')
}

/** The material that the items of a metric are. */
export function materialOf(metric: string): string {
  const { counts, madeOf } = metricNamed(metric)
  return counts ?? madeOf[0] ?? 'items'
}
