/** Compares a value with its target. */
import type { TargetAnswer } from './answer/answer.ts'
import type { Metric } from './metric.ts'
import { valueInWords } from './words/value-words.ts'

interface SetTarget {
  readonly value: number
  readonly inheritedFrom: string | null
  readonly setBy: string
  readonly setAt: Date
}

export function targetAnswer({ unit, better }: Metric, target: SetTarget, value: number | null): TargetAnswer {
  const distance = value === null ? null : value - target.value
  const isMet = distance !== null && (better === 'lower' ? distance <= 0 : distance >= 0)
  return {
    value: target.value,
    inWords: valueInWords(unit, target.value),
    state: distance === null ? 'unknown' : isMet ? 'met' : 'missed',
    distance,
    distanceInWords: distance === null ? null : valueInWords(unit, distance),
    inheritedFrom: target.inheritedFrom,
    setBy: target.setBy,
    setAt: target.setAt,
  }
}
