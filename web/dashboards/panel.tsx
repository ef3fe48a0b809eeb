import { Menu, Skeleton, Tooltip } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { EChartsType } from 'echarts/core'
import { lazy, type RefObject, Suspense, useMemo, useRef, useState } from 'react'
import { Icon } from '../frame/icon.tsx'
import { useMay } from '../frame/sign-in.tsx'
import { Late } from '../parts/late.tsx'
import { AddToOwn } from './add-to-own.tsx'
import { dayText, numberOf, textOf } from './cells.ts'
import { NumberFigure } from './number.tsx'
import { fileName, savePicture } from './picture.ts'
import { Nothing } from './remedy.tsx'
import { courseOf, isNothing } from './series.ts'
import { RowTable } from './table.tsx'
import { type Panel, type PanelRows, projectOf, useView } from './view.ts'

const Chart = lazy(() => import('./chart.tsx'))

const ROW_PIXELS = 30
const HEAD_PIXELS = 64
const DOTS = 'M4.5 10h.01M10 10h.01M15.5 10h.01'

const isOverTime = ({ look }: Panel) => look === 'lines' || look === 'bars'

/** A panel that fails or is empty says so; the other panels are not affected. */
export function PanelCard({ panel }: { readonly panel: Panel }) {
  const { rowsOf, isCompared } = useView()
  const rows = useQuery(rowsOf(panel, 'now'))
  const isWithBefore = panel.look === 'number' || (isCompared && isOverTime(panel))
  const before = useQuery({ ...rowsOf(panel, 'before'), enabled: isWithBefore })
  const [isTable, setTable] = useState(false)
  const chart = useRef<EChartsType>(null)
  return (
    <>
      <PanelHead panel={panel} chart={chart} isTable={isTable} onTable={() => setTable(!isTable)} />
      <div className={rows.isPlaceholderData ? 'panel-body stale' : 'panel-body'} aria-busy={rows.isPlaceholderData}>
        {rows.data ? (
          <Body
            panel={panel}
            rows={rows.data}
            before={isWithBefore ? before.data : undefined}
            isTable={isTable}
            chart={chart}
          />
        ) : rows.error ? (
          <div className="nothing" role="alert">
            <p className="bad">{rows.error.message}</p>
            <button type="button" className="quiet-button" onClick={() => void rows.refetch()}>
              Try again
            </button>
          </div>
        ) : (
          <Late>
            <Skeleton height={panel.look === 'number' ? 60 : panel.height * ROW_PIXELS - HEAD_PIXELS} />
          </Late>
        )}
        {rows.data && rows.error && (
          <p className="small bad" role="alert">
            {rows.error.message}
          </p>
        )}
      </div>
    </>
  )
}

interface BodyProps {
  readonly panel: Panel
  readonly rows: PanelRows
  readonly before: PanelRows | undefined
  readonly isTable: boolean
  readonly chart: RefObject<EChartsType | null>
}

function Body({ panel, rows, before, isTable, chart }: BodyProps) {
  const { annotations, range, own, values } = useView()
  const course = useMemo(() => (isOverTime(panel) ? courseOf(rows) : null), [panel, rows])
  const earlier = useMemo(() => (before && isOverTime(panel) ? courseOf(before) : undefined), [panel, before])
  const isEmpty = course
    ? isNothing(course)
    : panel.look === 'number'
      ? numberOf(rows.rows[0]?.[0]) === null
      : rows.rows.length === 0
  const { metric } = panel
  const explain = own && metric && projectOf(values) !== undefined ? own.onExplain : undefined
  const onPick = useMemo(
    () => (explain && metric ? (part: { from: string; to: string }) => explain(metric, part) : undefined),
    [explain, metric],
  )
  if (isEmpty) return <Nothing panel={panel} />
  if (panel.look === 'number' && !isTable) return <NumberFigure panel={panel} rows={rows} before={before} />
  if (panel.look === 'table' || isTable) return <RowTable rows={rows} label={panel.title} />
  return (
    <Suspense
      fallback={
        <Late>
          <Skeleton height={panel.height * ROW_PIXELS - HEAD_PIXELS} />
        </Late>
      }
    >
      <Chart
        panel={panel}
        rows={rows}
        course={course}
        before={earlier}
        annotations={annotations}
        range={range}
        height={panel.height * ROW_PIXELS - HEAD_PIXELS}
        label={labelOf(panel, rows)}
        chart={chart}
        onPick={onPick}
        onRange={own?.onRange}
      />
    </Suspense>
  )
}

/** The label for people who do not see the chart: its latest value, or the number of bars. */
function labelOf(panel: Panel, rows: PanelRows): string {
  if (!isOverTime(panel)) return `${panel.title}, ${rows.rows.length} bars`
  const [first] = courseOf(rows).series
  const last = first?.values.findLast((value) => value !== null)
  return last === undefined || last === null ? panel.title : `${panel.title}, lately ${textOf(last, first?.kind ?? '')}`
}

interface PanelHeadProps {
  readonly panel: Panel
  readonly chart: RefObject<EChartsType | null>
  readonly isTable: boolean
  readonly onTable: () => void
}

function PanelHead({ panel, chart, isTable, onTable }: PanelHeadProps) {
  const { definition, range, values, own } = useView()
  const [isAdding, setAdding] = useState(false)
  const isOperator = useMay('operator')
  const project = projectOf(values)
  const { metric } = panel
  const isChart = isOverTime(panel) || panel.look === 'ranking'
  const save = () => {
    if (!chart.current) return
    void savePicture(chart.current, {
      title: project ? `${panel.title}: ${project}` : panel.title,
      range: `${dayText(range.from)} – ${dayText(range.to)}`,
      source: `Weir, ${definition.title}. ${panel.definition}`,
    })
  }
  return (
    <header className="panel-head">
      <Tooltip label={panel.definition} multiline w={320} events={{ hover: true, focus: true, touch: true }}>
        <h3>
          <button type="button" className="panel-title" aria-description={panel.definition}>
            {panel.title}
          </button>
        </h3>
      </Tooltip>
      {own && metric && project !== undefined && (
        <button
          type="button"
          className="quiet-button explain"
          aria-label={`Explain ${panel.title.toLowerCase()}`}
          onClick={() => own.onExplain(metric)}
        >
          Explain
        </button>
      )}
      {own && (
        <Menu position="bottom-end" withinPortal shadow="md">
          <Menu.Target>
            <button type="button" className="icon-button" aria-label={`More about ${panel.title.toLowerCase()}`}>
              <Icon path={DOTS} />
            </button>
          </Menu.Target>
          <Menu.Dropdown>
            {isChart && <Menu.Item onClick={onTable}>{isTable ? 'Show as picture' : 'Show as table'}</Menu.Item>}
            <Menu.Item component="a" href={own.csvOf(panel)} download={`${fileName(panel.title)}.csv`}>
              Save as CSV
            </Menu.Item>
            {isChart && !isTable && <Menu.Item onClick={save}>Save as PNG</Menu.Item>}
            {isOperator && <Menu.Item onClick={() => setAdding(true)}>Add to my dashboard</Menu.Item>}
          </Menu.Dropdown>
        </Menu>
      )}
      {isAdding && <AddToOwn panel={panel} onClose={() => setAdding(false)} />}
    </header>
  )
}
