/** Charts drawn by ECharts, which is loaded when the first chart comes into view. */
import { useComputedColorScheme } from '@mantine/core'
import { useElementSize } from '@mantine/hooks'
import { BarChart, LineChart, ScatterChart } from 'echarts/charts'
import { GridComponent, LegendComponent, TooltipComponent } from 'echarts/components'
import { type EChartsType, init, use } from 'echarts/core'
import { LabelLayout } from 'echarts/features'
import { CanvasRenderer } from 'echarts/renderers'
import { type RefObject, useEffect, useRef, useState } from 'react'
import { type Colours, coloursOf } from './chart-look.ts'
import { courseOption, placeAt } from './course-options.ts'
import { RANK_HEIGHT, rankingOption } from './ranking-options.ts'
import { type Course, endOf } from './series.ts'
import type { Annotation, Panel, PanelRows, Period } from './view.ts'

use([BarChart, LineChart, ScatterChart, GridComponent, LegendComponent, TooltipComponent, LabelLayout, CanvasRenderer])

interface ChartProps {
  readonly panel: Panel
  readonly rows: PanelRows
  readonly course: Course | null
  readonly before: Course | undefined
  readonly annotations: readonly Annotation[]
  readonly range: Period
  readonly height: number
  readonly label: string
  /** The last chart drawn, for saving it as a picture. */
  readonly chart: RefObject<EChartsType | null>
  readonly onPick?: ((part: Period) => void) | undefined
  readonly onRange?: ((range: Period) => void) | undefined
}

export default function Chart({ panel, rows, course, before, annotations, range, label, chart, ...rest }: ChartProps) {
  const scheme = useComputedColorScheme()
  const { ref, width } = useElementSize<HTMLDivElement>()
  const place = useRef<HTMLDivElement>(null)
  const measures = panel.columns.length - 1
  const height = course
    ? rest.height
    : Math.max(rest.height, rows.rows.length * RANK_HEIGHT * Math.max(1, measures - 1))
  useEffect(() => {
    const drawn = init(place.current as HTMLDivElement, null, { renderer: 'canvas' })
    chart.current = drawn
    return () => {
      chart.current = null
      drawn.dispose()
    }
  }, [chart])
  // biome-ignore lint/correctness/useExhaustiveDependencies: the colours of the page change with its scheme
  useEffect(() => {
    const drawn = chart.current
    if (!drawn || width === 0) return
    const colours: Colours = coloursOf(place.current as HTMLDivElement)
    drawn.resize({ width, height })
    drawn.setOption(
      course
        ? courseOption({ panel, course, before, annotations, range, colours, width })
        : rankingOption(rows, colours),
      { notMerge: true },
    )
  }, [panel, rows, course, before, annotations, range, width, height, scheme, chart])
  const selected = useBrush(chart, course, range, rest)
  return (
    <div ref={ref} className="chart" style={{ height: rest.height }} role="img" aria-label={label}>
      <div ref={place} style={{ height }} />
      {selected && <div className="brush" style={selected} aria-hidden />}
    </div>
  )
}

interface Selected {
  readonly left: number
  readonly width: number
}
/** While clicking, a hand never keeps quite still. */
const CLICK_PIXELS = 6

/** Dragging selects a range; clicking opens the items of an interval. */
function useBrush(
  chart: RefObject<EChartsType | null>,
  course: Course | null,
  range: Period,
  { onPick, onRange }: Pick<ChartProps, 'onPick' | 'onRange'>,
): Selected | undefined {
  const [selected, setSelected] = useState<Selected>()
  useEffect(() => {
    const drawn = chart.current
    if (!drawn || !course) return
    const surface = drawn.getZr()
    const momentAt = (x: number) => Number(drawn.convertFromPixel({ xAxisIndex: 0 }, x))
    let start: number | undefined
    const begin = ({ offsetX, offsetY, event }: Pointed) => {
      // Touch is ignored, because a finger scrolls the page.
      if ((event as PointerEvent).pointerType === 'touch' || event.type.startsWith('touch')) return
      if (drawn.containPixel({ gridIndex: 0 }, [offsetX, offsetY])) start = offsetX
    }
    const move = ({ offsetX }: Pointed) => {
      if (start === undefined || !onRange) return
      setSelected({ left: Math.min(start, offsetX), width: Math.abs(offsetX - start) })
    }
    const end = ({ offsetX }: Pointed) => {
      if (start === undefined) return
      const [from, to] = [momentAt(Math.min(start, offsetX)), momentAt(Math.max(start, offsetX))]
      const isClick = Math.abs(offsetX - start) < CLICK_PIXELS
      start = undefined
      setSelected(undefined)
      if (!isClick) return onRange?.(within(range, from, to))
      const place = placeAt(course, from)
      if (place !== undefined) onPick?.(within(range, course.times[place] ?? 0, endOf(course, place) - 1))
    }
    const events = [
      ['mousedown', begin],
      ['mousemove', move],
      ['mouseup', end],
    ] as const
    for (const [name, does] of events) surface.on(name, does as never)
    return () => {
      for (const [name, does] of events) surface.off(name, does as never)
    }
  }, [chart, course, range, onPick, onRange])
  return selected && selected.width >= CLICK_PIXELS ? selected : undefined
}

interface Pointed {
  readonly offsetX: number
  readonly offsetY: number
  readonly event: Event
}

const within = (range: Period, from: number, to: number): Period => ({
  from: new Date(Math.max(from, Date.parse(range.from))).toISOString(),
  to: new Date(Math.min(to, Date.parse(range.to))).toISOString(),
})
