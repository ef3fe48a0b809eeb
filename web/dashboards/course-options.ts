/** ECharts options for lines and bars over time. */
import type { EChartsCoreOption } from 'echarts/core'
import { dayText, exactText, monthText, textOf } from './cells.ts'
import { axisText, type Colours, colourOf, escaped, FONT, MOST_COLOURS, tooltip } from './chart-look.ts'
import { type Course, endOf, type Series } from './series.ts'
import type { Annotation, Panel, Period } from './view.ts'

/** Steps of durations that people use, in minutes. */
const STEPS = [1, 2, 5, 10, 15, 30, 60, 120, 180, 360, 720, 1440, 2880, 7200, 14_400, 28_800, 43_200, 86_400, 172_800]
const MOST_TICKS = 4

function durationAxis(series: readonly Series[], kind: string) {
  const unit = kind === 'seconds' ? 60 : kind === 'minutes' ? 1 : 0
  const most = Math.max(0, ...series.flatMap(({ values }) => values.map((value) => value ?? 0)))
  if (unit === 0) return {}
  if (most === 0) return { interval: unit, max: unit }
  const step = (STEPS.find((each) => most / unit / each <= MOST_TICKS) ?? most / unit / MOST_TICKS) * unit
  return { interval: step, max: Math.ceil(most / step) * step }
}

interface CourseDrawing {
  readonly panel: Pick<Panel, 'look'>
  readonly course: Course
  readonly before: Course | undefined
  readonly annotations: readonly Annotation[]
  readonly range: Period
  readonly colours: Colours
  readonly width: number
}

/** Wide enough for `1 d 12 h`; the annotations below begin at the same place as the chart. */
const AXIS_PIXELS = 60

const MARK_WORDS = {
  deployment: 'Deployment',
  incident: 'Incident',
  switch: 'Traffic switch',
  change: 'Counted differently',
} as const

/** Points are drawn in the middle of their interval. */
const middleOf = (course: Course, place: number): number => ((course.times[place] ?? 0) + endOf(course, place)) / 2

export function courseOption(drawing: CourseDrawing): EChartsCoreOption {
  const { course, annotations, range, colours, width, panel } = drawing
  const { times, series } = course
  const kinds = [...new Set(series.map(({ kind }) => kind))].slice(0, 2)
  const isLabelled = panel.look === 'lines' && width > 520 && kinds.length === 1 && canBeLabelled(series)
  const hasLegend = series.length > 1 && !isLabelled
  const hasMarks = annotations.length > 0
  const [first, last] = [
    times[0] ?? Date.parse(range.from),
    times.length > 0 ? endOf(course, times.length - 1) : Date.parse(range.to),
  ]
  const bottom = hasMarks ? 44 : 24
  const sides = { left: AXIS_PIXELS, right: kinds.length > 1 ? AXIS_PIXELS : isLabelled ? 120 : 12 }
  const grid = { ...sides, top: hasLegend ? 32 : 12, bottom }
  const time = { type: 'time', min: first, max: last, axisTick: { show: false }, splitLine: { show: false } }
  return {
    useUTC: true,
    animation: false,
    textStyle: FONT,
    ...(hasLegend && {
      legend: {
        // Annotations are below the chart and not in its legend.
        data: series.map(({ name }) => name),
        top: 0,
        left: 0,
        type: 'scroll',
        icon: 'roundRect',
        itemWidth: 10,
        itemHeight: 10,
        textStyle: axisText(colours),
      },
    }),
    tooltip: { ...tooltip(colours), trigger: 'axis', formatter: (points: unknown) => hint(drawing, points) },
    grid: [grid, { ...sides, height: 14, bottom: 2 }],
    xAxis: [
      {
        ...time,
        axisLine: { lineStyle: { color: colours.line } },
        axisLabel: {
          ...axisText(colours),
          hideOverlap: true,
          formatter: { year: '{yyyy}', month: '{MMM}', day: '{d} {MMM}' },
        },
      },
      { ...time, gridIndex: 1, show: false },
    ],
    yAxis: [
      ...kinds.map((kind, place) => ({
        type: 'value',
        min: 0,
        ...(place > 0 && { position: 'right' }),
        ...durationAxis(
          series.filter((each) => each.kind === kind),
          kind,
        ),
        ...(kind === 'count' && { minInterval: 1 }),
        splitNumber: 4,
        splitLine: { show: place === 0, lineStyle: { color: colours.line } },
        axisLabel: { ...axisText(colours), formatter: (value: number) => (value === 0 ? '0' : textOf(value, kind)) },
      })),
      ...(kinds.length === 0 ? [{ type: 'value', show: false }] : []),
      { type: 'value', gridIndex: 1, min: 0, max: 1, show: false },
    ],
    series: [
      ...beforeSeries(drawing, kinds),
      ...series.map((each, place) => oneSeries(drawing, each, place, kinds.indexOf(each.kind), isLabelled)),
      ...(hasMarks ? markSeries(annotations, colours, Math.max(1, kinds.length)) : []),
    ],
  }
}

/** Lines get labels at their ends only if the labels do not overlap. */
const LEAST_GAP = 0.1
function canBeLabelled(series: readonly Series[]): boolean {
  if (series.length < 2 || series.length > MOST_COLOURS) return false
  const most = Math.max(...series.flatMap(({ values }) => values.map((value) => value ?? 0)))
  const ends = series
    .map(({ values }) => values.findLast((value) => value !== null) ?? 0)
    .sort((one, other) => one - other)
  return most > 0 && ends.every((end, place) => place === 0 || (end - (ends[place - 1] ?? 0)) / most > LEAST_GAP)
}

function oneSeries(
  { course, colours, panel }: CourseDrawing,
  each: Series,
  place: number,
  axis: number,
  isLabelled: boolean,
) {
  const { series } = course
  const color = colourOf(colours, place, series.length)
  const data = each.values.map((value, index) => [middleOf(course, index), value])
  const shared = { name: each.name, data, color, yAxisIndex: Math.max(0, axis), xAxisIndex: 0 }
  if (panel.look === 'bars') {
    const isStacked = series.length > 1 && each.kind === 'count'
    return {
      ...shared,
      type: 'bar',
      barMaxWidth: 36,
      barCategoryGap: '30%',
      ...(isStacked ? { stack: 'all' } : { itemStyle: { borderRadius: [2, 2, 0, 0] } }),
    }
  }
  const isAlone = each.values.filter((value) => value !== null).length <= 60
  return {
    ...shared,
    type: 'line',
    connectNulls: false,
    showSymbol: isAlone,
    symbol: 'circle',
    symbolSize: 5,
    lineStyle: { width: 2 },
    ...(isLabelled && {
      endLabel: { show: true, formatter: each.name, color, width: 108, overflow: 'truncate', fontSize: 12 },
      labelLayout: { moveOverlap: 'shiftY' },
    }),
  }
}

/** The period before, in grey, drawn interval by interval. */
function beforeSeries({ before, course, colours }: CourseDrawing, kinds: readonly string[]) {
  return (before?.series ?? []).map((each) => ({
    name: `${each.name}, period before`,
    type: 'line',
    color: colours.before,
    silent: true,
    symbol: 'none',
    lineStyle: { width: 1.5, type: [4, 3] },
    yAxisIndex: Math.max(0, kinds.indexOf(each.kind)),
    data: course.times.map((_, index) => [middleOf(course, index), each.values[index] ?? null]),
    tooltip: { show: false },
  }))
}

/** Ticks, dots and diamonds in a strip below the chart, so that cause and effect are above each other. */
function markSeries(annotations: readonly Annotation[], colours: Colours, axis: number) {
  const looks = {
    deployment: { symbol: 'rect', symbolSize: [1, 10], color: colours.quiet },
    incident: { symbol: 'circle', symbolSize: 5, color: colours.bad },
    switch: { symbol: 'diamond', symbolSize: 10, color: colours.accent },
    change: { symbol: 'triangle', symbolSize: 10, color: colours.accent },
  } as const
  return (['deployment', 'switch', 'incident', 'change'] as const).map((kind) => ({
    type: 'scatter',
    name: MARK_WORDS[kind],
    xAxisIndex: 1,
    yAxisIndex: axis,
    ...looks[kind],
    data: annotations
      .filter((each) => each.kind === kind)
      .map(({ at, title }) => ({ value: [Date.parse(at), 0.5], name: title })),
    tooltip: {
      trigger: 'item',
      formatter: ({ name, value }: { name: string; value: [number, number] }) =>
        `${MARK_WORDS[kind]}<br><b>${escaped(name || 'without a title')}</b><br>${dayText(value[0])}`,
    },
  }))
}

/** The text of the tooltip for an interval. */
function hint({ course, before }: CourseDrawing, points: unknown): string {
  const [point] = [points].flat() as { axisValue?: number; value?: [number, number] }[]
  const moment = Number(point?.axisValue ?? point?.value?.[0])
  const place = placeAt(course, moment)
  if (place === undefined) return ''
  const lines = course.series.slice(0, 12).map(({ name, kind, values }) => {
    const value = values[place] ?? null
    const earlier = before?.series.find((each) => each.name === name)?.values[place]
    const words = value === null ? 'no data' : textOf(value, kind)
    const compared =
      earlier === undefined || earlier === null
        ? ''
        : ` <span style="opacity:.65">(before: ${textOf(earlier, kind)})</span>`
    return `${escaped(name)}: <b title="${exactText(value, kind) ?? ''}">${words}</b>${compared}`
  })
  const counted = course.counted?.[place]
  const rests =
    counted === null || counted === undefined
      ? []
      : [`<span style="opacity:.75">${textOf(counted, 'count')} items</span>`]
  return [`<b>${intervalText(course, place)}</b>`, ...lines, ...rests].join('<br>')
}

function intervalText(course: Course, place: number): string {
  const [start = 0, end] = [course.times[place], endOf(course, place)]
  const days = Math.round((end - start) / 86_400_000)
  if (days >= 28) return monthText(start)
  return days <= 1 ? dayText(start) : `${dayText(start)} – ${dayText(end - 1)}`
}

/** Finds the interval that a moment belongs to. */
export function placeAt(course: Course, moment: number): number | undefined {
  const place = course.times.findLastIndex((start) => start <= moment)
  return place >= 0 && moment <= endOf(course, place) ? place : undefined
}
