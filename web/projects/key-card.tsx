import { Link } from '@tanstack/react-router'
import { Band } from '../parts/parts.tsx'
import { count, counted, duration, quantity } from '../parts/words.ts'
import { useKey } from './keys.ts'

interface KeyCardProps {
  readonly metric: string
  readonly title: string
  /** What it counts. */
  readonly of: string
  readonly project: string
  readonly months: number
}

const LOWER_IS_BETTER: Readonly<Record<string, boolean>> = {
  'change-lead-time': true,
  'change-failure-rate': true,
  'failed-deployment-recovery-time': true,
}
const UNITS: Readonly<Record<string, string>> = {
  'change-lead-time': 'minutes',
  'deployment-frequency': 'days per week',
  'change-failure-rate': 'share',
  'failed-deployment-recovery-time': 'minutes',
}

export function KeyCard({ metric, title, of, project, months }: KeyCardProps) {
  const { now, before, series } = useKey(metric, project, months)
  const value = now.data?.value ?? null
  const unit = UNITS[metric] ?? ''
  const grade = now.data?.grades.find(({ report }) => report === '2023')
  const earlier = before.data?.values[0]?.value ?? null
  return (
    <article className="card key" aria-label={title}>
      <header>
        {title}
        <Link to="/projects/$name" params={{ name: project }} search={{ months, explain: metric }} className="small">
          Explain
        </Link>
      </header>
      {now.isError ? (
        <p className="small bad">{now.error.message}</p>
      ) : value === null ? (
        <p className="quiet" style={{ minHeight: 44 }}>
          {now.data ? whyNothing(now.data) : ' '}
        </p>
      ) : (
        <div className="value number">
          {quantity(value, unit).map(({ amount, unit }) => (
            <span key={unit}>
              {amount}
              <small>{unit}</small>
            </span>
          ))}
        </div>
      )}
      <div className="row">
        {grade ? <Band band={grade.band} /> : <span />}
        {value !== null && earlier !== null && (
          <Change from={earlier} to={value} unit={unit} isLowerBetter={LOWER_IS_BETTER[metric] ?? false} />
        )}
      </div>
      <Sparkline points={(series.data?.points ?? []).map((point) => point.value)} />
      <p className="small quiet">{now.data && value !== null ? restsOn(now.data, of) : ' '}</p>
    </article>
  )
}

interface Explained {
  readonly counted: number
  readonly total: number
  readonly leftOut: readonly { readonly meaning: string; readonly count: number }[]
}

const restsOn = ({ counted: own, total }: Explained, of: string) =>
  own === total ? `Of ${counted(own, of)}.` : `Of ${counted(own, of)}; ${count(total - own)} more are not counted.`

function whyNothing({ total, leftOut }: Explained): string {
  const [first] = [...leftOut].sort((one, other) => other.count - one.count)
  if (total === 0 || !first) return 'Nothing was collected yet that it could be made of.'
  return `None of ${count(total)} counts: ${first.meaning}`
}

interface ChangeProps {
  readonly from: number
  readonly to: number
  readonly unit: string
  readonly isLowerBetter: boolean
}

function Change({ from, to, unit, isLowerBetter }: ChangeProps) {
  const difference = to - from
  const small = Math.abs(difference) < Math.abs(from) * 0.01 || difference === 0
  if (small) return <span className="small faint">no change</span>
  const words =
    unit === 'minutes'
      ? duration(Math.abs(difference))
      : unit === 'share'
        ? `${count(Math.abs(difference) * 100)} pts`
        : count(Math.abs(difference))
  const isGood = difference < 0 === isLowerBetter
  return (
    <span className={`small number ${isGood ? 'good' : 'bad'}`} title="Against the period before">
      {difference < 0 ? '↓' : '↑'} {words}
    </span>
  )
}

const WIDTH = 240
const HEIGHT = 44

/** Drawn by hand: sixty of them on a page must cost nothing. */
export function Sparkline({ points }: { readonly points: readonly (number | null)[] }) {
  const known = points.filter((point) => point !== null)
  if (known.length < 2) return <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} aria-hidden="true" />
  const most = Math.max(...known) || 1
  const step = WIDTH / (points.length - 1)
  const lines: string[] = []
  let isDrawing = false
  for (const [index, point] of points.entries()) {
    if (point === null) isDrawing = false
    else {
      lines.push(
        `${isDrawing ? 'L' : 'M'}${(index * step).toFixed(1)} ${(HEIGHT - 3 - (point / most) * (HEIGHT - 8)).toFixed(1)}`,
      )
      isDrawing = true
    }
  }
  return (
    <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
      <path d={lines.join('')} fill="none" stroke="var(--accent)" strokeWidth="2" vectorEffect="non-scaling-stroke" />
    </svg>
  )
}
