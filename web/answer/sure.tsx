import type { Answer } from '../api/description.ts'
import { dayText } from '../dashboards/cells.ts'
import { addressOf, LinkTo } from '../parts/anywhere.tsx'
import { count } from '../parts/words.ts'
import { valueText } from '../projects/keys.ts'
import { Causes } from './causes.tsx'

type Sure = Answer['sure']

const CONFIDENCE: Readonly<Record<Sure['confidence'], string>> = {
  high: 'High confidence',
  medium: 'Medium confidence',
  low: 'Low confidence',
  none: 'No confidence yet',
}

export function HowSure({ answer: { sure, keys, attention } }: { readonly answer: Answer }) {
  return (
    <div className="cols">
      <article className="card">
        <h3>What is not counted</h3>
        {sure.counted.map((each) => (
          <Counted key={each.material} of={each} />
        ))}
      </article>
      <div className="stack">
        <article className="card">
          <h3>{CONFIDENCE[sure.confidence]}</h3>
          <p className="small quiet">{sure.because}</p>
        </article>
        <Causes of={attention} />
        <article className="card">
          <h3>Likely range</h3>
          <p className="small quiet">Where the true value lies nine times in ten. Line: before.</p>
          {keys.map((key) => (
            <Range key={key.metric} of={key} />
          ))}
        </article>
        {sure.gaps.length > 0 && (
          <article className="card">
            <h3>Gaps</h3>
            {sure.gaps.map(({ from, to, what, why }) => (
              <div className="why" key={`${what} ${from}`}>
                <div>
                  {dayText(from)} – {dayText(to)}: {what}
                  <small>{why}</small>
                </div>
              </div>
            ))}
          </article>
        )}
        {sure.rules.length > 0 && (
          <article className="card">
            <h3>Rules in force</h3>
            {sure.rules.map(({ rule, value, page }) => (
              <div className="why" key={rule}>
                <div>
                  {rule}
                  <small>{value}</small>
                </div>
                {page && <LinkTo at={addressOf(page)}>Change</LinkTo>}
              </div>
            ))}
          </article>
        )}
      </div>
    </div>
  )
}

const Counted = ({ of: { material, counted, total, leftOut } }: { readonly of: Sure['counted'][number] }) => (
  <div className="block">
    <div className="row small">
      <span>{material[0]?.toUpperCase() + material.slice(1)}</span>
      <span className="number">
        <b>{count(counted)}</b> of {count(total)} count
      </span>
    </div>
    <div className="share" aria-hidden="true">
      <i style={{ flex: `${counted} 1 0` }} />
      <i style={{ flex: `${Math.max(0, total - counted)} 1 0` }} />
    </div>
    {leftOut.map(({ reason, meaning, count: number, remedy, page }) => (
      <div className="why counts" key={reason}>
        <b className="number">{count(number)}</b>
        <div>
          {meaning}
          <small>{remedy}</small>
        </div>
        {page ? <LinkTo at={addressOf(page)}>Mend it</LinkTo> : <span className="small quiet">nothing to do</span>}
      </div>
    ))}
  </div>
)

function Range({ of: { title, unit, now, before } }: { readonly of: Answer['keys'][number] }) {
  const { value, likely } = now
  if (value === null || !likely) {
    return (
      <div className="range">
        <span>{title}</span>
        <span className="small quiet">too little to say</span>
      </div>
    )
  }
  const ends = [likely.low, likely.high, value, ...(before.value === null ? [] : [before.value])]
  const [least, most] = [Math.min(...ends), Math.max(...ends)]
  const at = (number: number) => `${most === least ? 50 : 6 + ((number - least) / (most - least)) * 88}%`
  const width = most === least ? '0%' : `${((likely.high - likely.low) / (most - least)) * 88}%`
  return (
    <div className="range">
      <span>{title}</span>
      <span className="track" aria-hidden="true">
        <i style={{ left: at(likely.low), width }} />
        {before.value !== null && <u style={{ left: at(before.value) }} />}
        <b style={{ left: at(value) }} />
      </span>
      <span className="small quiet number">
        {valueText(likely.low, unit)} – {valueText(likely.high, unit)}
      </span>
    </div>
  )
}
