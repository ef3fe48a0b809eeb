/** Says which stage takes the most time, and what part of the whole it is. */
import { valueInWords } from '../words/value-words.ts'
import type { StageAnswer, WhereTimeGoes } from './answer.ts'

type KnownStage = StageAnswer & { readonly share: number }

/** The stage with the largest share; undefined if no share is known. */
export const largestStage = ({ stages }: WhereTimeGoes): KnownStage | undefined =>
  stages
    .filter((stage): stage is KnownStage => stage.share !== null)
    .reduce<KnownStage | undefined>((most, stage) => (most && most.share >= stage.share ? most : stage), undefined)

export const shareInWords = (share: number): string => valueInWords('share', Math.round(share * 100) / 100)

/** Parts that have a name, and how far from it a share may be. */
const NAMED_PARTS: readonly (readonly [part: number, name: string])[] = [
  [1 / 4, 'a quarter'],
  [1 / 3, 'a third'],
  [1 / 2, 'half'],
  [2 / 3, 'two thirds'],
  [3 / 4, 'three quarters'],
]
const NEAR = 0.02

/** `half`, or `61 %` if no part with a name is near. */
export const partInWords = (share: number): string =>
  NAMED_PARTS.find(([part]) => Math.abs(part - share) <= NEAR)?.[1] ?? shareInWords(share)
