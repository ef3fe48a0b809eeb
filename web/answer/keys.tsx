import { Link } from '@tanstack/react-router'
import type { KeyAnswer } from '../api/description.ts'
import { Band } from '../parts/parts.tsx'
import { Figure } from '../projects/figure.tsx'
import { valueText } from '../projects/keys.ts'
import { Sparkline } from '../projects/sparkline.tsx'

const BAND_OF = '2023'

/** Five cards whose rows line up: value, change, course, target, band, sample. */
export const Keys = ({ keys }: { readonly keys: readonly KeyAnswer[] }) => (
  <div className="keys5">
    {keys.map((key) => (
      <KeyCard key={key.metric} of={key} />
    ))}
  </div>
)

function KeyCard({ of }: { readonly of: KeyAnswer }) {
  const { metric, title, definition, unit, now, trend, trendBefore } = of
  return (
    <article className="card key5" aria-label={title}>
      <h3 title={definition}>{title}</h3>
      {now.value === null ? (
        <p className="value none">no value</p>
      ) : (
        <Link
          from="/answer"
          to="/answer"
          search={(search) => ({ ...search, items: metric })}
          className="value number open-number"
          title={`The items that ${title.toLowerCase()} is made of`}
        >
          <Figure value={now.value} unit={unit} inWords={now.inWords} />
        </Link>
      )}
      <Was of={of} />
      <Sparkline
        points={trend.map(({ value }) => value)}
        before={trendBefore.map(({ value }) => value)}
        isBars={unit === 'days per week'}
      />
      <dl>
        <Target of={of} />
        <Grade of={of} />
      </dl>
      <p className="of">{now.value === null ? (now.noData?.because ?? 'Nothing counts.') : restOf(of)}</p>
    </article>
  )
}

const restOf = ({ restsOn, unit, now: { likely } }: KeyAnswer) =>
  `${restsOn}.${likely ? ` Likely between ${valueText(likely.low, unit)} and ${valueText(likely.high, unit)}.` : ''}`

function Was({ of: { change, before } }: { readonly of: KeyAnswer }) {
  if (before.value === null) return <div className="was">nothing to compare with</div>
  const look = change?.direction === 'better' ? 'good' : change?.direction === 'worse' ? 'bad' : undefined
  return (
    <div className="was">
      {change && (
        <b className={look}>
          {change.inWords} {change.mayBeChance && change.amount !== 0 && <span>may be chance</span>}
        </b>
      )}
      was {before.inWords}
    </div>
  )
}

function Target({ of: { target } }: { readonly of: KeyAnswer }) {
  if (!target) {
    return (
      <>
        <dt>Target</dt>
        <dd className="quiet">not set</dd>
      </>
    )
  }
  const { inWords, state, distanceInWords, inheritedFrom, setBy } = target
  const who = inheritedFrom ? `from the group ${inheritedFrom}` : `set by ${setBy}`
  return (
    <>
      <dt title={who}>Target {inWords}</dt>
      <dd>
        {state === 'met' && <span className="met">met</span>}
        {state === 'missed' && <span className="over">{distanceInWords ?? 'missed'}</span>}
        {state === 'unknown' && <span className="quiet">no value</span>}
      </dd>
    </>
  )
}

/** A choice of its year, and never without evidence. */
function Grade({ of: { grades, noGrade } }: { readonly of: KeyAnswer }) {
  const grade = grades.find(({ report }) => report === BAND_OF)
  if (grade)
    return (
      <>
        <dt>Band of {BAND_OF}</dt>
        <dd>
          <Band band={grade.band} />
        </dd>
      </>
    )
  return noGrade ? (
    <>
      <dt>Band of {BAND_OF}</dt>
      <dd className="full" title={noGrade.remedy}>
        none: {noGrade.because}
      </dd>
    </>
  ) : null
}
