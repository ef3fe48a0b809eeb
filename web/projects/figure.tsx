import { quantity } from '../parts/words.ts'
import { isSaidInWords } from './key-change.ts'

interface FigureProps {
  readonly value: number
  readonly unit: string
  readonly inWords: string
}

/** A value in large letters, or words if the number alone would mislead. */
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
  /** For a line of a table. */
  readonly isShort?: boolean
}

/** Says why there is no grade, and what to do about it. */
export function NoGrade({ of: { noGrade }, isShort = false }: NoGradeProps) {
  if (!noGrade) return <span />
  const { because, remedy } = noGrade
  return (
    <span className="small quiet" title={isShort ? `${because}. ${remedy}` : remedy}>
      {isShort ? 'no grade' : `no grade: ${because}`}
    </span>
  )
}
