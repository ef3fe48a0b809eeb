import type { Answer } from '../api/description.ts'
import { monthText } from '../dashboards/cells.ts'
import { duration } from '../parts/words.ts'
import { incidentTicks, logHeight, ticksUpTo } from './time-scale.ts'

const LEAD = { top: 12, height: 132 }
const DEPLOYMENTS = { top: 172, height: 40 }
const INCIDENTS = { top: 236, height: 64 }
const AXIS = 320
const HEIGHT = 340
/** Half of the way between the quartiles and the highest of them is enough room for the rest of the drawing. */
const ROOM = 1.05

interface LanesProps {
  readonly answer: Answer
  readonly spans: readonly (readonly [from: number, to: number])[]
  readonly width: number
  readonly left: number
  readonly right: number
  readonly x: (time: number) => number
  /** The bucket under the pointer. */
  readonly near: number | undefined
}

export function Lanes(props: LanesProps) {
  const { answer, spans, width, left, right, x, near } = props
  const end = width - right
  const over = near === undefined ? undefined : spans[near]
  const hatched = [
    ...spans.filter((_, place) => answer.when.buckets[place]?.isPartial),
    ...answer.sure.gaps.map(({ from, to }) => [Date.parse(from), Date.parse(to)] as const),
  ]
  return (
    <svg width={width} height={HEIGHT} aria-hidden="true">
      <defs>
        <pattern id="not-known" width={6} height={6} patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
          <path d="M0 0V6" stroke="var(--line-strong)" strokeWidth={2} />
        </pattern>
      </defs>
      {hatched.map(([from, to]) => {
        const [start, stop] = [Math.max(left, x(from)), Math.min(end, x(to))]
        return (
          <rect
            key={`${from} ${to}`}
            x={start}
            width={Math.max(0, stop - start)}
            y={LEAD.top}
            height={AXIS - LEAD.top}
            fill="url(#not-known)"
          />
        )
      })}
      {over && <rect x={x(over[0])} width={x(over[1]) - x(over[0])} y={0} height={AXIS} className="near" />}
      <LeadTime {...props} end={end} />
      <Deployments {...props} end={end} />
      <Incidents {...props} end={end} />
      <Months answer={answer} x={x} end={end} />
    </svg>
  )
}

type LaneProps = LanesProps & { readonly end: number }

interface LabelProps {
  readonly left: number
  readonly y: number
  readonly title: string
  readonly says: string
}
const Label = ({ left, y, title, says }: LabelProps) => (
  <text x={0} y={left > 0 ? y : y - 4}>
    <tspan className="strong">{title}</tspan>
    {left > 0 && (
      <tspan x={0} dy={16}>
        {says}
      </tspan>
    )}
  </text>
)

function LeadTime({ answer, spans, left, end, x }: LaneProps) {
  const { buckets } = answer.when
  const highest = Math.max(...buckets.map(({ leadTime }) => leadTime?.high ?? 0), 1) * ROOM
  const ticks = ticksUpTo(highest)
  const most = ticks.at(-1) ?? highest
  const y = (minutes: number) => LEAD.top + LEAD.height - (Math.min(minutes, most) / most) * LEAD.height
  const target = answer.keys.find(({ metric }) => metric === 'change-lead-time')?.target?.value
  return (
    <>
      {ticks.map((tick) => (
        <g key={tick}>
          <path className={tick === 0 ? 'base' : 'grid'} d={`M${left} ${y(tick)}H${end}`} />
          {left > 0 && (
            <text x={left - 8} y={y(tick) + 4} className="end">
              {tick === 0 ? '0' : duration(tick)}
            </text>
          )}
        </g>
      ))}
      <Label left={left} y={LEAD.top + 12} title="Lead time" says="half of all" />
      {runsOf(buckets).map((run) => {
        const points = run.map((place) => {
          const [start, stop] = spans[place] ?? [0, 0]
          const { median = 0, low = 0, high = 0 } = buckets[place]?.leadTime ?? {}
          return { at: x((start + stop) / 2), median: y(median), low: y(low), high: y(high), place }
        })
        const there = points.map(({ at, high }) => `${at} ${high}`).join('L')
        const back = points
          .toReversed()
          .map(({ at, low }) => `${at} ${low}`)
          .join('L')
        return (
          <g key={run[0]}>
            <path d={`M${there}L${back}Z`} className="middle" />
            <path d={`M${points.map(({ at, median }) => `${at} ${median}`).join('L')}`} className="median" />
            {points.map(({ at, median, place }) => (
              <circle
                key={place}
                cx={at}
                cy={median}
                r={points.length === 1 ? 4 : 2.5}
                className={buckets[place]?.isPartial ? 'median open' : 'median point'}
              />
            ))}
          </g>
        )
      })}
      {target !== undefined && target <= most && (
        <path className="target" d={`M${left} ${y(target)}H${end}`}>
          <title>target</title>
        </path>
      )}
    </>
  )
}

/** Places of buckets with a value, in runs: a bucket without one is a hole, and never bridged. */
function runsOf(buckets: Answer['when']['buckets']): number[][] {
  const runs: number[][] = []
  for (const [place, { leadTime }] of buckets.entries()) {
    if (!leadTime) continue
    if (place > 0 && buckets[place - 1]?.leadTime && runs.length > 0) runs.at(-1)?.push(place)
    else runs.push([place])
  }
  return runs
}

function Deployments({ answer, left, end, x }: LaneProps) {
  const { deployments } = answer.when
  const failed = deployments.filter(({ isFailed }) => isFailed).length
  const base = DEPLOYMENTS.top + DEPLOYMENTS.height
  return (
    <>
      <path className="base" d={`M${left} ${base}H${end}`} />
      <Label
        left={left}
        y={DEPLOYMENTS.top + 14}
        title="Deployments"
        says={failed > 0 ? `${failed} failed` : 'none failed'}
      />
      {deployments.map(({ id, at, isFailed }) => {
        const place = x(Date.parse(at))
        const top = DEPLOYMENTS.top + (isFailed ? 0 : DEPLOYMENTS.height * 0.45)
        return <path key={id} d={`M${place} ${base}V${top}`} className={isFailed ? 'failed' : 'deployment'} />
      })}
    </>
  )
}

function Incidents({ answer, left, end, x }: LaneProps) {
  const { incidents } = answer.when
  const now = Date.parse(answer.range.to)
  const lasted = ({ at, until }: (typeof incidents)[number]) =>
    ((until ? Date.parse(until) : now) - Date.parse(at)) / 60_000
  const longest = Math.max(...incidents.map(lasted), 0)
  const base = INCIDENTS.top + INCIDENTS.height
  const top = (minutes: number) => base - logHeight(minutes, longest, INCIDENTS.height - 8)
  const open = incidents.filter(({ until }) => !until).length
  return (
    <>
      <path className="base" d={`M${left} ${base}H${end}`} />
      {left > 0 &&
        incidentTicks(longest).map((tick) => (
          <text key={tick} x={left - 8} y={top(tick) + 4} className="end">
            {duration(tick)}
          </text>
        ))}
      <Label left={left} y={INCIDENTS.top + 4} title="Incidents" says={open > 0 ? `${open} open` : 'by length'} />
      {incidents.map((incident) => {
        const place = x(Date.parse(incident.at))
        const height = top(lasted(incident))
        return (
          <g key={incident.id} className="incident">
            <path d={`M${place} ${base}V${height}`} />
            {incident.until ? (
              <circle cx={place} cy={height} r={3.5} />
            ) : (
              <path
                className="arrow"
                d={`M${place - 5} ${height + 4}L${place} ${height - 5}L${place + 5} ${height + 4}Z`}
              />
            )}
          </g>
        )
      })}
    </>
  )
}

const LEAST_BETWEEN = 64

function Months({ answer: { range }, x, end }: Pick<LaneProps, 'answer' | 'x' | 'end'>) {
  const from = new Date(range.from)
  const marks: { readonly at: number; readonly words: string }[] = []
  for (let month = 1; month < 60; month++) {
    const time = Date.UTC(from.getUTCFullYear(), from.getUTCMonth() + month)
    if (time >= Date.parse(range.to)) break
    const at = x(time)
    if (at - (marks.at(-1)?.at ?? Number.NEGATIVE_INFINITY) >= LEAST_BETWEEN && at < end - 24)
      marks.push({ at, words: monthText(time) })
  }
  return marks.map(({ at, words }) => (
    <g key={at}>
      <path className="grid" d={`M${at} ${LEAD.top}V${AXIS}`} />
      <text x={at + 4} y={AXIS + 14}>
        {words}
      </text>
    </g>
  ))
}
