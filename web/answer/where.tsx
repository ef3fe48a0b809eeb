import type { Answer } from '../api/description.ts'
import { duration } from '../parts/words.ts'
import type { Period } from '../projects/keys.ts'
import { daysOf } from './time-scale.ts'

type Stages = Answer['where']['stages']
type Side = 'now' | 'before'

const sum = (stages: Stages, side: Side) => stages.reduce((all, stage) => all + (stage[side] ?? 0), 0)
const percent = (share: number | null) => (share === null ? '' : `${Math.round(share * 100)} %`)
/** A name needs this part of the bar; narrower stages are named in the table only. */
const ROOM_FOR_NAME = 0.09

/** All stages in one bar, now above before, and as a table that adds up. */
export function Where({ answer: { where, range, before } }: { readonly answer: Answer }) {
  const { stages, noData } = where
  if (sum(stages, 'now') === 0)
    return <p className="card quiet">{noData?.because ?? 'No change was deployed in this range.'}</p>
  const hasBefore = sum(stages, 'before') > 0
  return (
    <article className="card">
      <div className="goes" aria-hidden="true">
        <div />
        <div className="names">
          {stages.map(({ stage, title, share }) => (
            <span key={stage} style={{ flex: `${share ?? 0} 1 0` }}>
              {(share ?? 0) >= ROOM_FOR_NAME && (
                <>
                  <b>{title}</b>
                  <span className="quiet">{percent(share)}</span>
                </>
              )}
            </span>
          ))}
        </div>
        <Bar stages={stages} side="now" period={range} />
        {hasBefore && <Bar stages={stages} side="before" period={before} />}
      </div>
      <div className="across">
        <table className="plain stages">
          <thead>
            <tr>
              <th>Stage</th>
              <th className="right">Now</th>
              <th className="right">Share</th>
              <th className="right wide">Before</th>
              <th className="right wide">Share</th>
              <th className="right">Change</th>
            </tr>
          </thead>
          <tbody>
            {stages.map(({ stage, title, meaning, now, share, before: past, shareBefore, change }) => (
              <tr key={stage}>
                <td>
                  <i className={`swatch ${stage}`} aria-hidden="true" />
                  <b>{title}</b> <span className="quiet wide">{meaning}</span>
                </td>
                <td className="right">{now === null ? '' : duration(now)}</td>
                <td className="right">{percent(share)}</td>
                <td className="right quiet wide">{past === null ? '' : duration(past)}</td>
                <td className="right quiet wide">{percent(shareBefore)}</td>
                <td className="right">{changeText(change)}</td>
              </tr>
            ))}
            <tr className="sum">
              <td>Change lead time</td>
              <td className="right">{duration(sum(stages, 'now'))}</td>
              <td className="right">100 %</td>
              <td className="right wide">{hasBefore ? duration(sum(stages, 'before')) : ''}</td>
              <td className="right wide">{hasBefore ? '100 %' : ''}</td>
              <td className="right">{hasBefore ? changeText(sum(stages, 'now') - sum(stages, 'before')) : ''}</td>
            </tr>
          </tbody>
        </table>
      </div>
    </article>
  )
}

function changeText(minutes: number | null): string {
  if (minutes === null) return ''
  if (Math.abs(minutes) < 1) return 'as before'
  return `${minutes < 0 ? '↓' : '↑'} ${duration(Math.abs(minutes))}`
}

interface BarProps {
  readonly stages: Stages
  readonly side: Side
  readonly period: Period
}
const Bar = ({ stages, side, period }: BarProps) => (
  <>
    <div className="label">
      <b>{duration(sum(stages, side))}</b>
      {daysOf(period)}
    </div>
    <div className={`stage-bar ${side}`}>
      {stages.map(({ stage, [side]: minutes }) => (
        <i key={stage} className={stage} style={{ flex: `${minutes ?? 0} 1 0` }} />
      ))}
    </div>
  </>
)
