interface SparklineProps {
  readonly points: readonly (number | null)[]
  /** The period before, in grey. */
  readonly before?: readonly (number | null)[]
  /** True: bars, for amounts. False: a line, for measurements. */
  readonly isBars?: boolean
}

const WIDTH = 240
const HEIGHT = 44

/** Drawn without a chart library: even two hundred of them on a page must be fast. */
export function Sparkline({ points, before = [], isBars = false }: SparklineProps) {
  const known = [...points, ...before].filter((point) => point !== null)
  const most = Math.max(...known, 0) || 1
  const height = (value: number) => (value / most) * (HEIGHT - 6)
  return (
    <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
      {isBars ? (
        <Bars points={points} height={height} />
      ) : (
        <>
          <Line points={before} height={height} className="before" color="var(--before)" />
          <Line points={points} height={height} color="var(--accent)" />
        </>
      )}
    </svg>
  )
}

interface DrawnProps {
  readonly points: readonly (number | null)[]
  readonly height: (value: number) => number
  readonly className?: string
  readonly color?: string
}

function Bars({ points, height }: DrawnProps) {
  const step = WIDTH / Math.max(1, points.length)
  return points.map((point, index) => {
    const tall = point === null ? 0 : height(point)
    const last = index === points.length - 1
    return (
      <rect
        // biome-ignore lint/suspicious/noArrayIndexKey: a bucket is its place
        key={index}
        x={index * step + step * 0.14}
        y={HEIGHT - tall}
        width={step * 0.72}
        height={tall}
        fill={last ? 'var(--before)' : 'var(--accent)'}
      />
    )
  })
}

function Line({ points, height, className, color }: DrawnProps) {
  const step = WIDTH / Math.max(1, points.length - 1)
  let path = ''
  let isDrawing = false
  const alone: [number, number][] = []
  for (const [index, point] of points.entries()) {
    if (point === null) {
      isDrawing = false
      continue
    }
    const [x, y] = [index * step, HEIGHT - 3 - height(point)]
    if (!isDrawing && (points[index + 1] ?? null) === null) alone.push([x, y])
    path += `${isDrawing ? 'L' : 'M'}${x.toFixed(1)} ${y.toFixed(1)}`
    isDrawing = true
  }
  const shared = { className, stroke: color, vectorEffect: 'non-scaling-stroke', strokeLinecap: 'round' } as const
  return (
    <>
      <path d={path} fill="none" strokeWidth={className ? 1.5 : 2} strokeLinejoin="round" {...shared} />
      {alone.map(([x, y]) => (
        // A single point between two gaps would not be visible as a line.
        <path key={x} d={`M${Math.min(WIDTH - 1, Math.max(1, x))} ${y}h.01`} strokeWidth={5} {...shared} />
      ))}
    </>
  )
}
