/** The history of the split, and the answers of both clusters. */
import { useQuery } from '@tanstack/react-query'
import type { AnswerTo } from '../api/ask.ts'
import { question } from '../api/queries.ts'
import { Asked, Moment } from '../parts/parts.tsx'
import { count } from '../parts/words.ts'
import { isOver, namesOf, planOf, type Status, type Switch, shareOf } from './describe.tsx'

type Entry = AnswerTo<'GET /v1/traffic-switches/{id}/journal'>[number]
type Requests = AnswerTo<'GET /v1/traffic-switches/{id}/requests'>

const WIDTH = 600
const HEIGHT = 120

interface Point {
  readonly at: number
  readonly share: number
}

/** The split according to the journal: each verified step, and each rollback. */
function courseOf(of: Switch, entries: readonly Entry[]): readonly Point[] {
  const { steps } = planOf(of)
  return entries.flatMap(({ at, kind, effect, detail }) => {
    if (kind !== 'state' || at === null) return []
    if (effect === 'prepared' || effect === 'rolled-back') return [{ at: Date.parse(at), share: 0 }]
    const step = effect === 'verified' ? steps[stepIn(detail)] : undefined
    return step === undefined ? [] : [{ at: Date.parse(at), share: shareOf(step) }]
  })
}

function stepIn(detail: string): number {
  try {
    return Number((JSON.parse(detail) as { step?: unknown }).step)
  } catch {
    return -1
  }
}

interface CourseProps {
  readonly of: Switch
  readonly share: Status['share']
  readonly entries: readonly Entry[]
}

/** Draws the split from the journal, and at its end the present one from the rules. */
export function Course({ of, share, entries }: CourseProps) {
  const told = courseOf(of, entries)
  const [first] = told
  if (first === undefined) return null
  const { there } = namesOf(of)
  const isStill = isOver(of.state)
  const end = isStill ? Date.parse(of.updatedAt) : Math.max(Date.now(), told.at(-1)!.at)
  const points = share === null || isStill ? told : [...told, { at: end, share: share.most }]
  const x = (at: number) => ((at - first.at) / Math.max(end - first.at, 1)) * WIDTH
  const y = (part: number) => HEIGHT - 2 - part * (HEIGHT - 4)
  const path = points.map(
    (point, index) => `${index === 0 ? 'M' : 'H'}${x(point.at)}${index === 0 ? ',' : 'V'}${y(point.share)}`,
  )
  if (points.every((point) => point.share === 0)) return null
  const last = Math.round(points.at(-1)!.share * 100)
  return (
    <section className="card" aria-labelledby="split">
      <h2 id="split">Share of {there} over time</h2>
      <p className="quiet small" style={{ margin: '4px 0 12px' }}>
        Each step as it came into force, by the journal
        {share !== null && !isStill && '; at the right, what the rules have now'}.
      </p>
      <div className="course">
        <span className="small faint">100 %</span>
        <svg
          className="gate-course"
          viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
          preserveAspectRatio="none"
          role="img"
          aria-label={`Share of ${there} over time, now ${last} %`}
        >
          <path d={`${path.join('')}H${WIDTH}`} />
        </svg>
        <span className="small faint">0 %</span>
      </div>
      <p className="row small faint">
        <Moment at={new Date(first.at).toISOString()} />
        {isStill ? <Moment at={of.updatedAt} /> : <span>now</span>}
      </p>
    </section>
  )
}

/** Empty if the plan names no source that distinguishes the clusters. */
export function RequestsCard({ of }: { readonly of: Switch }) {
  const asked = useQuery({
    ...question('GET /v1/traffic-switches/{id}/requests', { path: { id: of.id } }),
    enabled: !isOver(of.state) && of.state !== 'draft',
    refetchInterval: 60_000,
  })
  if (!asked.data?.source) return null
  const { here, there } = namesOf(of)
  return (
    <section className="card" aria-labelledby="requests">
      <h2 id="requests">Requests and errors by cluster</h2>
      <p className="quiet small" style={{ margin: '4px 0 12px' }}>
        The last half hour, minute by minute, as {asked.data.source} counts the target groups; its numbers are two
        minutes late.
      </p>
      <Asked of={asked}>
        {({ minutes, problem }) =>
          problem === null ? (
            <div className="clusters">
              <Cluster name={here} minutes={minutes} side="current" most={mostIn(minutes)} />
              <Cluster name={there} minutes={minutes} side="target" most={mostIn(minutes)} />
            </div>
          ) : (
            <p role="alert" className="quiet">
              It cannot be read now: {problem}
            </p>
          )
        }
      </Asked>
    </section>
  )
}

type Minutes = Requests['minutes']
/** Both clusters share one scale, so that they can be compared. */
const mostIn = (minutes: Minutes): number =>
  Math.max(1, ...minutes.flatMap(({ current, target }) => [current.requests, target.requests]))

interface ClusterProps {
  readonly name: string
  readonly minutes: Minutes
  readonly side: 'current' | 'target'
  readonly most: number
}

function Cluster({ name, minutes, side, most }: ClusterProps) {
  const all = minutes.map((minute) => minute[side])
  const requests = all.reduce((sum, each) => sum + each.requests, 0)
  const errors = all.reduce((sum, each) => sum + each.errors, 0)
  const rate = requests === 0 ? 0 : (errors / requests) * 100
  const says = `${count(requests)} requests, ${count(errors)} answered with 5xx${requests === 0 ? '' : ` (${count(rate)} %)`}`
  const width = WIDTH / Math.max(1, minutes.length)
  return (
    <figure>
      <figcaption>
        <strong>{name}</strong> <span className="small number quiet">{says}</span>
      </figcaption>
      <svg viewBox={`0 0 ${WIDTH} 60`} preserveAspectRatio="none" role="img" aria-label={`${name}: ${says}`}>
        {all.map((each, index) => {
          const tall = (each.requests / most) * 58
          const wrong = each.requests === 0 ? 0 : Math.max(each.errors > 0 ? 2 : 0, (each.errors / most) * 58)
          return (
            <g key={minutes[index]!.at}>
              <rect x={index * width + 1} width={width - 2} y={60 - tall} height={tall} />
              <rect className="wrong" x={index * width + 1} width={width - 2} y={60 - wrong} height={wrong} />
            </g>
          )
        })}
      </svg>
    </figure>
  )
}
