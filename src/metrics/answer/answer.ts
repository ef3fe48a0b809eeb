/**
 * The answer to "how are we doing?", for one range and the period before it. Everything that shows it (pages, terminal,
 * digests, alerts, assistants) reads this one object, so that all of them say the same.
 */

import type { NoData } from '../findings/no-data.ts'
import type { Grade } from '../grades/benchmarks.ts'
import type { NoGrade } from '../grades/evidence.ts'
import type { Unit } from '../metric.ts'

/** Whose answer it is. Of `all`, the name is null. */
export interface Whose {
  readonly kind: 'project' | 'team' | 'group' | 'all'
  readonly name: string | null
}

export interface Period {
  readonly from: Date
  readonly to: Date
}

/** Holds the true value nine times in ten. */
export interface LikelyRange {
  readonly low: number
  readonly high: number
}

/** One value with what it rests on. */
export interface Measured {
  /** Null if nothing counts. */
  readonly value: number | null
  readonly inWords: string
  /** Items that count, and items that were looked at. */
  readonly counted: number
  readonly total: number
  /** Null if there is no value, or too little to say. */
  readonly likely: LikelyRange | null
  readonly noData?: NoData
}

export interface Change {
  /** Now minus before, in the unit of the metric. */
  readonly amount: number
  readonly inWords: string
  readonly likely: LikelyRange | null
  /** The likely range holds 0, or there is too little to say: then nothing is coloured, and no verb claims a change. */
  readonly mayBeChance: boolean
  /** `none` if it may be chance. */
  readonly direction: 'better' | 'worse' | 'none'
}

export interface TargetAnswer {
  readonly value: number
  readonly inWords: string
  /** `unknown` if there is no value. */
  readonly state: 'met' | 'missed' | 'unknown'
  /** Value minus target, in the unit of the metric; null if there is no value. */
  readonly distance: number | null
  readonly distanceInWords: string | null
  /** The group that it is inherited from; null if it is set for whom was asked. */
  readonly inheritedFrom: string | null
  readonly setBy: string
  readonly setAt: Date
}

export interface TrendPoint {
  readonly start: Date
  readonly value: number | null
  readonly counted: number
  /** The bucket reaches beyond the range, or is not over yet. */
  readonly isPartial: boolean
}

export interface KeyAnswer {
  readonly metric: string
  readonly title: string
  readonly definition: string
  readonly group: 'throughput' | 'instability'
  readonly unit: Unit
  readonly better: 'higher' | 'lower'
  readonly now: Measured
  readonly before: Measured
  /** Null if one of the two periods has no value. */
  readonly change: Change | null
  readonly target: TargetAnswer | null
  readonly trend: readonly TrendPoint[]
  readonly trendBefore: readonly TrendPoint[]
  /** Bands of 2021 and 2023, a choice; empty without evidence. */
  readonly grades: readonly Grade[]
  readonly noGrade?: NoGrade
  /** Where its items are, as an address of `/v1`. */
  readonly items: string
}

/** The stages of a change, in order. */
export const STAGES = ['coding', 'pickup', 'review', 'deploy'] as const
export type Stage = (typeof STAGES)[number]

export interface StageAnswer {
  readonly stage: Stage
  readonly title: string
  readonly meaning: string
  /** Work, or waiting. */
  readonly isWaiting: boolean
  /** Minutes; those of all stages add up to the lead time that is shown. */
  readonly now: number | null
  readonly before: number | null
  /** Shares of the whole, between 0 and 1. */
  readonly share: number | null
  readonly shareBefore: number | null
  /** Now minus before, and the part of the whole change that it explains. */
  readonly change: number | null
  readonly explains: number | null
}

export interface WhereTimeGoes {
  readonly stages: readonly StageAnswer[]
  /** How many changes nearest the median the stages are the mean of. */
  readonly restsOn: number
  readonly restsOnBefore: number
  readonly noData?: NoData
}

export interface HeavyItem {
  readonly kind: 'pull_request' | 'deployment' | 'incident' | 'gap'
  readonly id: string
  readonly title: string
  readonly url: string | null
  readonly repository: string | null
  readonly at: Date | null
  readonly until?: Date | null
  /** In the unit of the metric. */
  readonly value: number | null
  readonly inWords: string
  readonly size: number | null
  readonly stages: readonly { readonly stage: Stage; readonly minutes: number | null }[]
  readonly longestStage: Stage | null
  /** Why it stands here, such as the rule by which a deployment counts as rework. */
  readonly why: string | null
}

/** The place to look first for one metric. */
export interface WhatToLookAt {
  readonly metric: string
  readonly heaviest: readonly HeavyItem[]
  /** The value if the heaviest items had not been; null where that says nothing. */
  readonly without: number | null
  readonly withoutInWords: string | null
  /** How many items there are in all. */
  readonly of: number
}

/** A part of a sentence: plain words, or a figure with the address of its items. */
export type Piece = string | { readonly figure: string; readonly metric: string; readonly items: string }
export type Sentence = readonly Piece[]

/** One sentence for one cause, however many errors it made. */
export interface Cause {
  readonly kind: string
  readonly sentence: string
  readonly remedy: string
  /** The page on which it is mended. */
  readonly page: string | null
  /** How many items it costs. The most costly cause stands first. */
  readonly cost: number
  /** Lines that are folded below the sentence. */
  readonly details: readonly string[]
}

export interface HowSure {
  readonly confidence: 'high' | 'medium' | 'low' | 'none'
  /** Why it is not higher, by the table in docs/metrics.md. */
  readonly because: string
  readonly counted: readonly {
    readonly material: string
    readonly counted: number
    readonly total: number
    readonly leftOut: readonly {
      readonly reason: string
      readonly meaning: string
      readonly count: number
      readonly remedy: string
      /** The page on which it is mended; null if there is nothing to do. */
      readonly page: string | null
    }[]
  }[]
  readonly gaps: readonly { readonly from: Date; readonly to: Date; readonly what: string; readonly why: string }[]
  readonly rules: readonly { readonly rule: string; readonly value: string; readonly page: string | null }[]
  /** When the newest run that brought data ended. */
  readonly collectedAt: Date | null
}

export interface Answer {
  readonly whose: Whose
  readonly environment: string
  readonly range: Period
  readonly before: Period
  readonly projects: number
  readonly sentence: readonly Sentence[]
  readonly keys: readonly KeyAnswer[]
  readonly where: WhereTimeGoes
  readonly look: readonly WhatToLookAt[]
  readonly attention: readonly Cause[]
  readonly sure: HowSure
  /** The finding of each part, which is its title on the page. */
  readonly findings: Readonly<Record<'keys' | 'where' | 'look' | 'sure', Sentence>>
}
