import { counted } from '../parts/words.ts'
import { differenceText, exactText, levelOf, numberOf, partsOf, textOf } from './cells.ts'
import type { Panel, PanelRows } from './view.ts'

interface NumberProps {
  readonly panel: Panel
  readonly rows: PanelRows
  readonly before: PanelRows | undefined
}

/** One large number, what it rests on, and how it was in as long a time before. */
export function NumberFigure({ panel, rows, before }: NumberProps) {
  const kind = rows.columns[0]?.kind ?? 'count'
  const value = numberOf(rows.rows[0]?.[0])
  if (value === null) return null
  const earlier = before && numberOf(before.rows[0]?.[0])
  const level = levelOf(value, panel.limits, panel.better)
  const words = value === 0 ? wordsOf(rows) : undefined
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
        {earlier !== null && earlier !== undefined && (
          <Change panel={panel} kind={kind} value={value} before={earlier} />
        )}
      </div>
    </div>
  )
}

/** What is said where a 0 would not be true: of a median of days, it would say that there were none; of a rate, that nothing failed. */
function wordsOf({ columns, rows }: PanelRows): string | undefined {
  const words = rows[0]?.[columns.findIndex(({ name }) => name === 'words')]
  return typeof words === 'string' ? words : undefined
}

/** Further columns say what the number is made of. */
function basisOf({ columns, rows }: PanelRows): string {
  /** "6 of 6 items" would say that there could have been fewer. */
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

interface ChangeProps {
  readonly panel: Pick<Panel, 'better'>
  readonly kind: string
  readonly value: number
  readonly before: number
}

function Change({ panel: { better }, kind, value, before }: ChangeProps) {
  const difference = value - before
  const isSame = difference === 0 || Math.abs(difference) < Math.abs(before) * 0.01
  const title = `Against the period before: ${textOf(before, kind)}`
  if (isSame)
    return (
      <span className="faint" title={title}>
        no change
      </span>
    )
  const look = better === null ? 'quiet' : difference < 0 === (better === 'lower') ? 'good' : 'bad'
  return (
    <span className={`number ${look}`} title={title}>
      {difference < 0 ? '↓' : '↑'} {differenceText(Math.abs(difference), kind)}
    </span>
  )
}
