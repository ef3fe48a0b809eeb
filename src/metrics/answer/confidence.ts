/** How sure an answer is, in one word, by the table that docs/metrics.md publishes. */
import { counted as inWords } from '../../basics/counted.ts'
import type { HowSure } from './answer.ts'

interface Bounds {
  readonly word: 'high' | 'medium' | 'low'
  /** The largest part of the lists that may be missing, between 0 and 1. */
  readonly mostMissing: number
  /** The smallest part of the records that must count, of those that could. */
  readonly leastShare: number
  /** The fewest records that must count. */
  readonly leastSample: number
}

/** The first row whose bounds all hold gives the word; without a record that counts there is none. */
export const CONFIDENCE: readonly Bounds[] = [
  { word: 'high', mostMissing: 0, leastShare: 0.8, leastSample: 30 },
  { word: 'medium', mostMissing: 0.1, leastShare: 0.5, leastSample: 10 },
  { word: 'low', mostMissing: 1, leastShare: 0, leastSample: 1 },
]

export interface Grounds {
  /** Lists that did not come whole, of all lists that are collected. */
  readonly missing: number
  readonly lists: number
  /** For each material: the records that count, and those that could. */
  readonly materials: readonly { readonly material: string; readonly counted: number; readonly possible: number }[]
}

export function confidenceOf(grounds: Grounds): Pick<HowSure, 'confidence' | 'because'> {
  const place = CONFIDENCE.findIndex((bounds) => faultsOf(grounds, bounds).length === 0)
  const reached = CONFIDENCE[place]
  if (!reached) return { confidence: 'none', because: 'Nothing counts.' }
  const above = CONFIDENCE[place - 1]
  if (!above) return { confidence: reached.word, because: 'Every list came whole, and enough of the records count.' }
  const faults = faultsOf(grounds, above).join('; ')
  return { confidence: reached.word, because: `${faults.charAt(0).toUpperCase()}${faults.slice(1)}.` }
}

/** The reasons for which an answer misses these bounds. */
function faultsOf({ missing, lists, materials }: Grounds, { mostMissing, leastShare, leastSample }: Bounds): string[] {
  const known = materials.filter(({ possible }) => possible > 0)
  const isMissing = lists > 0 && missing / lists > mostMissing
  return [
    ...(known.length === 0 ? ['nothing could count'] : []),
    ...(isMissing ? [`${missing.toLocaleString('en')} of ${inWords(lists, 'list')} did not come whole`] : []),
    ...known.flatMap(({ material, counted, possible }) => {
      const one = material.replace(/s$/, '')
      if (counted / possible < leastShare)
        return [`only ${counted.toLocaleString('en')} of ${inWords(possible, one)} count`]
      return counted < leastSample ? [`only ${inWords(counted, one)} ${counted === 1 ? 'counts' : 'count'}`] : []
    }),
  ]
}
