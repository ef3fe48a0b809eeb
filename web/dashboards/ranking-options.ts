/** ECharts options for bars beside names. */
import type { EChartsCoreOption } from 'echarts/core'
import { isNumeric, numberOf, textOf } from './cells.ts'
import { axisText, type Colours, colourOf, escaped, FONT, tooltip } from './chart-look.ts'
import type { PanelRows } from './view.ts'

export const RANK_HEIGHT = 28
const MOST_RANKS = 50
/** Pixels of a letter beside a bar, and the most pixels of a panel for letters. */
const LETTER = 6.5
const MOST_ROOM = 340

/** Draws the columns with the same unit as the first one; the others are written beside the bars. */
export function rankingOption({ columns, rows }: PanelRows, colours: Colours): EChartsCoreOption {
  const measures = columns.flatMap((column, index) =>
    index > 0 && isNumeric(column) && column.name !== 'counted' ? [{ column, index }] : [],
  )
  const drawn = measures.filter(({ column }) => column.kind === measures[0]?.column.kind)
  const said = measures.filter((each) => !drawn.includes(each))
  const some = rows.slice(0, MOST_RANKS)
  const words = (row: readonly unknown[], { column, index }: (typeof measures)[number]) =>
    `${column.title}: ${textOf(row[index], column.kind) || 'no data'}`
  const labels = some.map((row) =>
    [textOf(row[drawn[0]?.index ?? 0], drawn[0]?.column.kind ?? 'text'), ...said.map((each) => words(row, each))].join(
      ' · ',
    ),
  )
  const longest = Math.max(0, ...labels.map((label) => label.length))
  const room = said.length > 0 ? Math.min(MOST_ROOM, Math.max(170, 16 + longest * LETTER)) : 72
  return {
    animation: false,
    textStyle: FONT,
    ...(drawn.length > 1 && {
      legend: { top: 0, left: 0, icon: 'roundRect', itemWidth: 10, itemHeight: 10, textStyle: axisText(colours) },
    }),
    tooltip: {
      ...tooltip(colours),
      trigger: 'axis',
      axisPointer: { type: 'shadow', shadowStyle: { opacity: 0.15 } },
      formatter: (points: unknown) => {
        const [{ dataIndex = 0 } = {}] = [points].flat() as { dataIndex?: number }[]
        const row = some[dataIndex] ?? []
        return [
          `<b>${escaped(String(row[0] ?? ''))}</b>`,
          ...measures.map((measure) => escaped(words(row, measure))),
        ].join('<br>')
      },
    },
    grid: {
      left: 8,
      right: room,
      top: drawn.length > 1 ? 32 : 4,
      bottom: 4,
      outerBoundsMode: 'same',
      outerBoundsContain: 'axisLabel',
    },
    xAxis: { type: 'value', show: false, min: 0 },
    yAxis: {
      type: 'category',
      inverse: true,
      data: some.map((row) => String(row[0] ?? '')),
      axisLine: { show: false },
      axisTick: { show: false },
      axisLabel: { color: colours.text, fontSize: 13, width: 180, overflow: 'truncate' },
    },
    series: drawn.map(({ column, index }, place) => ({
      type: 'bar',
      name: column.title,
      color: colourOf(colours, place, drawn.length),
      barMaxWidth: 16,
      barCategoryGap: '35%',
      itemStyle: { borderRadius: [0, 2, 2, 0] },
      data: some.map((row) => numberOf(row[index])),
      label: {
        show: true,
        position: 'right',
        color: colours.quiet,
        fontSize: 12,
        formatter: ({ value, dataIndex }: { value: number | null; dataIndex: number }) =>
          place === 0 ? (labels[dataIndex] ?? '') : textOf(value, column.kind),
      },
    })),
  }
}
