import { useElementSize } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { question } from '../api/queries.ts'
import { counted, duration, exactly, when } from '../parts/words.ts'
import { type Key, type Period, periods } from './keys.ts'

interface CourseProps {
  readonly project: string
  readonly months: number
}

const HEIGHT = 260
const [LEFT, RIGHT, TOP, FLOOR] = [56, 72, 12, 196]
const MOST_DEPLOYMENTS = 1000

/** Lead time with the deployments below it, and those that led to an incident: cause and effect in one chart. */
export function Course({ project, months }: CourseProps) {
  const { current, before } = periods(months)
  const ask = (period: Period) => ({
    ...question('GET /v1/metrics/{metric}/series', {
      path: { metric: 'change-lead-time' },
      query: { project, ...period, bucket: months === 12 ? 'month' : 'week' },
    }),
  })
  const now = useQuery(ask(current))
  const earlier = useQuery(ask(before))
  const deployments = useQuery(
    question('GET /v1/metrics/{metric}/items', {
      path: { metric: 'change-failure-rate' },
      query: { project, ...current, reason: 'counted', pageSize: MOST_DEPLOYMENTS },
    }),
  )
  const { ref, width } = useElementSize()
  const items = deployments.data?.items ?? []
  const failed = items.filter(({ value }) => value === 1)
  const isNothing =
    now.data?.points.every(({ value }) => value === null) === true &&
    deployments.data !== undefined &&
    items.length === 0
  return (
    <article className="card">
      <h2>Change lead time, deployments and incidents</h2>
      <p className="small quiet" style={{ marginBottom: 12 }}>
        {months === 12 ? 'Monthly' : 'Weekly'} median. Ticks are {counted(items.length, 'deployment')}
        {failed.length > 0 && `; ${failed.length} of them, red, led to an incident`}.
      </p>
      <div ref={ref} className="course" style={{ minHeight: isNothing ? 0 : HEIGHT }}>
        {isNothing && (
          <p className="quiet" style={{ padding: '24px 0' }}>
            Nothing to draw yet: no deployment to production was found between {when(current.from)} and now.
          </p>
        )}
        {width > 0 && now.data && !isNothing && (
          <Drawing
            width={width}
            period={current}
            points={now.data.points}
            before={earlier.data?.points ?? []}
            deployments={items.flatMap(({ id, at, title, value }) =>
              at ? [{ id, at, title: title ?? id, isFailure: value === 1 }] : [],
            )}
          />
        )}
      </div>
    </article>
  )
}

interface Deployment {
  readonly id: string
  readonly at: string
  readonly title: string
  readonly isFailure: boolean
}

interface DrawingProps {
  readonly width: number
  readonly period: Period
  readonly points: Key['points']
  readonly before: Key['points']
  readonly deployments: readonly Deployment[]
}

const STEPS = [1, 2, 5, 10, 15, 30, 60, 120, 180, 360, 720, 1440, 2880, 7200, 14_400, 28_800, 43_200, 86_400, 172_800]
const monthNames = new Intl.DateTimeFormat('en', { month: 'short', timeZone: 'UTC' })

function Drawing({ width, period, points, before, deployments }: DrawingProps) {
  const [from, to] = [Date.parse(period.from), Date.parse(period.to)]
  const right = width - RIGHT
  const x = (moment: number) => LEFT + ((Math.min(to, Math.max(from, moment)) - from) / (to - from)) * (right - LEFT)
  const values = [...points, ...before].flatMap(({ value }) => (value === null ? [] : [value]))
  const most = Math.max(...values, 1)
  const step = STEPS.find((each) => most / each <= 4) ?? most / 4
  const top = Math.ceil(most / step) * step
  const y = (value: number) => FLOOR - (value / top) * (FLOOR - TOP)
  const shift = before[0] && points[0] ? Date.parse(points[0].start) - Date.parse(before[0].start) : 0
  const known = points.filter(({ value }) => value !== null)
  const last = known.at(-1)
  const places = points.map(({ start, value }) => ({ at: x(Date.parse(start)), value, start }))
  const at = (moment: number) => heightAt(places, x(moment))
  const label =
    last?.value === undefined || last.value === null ? 'No lead time is known.' : `Now ${duration(last.value)}.`
  return (
    <svg width={width} height={HEIGHT} role="img" aria-label={`Change lead time over time. ${label}`}>
      {Array.from({ length: Math.round(top / step) + 1 }, (_, index) => index * step).map((value) => (
        <g key={value}>
          <path d={`M${LEFT} ${y(value)}H${right}`} stroke="var(--line)" />
          <text x={LEFT - 8} y={y(value) + 4} textAnchor="end">
            {value === 0 ? '0' : duration(value)}
          </text>
        </g>
      ))}
      {monthsBetween(from, to).map((moment) => (
        <text key={moment} x={x(moment)} y={HEIGHT - 8}>
          {monthNames.format(moment)}
        </text>
      ))}
      <path
        className="before"
        d={pathOf(
          before.map(({ start, value }) => ({ at: x(Date.parse(start) + shift), value })),
          y,
        )}
        fill="none"
        strokeWidth={1.5}
      />
      <path d={pathOf(places, y)} fill="none" stroke="var(--accent)" strokeWidth={2.5} strokeLinejoin="round" />
      {places.map(({ at: place, value, start }) =>
        value === null ? null : (
          <circle key={start} cx={place} cy={y(value)} r={3} fill="var(--accent)">
            <title>{`From ${start.slice(0, 10)}: ${duration(value)}`}</title>
          </circle>
        ),
      )}
      {last && last.value !== null && (
        <text x={right + 8} y={y(last.value) + 4} style={{ fill: 'var(--accent)', fontWeight: 600 }}>
          {duration(last.value)}
        </text>
      )}
      {deployments.map(({ id, at: moment, title, isFailure }) => (
        <path
          key={id}
          d={`M${x(Date.parse(moment))} 206v${isFailure ? 14 : 10}`}
          stroke={isFailure ? 'var(--bad)' : 'var(--text-faint)'}
          strokeWidth={isFailure ? 2 : 1}
        >
          <title>{`${title}, ${exactly(moment)}`}</title>
        </path>
      ))}
      {deployments
        .filter(({ isFailure }) => isFailure)
        .map(({ id, at: moment, title }) => (
          <circle key={id} cx={x(Date.parse(moment))} cy={y(at(Date.parse(moment)) ?? 0)} r={4.5} fill="var(--bad)">
            <title>{`${title} led to an incident, ${exactly(moment)}`}</title>
          </circle>
        ))}
    </svg>
  )
}

interface Place {
  readonly at: number
  readonly value: number | null
}

function pathOf(places: readonly Place[], y: (value: number) => number): string {
  let path = ''
  let isDrawing = false
  for (const { at, value } of places) {
    if (value === null) isDrawing = false
    else {
      path += `${isDrawing ? 'L' : 'M'}${at.toFixed(1)} ${y(value).toFixed(1)}`
      isDrawing = true
    }
  }
  return path
}

/** The value of the line at a moment; null if there is no line. */
function heightAt(places: readonly Place[], at: number): number | null {
  const known = places.filter((each): each is { at: number; value: number } => each.value !== null)
  const after = known.find((each) => each.at >= at)
  const before = known.findLast((each) => each.at <= at)
  if (!after || !before) return (after ?? before)?.value ?? null
  const share = after.at === before.at ? 0 : (at - before.at) / (after.at - before.at)
  return before.value + share * (after.value - before.value)
}

function monthsBetween(from: number, to: number): number[] {
  const first = new Date(from)
  const months: number[] = []
  for (let index = 1; ; index++) {
    const moment = Date.UTC(first.getUTCFullYear(), first.getUTCMonth() + index, 1)
    if (moment >= to) return months
    months.push(moment)
  }
}
