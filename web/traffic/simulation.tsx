import { useElementSize } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { question } from '../api/queries.ts'
import { Asked } from '../parts/parts.tsx'
import { count, duration } from '../parts/words.ts'

const HEIGHT = 160
const LEFT = 44
const RIGHT = 24
const BOTTOM = 22
/** Minutes between two marks; the first step that gives few enough marks is used. */
const STEPS = [1, 2, 5, 10, 15, 30, 60, 120, 240, 360, 720, 1440, 2880, 10_080]
const MOST_MARKS = 8
/** Pixels of a mark, so that two marks do not touch. */
const MARK_WIDTH = 64
const SHARES = [0, 0.25, 0.5, 0.75, 1]

/** Round numbers of minutes, as many as there is room for. */
function marksOf(minutes: number, most: number): readonly number[] {
  const step = STEPS.find((each) => minutes / each <= most) ?? STEPS.at(-1)!
  return Array.from({ length: Math.floor(minutes / step) + 1 }, (_, index) => index * step)
}

/** Simulates made-up clients; the clusters are not asked. */
export function SimulationChart({ yaml }: { readonly yaml: string }) {
  const simulation = useQuery(question('POST /v1/traffic-plans/simulate', { body: { yaml } }))
  return (
    <section aria-labelledby="simulation">
      <h2 id="simulation">Who would reach the target when</h2>
      <p className="quiet small" style={{ margin: '4px 0 8px' }}>
        Share of requests, simulated with 2,000 clients. The shape shows stickiness, and nothing is applied.
      </p>
      <Asked of={simulation} lines={2}>
        {({ minutes, timeTo99Seconds, requests, errors }) => (
          <>
            <Chart shares={minutes.map(({ targetShare }) => targetShare)} />
            <p className="small quiet">
              {count(requests)} requests, {count(errors)} errors; 99 % reach the target{' '}
              {timeTo99Seconds === null
                ? 'never: clients with a cookie stay'
                : timeTo99Seconds === 0
                  ? 'as soon as the last step begins'
                  : `${duration(timeTo99Seconds / 60)} after the last step begins`}
              .
            </p>
          </>
        )}
      </Asked>
    </section>
  )
}

/** Drawn at the available width: text that shrinks with a chart cannot be read on a phone. */
function Chart({ shares }: { readonly shares: readonly number[] }) {
  const { ref, width } = useElementSize()
  const last = Math.max(1, shares.length)
  const right = width - RIGHT
  const x = (minute: number) => LEFT + (minute / last) * (right - LEFT)
  const y = (share: number) => 6 + (1 - share) * (HEIGHT - BOTTOM - 6)
  const path = shares.map((share, minute) => `${minute === 0 ? 'M' : 'L'}${x(minute)},${y(share)}H${x(minute + 1)}`)
  const most = Math.max(1, Math.min(MOST_MARKS, Math.floor((right - LEFT) / MARK_WIDTH)))
  return (
    <div ref={ref} className="simulation">
      {width > 0 && (
        <svg
          width={width}
          height={HEIGHT}
          role="img"
          aria-label={`Simulated share of the target over ${duration(last)}`}
        >
          {SHARES.map((share) => (
            <g key={share}>
              <line x1={LEFT} x2={right} y1={y(share)} y2={y(share)} />
              <text x={LEFT - 6} y={y(share) + 4} textAnchor="end">
                {share * 100} %
              </text>
            </g>
          ))}
          {marksOf(last, most).map((minute) => (
            <text key={minute} x={x(minute)} y={HEIGHT - 6} textAnchor="middle">
              {minute === 0 ? '0' : duration(minute)}
            </text>
          ))}
          <path d={path.join('')} />
        </svg>
      )}
    </div>
  )
}
