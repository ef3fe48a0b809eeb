import type { ReactNode } from 'react'
import type { Sentence as Pieces } from '../api/description.ts'
import { Sentence } from './sentence.tsx'

interface PartProps {
  readonly id: string
  /** The title is what was found. */
  readonly finding: Pieces
  /** How it is measured. */
  readonly how: string
  readonly legend?: ReactNode
  readonly children: ReactNode
}

export const Part = ({ id, finding, how, legend, children }: PartProps) => (
  <section className="answer-part" aria-labelledby={id}>
    <header>
      <div>
        <h2 id={id}>
          <Sentence of={finding} />
        </h2>
        <p>{how}</p>
      </div>
      {legend && <div className="legend">{legend}</div>}
    </header>
    {children}
  </section>
)
