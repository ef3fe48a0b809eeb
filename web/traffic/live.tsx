import { useQuery } from '@tanstack/react-query'
import type { AnswerTo } from '../api/ask.ts'
import { question } from '../api/queries.ts'
import { Asked } from '../parts/parts.tsx'
import { duration } from '../parts/words.ts'
import { planOf, type Switch, shareOf } from './describe.tsx'

type Live = AnswerTo<'GET /v1/traffic-switches/{id}/live'>
type Entry = AnswerTo<'GET /v1/traffic-switches/{id}/journal'>[number]

const EVERY_MS = 5_000
const WIDTH = 600
const HEIGHT = 120

interface Point {
  readonly at: number
  readonly share: number
}

/** The split as the journal knows it: each step that was verified, and each way back. */
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
    return Number(JSON.parse(detail).step)
  } catch {
    return -1
  }
}

function Course({ points, target }: { readonly points: readonly Point[]; readonly target: string }) {
  const first = points[0]
  if (first === undefined) return null
  const now = Math.max(Date.now(), points.at(-1)!.at)
  const x = (at: number) => ((at - first.at) / Math.max(now - first.at, 1)) * WIDTH
  const y = (share: number) => HEIGHT - 2 - share * (HEIGHT - 4)
  const path = points.map(
    ({ at, share }, index) => `${index === 0 ? 'M' : 'H'}${x(at)}${index === 0 ? ',' : 'V'}${y(share)}`,
  )
  const last = Math.round(points.at(-1)!.share * 100)
  return (
    <svg
      className="gate-course"
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      preserveAspectRatio="none"
      role="img"
      aria-label={`Share of ${target} over time, now ${last} %`}
    >
      <path d={`${path.join('')}H${WIDTH}`} />
    </svg>
  )
}

type Rules = Pick<Live, 'weights' | 'rulesLeft' | 'health'>

/** Rules by their weights, others/target, as the load balancer has them. */
function rulesWords({ weights, rulesLeft }: Rules): string {
  const rules = Object.entries(weights).map(([text, count]) => `${text} on ${count} ${count === 1 ? 'rule' : 'rules'}`)
  if (rulesLeft > 0) rules.push(`${rulesLeft} without the target`)
  return rules.join(', ') || 'no rule names the target group'
}

const healthWords = ({ health }: Rules): string | undefined =>
  health
    ? `${health.healthy} of ${health.total} healthy${health.draining > 0 ? `, ${health.draining} draining` : ''}`
    : undefined

/** Where routes differ, the slow one must be seen at once. */
function RouteTable({ routes }: { readonly routes: Live['routes'] }) {
  return (
    <div className="scroll">
      <table className="plain">
        <thead>
          <tr>
            <th>Route</th>
            <th>Load balancer</th>
            <th>Targets</th>
          </tr>
        </thead>
        <tbody>
          {routes.map((each) => (
            <tr key={each.route}>
              <td>{each.route}</td>
              <td>{rulesWords(each)}</td>
              <td>{healthWords(each) ?? 'not known'}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

function Facts({ live }: { readonly live: Live }) {
  if (live.problem !== null) return <p role="alert">It cannot be read now: {live.problem}</p>
  const targets = healthWords(live)
  const facts = (
    <dl className="live">
      <dt>Load balancer</dt>
      <dd>{rulesWords(live)}</dd>
      {targets && (
        <>
          <dt>Targets</dt>
          <dd>{targets}</dd>
        </>
      )}
      {live.secondsLeft > 0 && (
        <>
          <dt>Next step</dt>
          <dd>in {duration(live.secondsLeft / 60)} at the earliest</dd>
        </>
      )}
    </dl>
  )
  return (
    <>
      {facts}
      {live.routes.length > 0 && <RouteTable routes={live.routes} />}
    </>
  )
}

const OVER = ['draft', 'cleaned-up']

/** What the load balancer does now, and how it came to that. */
export function LiveSplit({ of }: { readonly of: Switch }) {
  const isOver = OVER.includes(of.state)
  const path = { id: of.id }
  const live = useQuery({
    ...question('GET /v1/traffic-switches/{id}/live', { path }),
    enabled: !isOver,
    refetchInterval: EVERY_MS,
  })
  const journal = useQuery(question('GET /v1/traffic-switches/{id}/journal', { path }))
  if (of.state === 'draft') return null
  return (
    <section className="card" aria-labelledby="split">
      <h2 id="split" style={{ marginBottom: 8 }}>
        Split
      </h2>
      <Course points={courseOf(of, journal.data ?? [])} target={planOf(of).target?.cluster ?? 'the target'} />
      {!isOver && (
        <Asked of={live} lines={2}>
          {(data) => <Facts live={data} />}
        </Asked>
      )}
    </section>
  )
}
