import { quantity } from '../parts/words.ts'
import { isSaidInWords } from './key-change.ts'

interface FigureProps {
  readonly value: number
  readonly unit: string
  readonly inWords: string
}

/** A value in large letters; in words where the number alone would not be true. */
export function Figure({ value, unit, inWords }: FigureProps) {
  if (isSaidInWords(value, unit)) return <span className="words">{inWords}</span>
  return quantity(value, unit).map(({ amount, unit: word }) => (
    <span key={word}>
      {amount}
      <small>{word}</small>
    </span>
  ))
}

interface NoGradeProps {
  readonly of: { readonly noGrade?: { readonly because: string; readonly remedy: string } }
  /** In a line of a table. */
  readonly isShort?: boolean
}

/** Why there is no band, and what to do about it. */
export function NoGrade({ of: { noGrade }, isShort = false }: NoGradeProps) {
  if (!noGrade) return <span />
  const { because, remedy } = noGrade
  return (
    <span className="small quiet" title={isShort ? `${because}. ${remedy}` : remedy}>
      {isShort ? 'no grade' : `no grade: ${because}`}
    </span>
  )
}
