import { counted } from '../parts/words.ts'
import { exactText, levelOf, numberOf, partsOf, textOf } from './cells.ts'
import { changeOf, type FigureChange, wordsOf } from './figure-rows.ts'
import type { Panel, PanelRows } from './view.ts'

interface NumberProps {
  readonly panel: Panel
  readonly rows: PanelRows
  readonly before: PanelRows | undefined
}

/** A large number, what it is based on, and its change since an equally long period before. */
export function NumberFigure({ panel, rows, before }: NumberProps) {
  const kind = rows.columns[0]?.kind ?? 'count'
  const value = numberOf(rows.rows[0]?.[0])
  if (value === null) return null
  const change = changeOf(panel, rows, before)
  const level = levelOf(value, panel.limits, panel.better)
  const words = wordsOf(rows)
  return (
    <div className="figure">
      <div className="value number" title={exactText(value, kind)}>
        {level && <i className={`level ${level}`} role="img" aria-label={level} />}
        {words ? (
          <span className="words">{words}</span>
        ) : (
          partsOf(value, kind).map(({ amount, unit }) => (
            <span key={unit}>
              {amount}
              <small>{unit}</small>
            </span>
          ))
        )}
      </div>
      <div className="row small">
        <span className="quiet">{basisOf(rows)}</span>
        {change && <Change change={change} />}
      </div>
    </div>
  )
}

/** The further columns tell what the number is based on. */
function basisOf({ columns, rows }: PanelRows): string {
  /** "6 of 6 items" would suggest that there could have been fewer. */
  const isCount = (all: number) => columns[0]?.kind === 'count' && numberOf(rows[0]?.[0]) === all
  return columns
    .slice(1)
    .flatMap(({ name, title, kind }, index) => {
      const value = rows[0]?.[index + 1]
      if (value === null || value === undefined || name === 'words') return []
      if (name === 'counted') return [`${isCount(Number(value)) ? '' : 'of '}${counted(Number(value), 'item')}`]
      return [`${title}: ${textOf(value, kind)}`]
    })
    .join(' · ')
}

function Change({ change: { words, isGood, before } }: { readonly change: FigureChange }) {
  const look = words === 'no change' ? 'faint' : `number ${isGood === null ? 'quiet' : isGood ? 'good' : 'bad'}`
  return (
    <span className={look} title={`Against the period before: ${before}`}>
      {words}
    </span>
  )
}
