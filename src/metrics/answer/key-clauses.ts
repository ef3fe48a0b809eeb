/** Says one key: its value, how it changed, and what its items did. Every clause follows from the numbers of the key alone. */

import { metricNamed } from '../index.ts'
import type { Metric } from '../metric.ts'
import { amountInWords } from '../words/change-words.ts'
import { isSaidInCounts } from '../words/value-words.ts'
import type { Change, KeyAnswer, Sentence } from './answer.ts'
import { type Figure, figured, say } from './say.ts'

/** Differences up to this part of the value before are "about as before". */
const ABOUT = 0.25

/** A change that is more than chance. */
type RealChange = Change & { readonly mayBeChance: false }
export const realChange = ({ change }: KeyAnswer): RealChange | undefined =>
  change && !change.mayBeChance && change.direction !== 'none' ? (change as RealChange) : undefined

export const figureOf = ({ metric, items }: Pick<KeyAnswer, 'metric' | 'items'>, figure: string): Figure => ({
  figure,
  metric,
  items,
})

/** Leads to those items alone that count, or that count against the number. */
export const narrowed = (items: string, reason: 'counted' | 'against'): string =>
  `${items}${items.includes('?') ? '&' : '?'}reason=${reason}`

const lower = (text: string): string => text.charAt(0).toLowerCase() + text.slice(1)

/** The name of a metric in the middle of a sentence. */
export function nameOf({ metric, title }: Pick<KeyAnswer, 'metric' | 'title'>): string {
  return lower(metricNamed(metric).shortTitle ?? title)
}

const currentValue = (key: KeyAnswer): Figure => figureOf(key, key.now.inWords)
const amountOf = (key: KeyAnswer, { amount }: Change): Figure =>
  figureOf(key, amountInWords(key.unit, Math.abs(amount)))

const itemsOf = ({ madeOf: [what = 'deployments'] }: Metric, count: number): string =>
  count === 1 ? what.replace(/s$/, '') : what

/** Says a change that is more than chance, with what changed as its subject. */
export function changeClause(key: KeyAnswer, change: RealChange): Sentence {
  const metric = metricNamed(key.metric)
  const { value, counted, inWords } = key.now
  const isUp = (change.direction === 'better') === (key.better === 'higher')
  if (key.against !== null && metric.happened) {
    const figure = `${key.against.toLocaleString('en')} of ${counted.toLocaleString('en')}`
    const against = { ...figureOf(key, figure), items: narrowed(key.items, 'against') }
    return say`${against} ${itemsOf(metric, counted)} ${metric.happened}, ${amountOf(key, change)} ${isUp ? 'more' : 'less'} than before`
  }
  const verb = isUp ? 'rose' : 'fell'
  // The value of such a week is written as a number of deployments, which no number of days leads to.
  const isInCounts = [value, key.before.value].some((each) => isSaidInCounts(key.unit, each))
  return isInCounts
    ? say`${nameOf(key)} ${verb} from ${figureOf(key, key.before.inWords)} to ${figureOf(key, inWords)}`
    : say`${nameOf(key)} ${verb} by ${amountOf(key, change)} to ${currentValue(key)}`
}

/** Says the value of a key without claiming that it changed. */
export function stateClause(key: KeyAnswer): Sentence {
  const is = say`${nameOf(key)} is ${currentValue(key)}`
  const { change, before } = key
  if (!change) return is
  if (change.amount === 0 && key.now.inWords === before.inWords) return say`${is}, as before`
  const isNear = Math.abs(change.amount) <= ABOUT * Math.abs(before.value ?? 0)
  return isNear
    ? say`${is}, about as before: the difference may be chance`
    : say`${is} against ${figureOf(key, before.inWords)} before: the difference may be chance`
}

/** Says that a key has no value, and why. */
export const missingClause = (key: KeyAnswer): Sentence => say`there is no ${nameOf(key)}: ${reasonOf(key)}`

export const NOTHING_COUNTS = 'nothing that counts happened'

export const reasonOf = (key: KeyAnswer): Sentence => figured(key.now.noData?.because ?? NOTHING_COUNTS, key)
