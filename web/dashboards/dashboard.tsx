import './dashboards.css'
import { Button } from '@mantine/core'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { useCallback, useEffect, useMemo } from 'react'
import { queries, question, refresh } from '../api/queries.ts'
import { Explanation } from '../explain/explanation.tsx'
import { useMay } from '../frame/sign-in.tsx'
import { PartialData } from '../parts/partial-data.tsx'
import { Asked, Failure, Page, Waiting } from '../parts/parts.tsx'
import type { DashboardSearch, Refresh } from './address.ts'
import { Arrange } from './arrange.tsx'
import { Grid } from './grid.tsx'
import { MissingField, NoValues } from './remedy.tsx'
import { Share } from './share.tsx'
import { marksOf, rangeOf, Toolbar } from './toolbar.tsx'
import { useVariables, valuesOf, withValue } from './variables.tsx'
import {
  csvAddress,
  type Definition,
  type Period,
  projectOf,
  rowsQuestion,
  type Values,
  type Variable,
  type View,
  ViewContext,
} from './view.ts'

const place = getRouteApi('/dashboards/$dashboard')
const MINUTE_MS = 60_000
const REFRESH_MS: Readonly<Record<Refresh, number>> = { '1m': MINUTE_MS, '5m': 5 * MINUTE_MS, '15m': 15 * MINUTE_MS }

type Change = (change: (before: DashboardSearch) => DashboardSearch, isReplaced?: boolean) => void

export function DashboardPage() {
  const { dashboard: name } = place.useParams()
  const search = place.useSearch()
  const navigate = place.useNavigate()
  const isOperator = useMay('operator')
  const onSearch: Change = useCallback(
    (change, isReplaced = false) => void navigate({ search: change as never, replace: isReplaced }),
    [navigate],
  )
  const range = rangeOf(search)
  const asked = useQuery({
    ...question('GET /v1/dashboards/{dashboard}', { path: { dashboard: name }, query: range }),
    // When the range of the same dashboard changes, the old data stays until the new data arrives.
    placeholderData: (before) => (before?.name === name ? keepPreviousData(before) : undefined),
    staleTime: Number.POSITIVE_INFINITY,
    refetchOnWindowFocus: false,
  })
  const definition = asked.data
  useRefresh(name, search.refresh)
  useKiosk(search.kiosk === true, onSearch)
  const { own } = definition ?? {}
  return (
    <Page
      title={definition?.title ?? 'Dashboard'}
      says={definition?.question || (definition ? 'Built from panels of other dashboards.' : '')}
      actions={
        definition && (
          <>
            <Button variant="subtle" component="a" href={`/v1/dashboards/${definition.name}/template`} download>
              For Grafana
            </Button>
            {own && isOperator && !search.edit && (
              <Button variant="default" onClick={() => onSearch((before) => ({ ...before, edit: true }))}>
                Arrange
              </Button>
            )}
            {isOperator && (
              <Button variant="default" onClick={() => onSearch((before) => ({ ...before, share: true }))}>
                Share
              </Button>
            )}
            <Button variant="default" onClick={() => onSearch((before) => ({ ...before, kiosk: true }))}>
              Full screen
            </Button>
          </>
        )
      }
    >
      {asked.error && definition && <Failure error={asked.error} />}
      <Asked of={asked}>
        {(known) => (
          <Viewed definition={known} search={search} onSearch={onSearch} onRefresh={() => void refreshAll(name)} />
        )}
      </Asked>
    </Page>
  )
}

/** With a relative range, the new range makes the panels load again. With a fixed range, this makes them load. */
async function refreshAll(name: string): Promise<void> {
  const rangeNow = () =>
    JSON.stringify(
      queries
        .getQueriesData<Definition>({ queryKey: ['GET /v1/dashboards/{dashboard}'] })
        .map(([, data]) => data?.name === name && data.range),
    )
  const before = rangeNow()
  await refresh('GET /v1/dashboards/{dashboard}')
  if (rangeNow() === before) await refresh('GET /v1/dashboards/{dashboard}/panels/{panel}')
}

function useRefresh(name: string, every: Refresh | undefined): void {
  useEffect(() => {
    if (!every) return
    const timer = setInterval(() => void refreshAll(name), REFRESH_MS[every])
    return () => clearInterval(timer)
  }, [name, every])
}

/** Shows only panels. Escape leaves this mode. */
function useKiosk(isOn: boolean, onSearch: Change): void {
  useEffect(() => {
    if (!isOn) return
    document.documentElement.dataset.kiosk = 'true'
    const leave = ({ key }: KeyboardEvent) => {
      if (key === 'Escape') onSearch(({ kiosk: _, ...before }) => before, true)
    }
    window.addEventListener('keydown', leave)
    return () => {
      delete document.documentElement.dataset.kiosk
      window.removeEventListener('keydown', leave)
    }
  }, [isOn, onSearch])
}

interface ViewedProps {
  readonly definition: Definition
  readonly search: DashboardSearch
  readonly onSearch: Change
  readonly onRefresh: () => void
}

function Viewed({ definition, search, onSearch, onRefresh }: ViewedProps) {
  const values = useValues(definition, search)
  const { all, open } = useVariables(definition, values, (variable: Variable, value: string) =>
    onSearch((before) => withValue(definition, before, variable, value), true),
  )
  const isOperator = useMay('operator')
  const closeShare = () => onSearch(({ share: _, ...before }) => before, true)
  return (
    <>
      <Toolbar
        definition={definition}
        variables={all}
        values={values}
        search={search}
        onSearch={onSearch}
        onRefresh={onRefresh}
      />
      {definition.missingField && <MissingField field={definition.missingField} />}
      {open ? (
        open.error ? (
          <Failure error={open.error} />
        ) : open.options?.length === 0 ? (
          <NoValues variable={open.variable} values={values} />
        ) : (
          <Waiting lines={3} />
        )
      ) : (
        <Chosen definition={definition} search={search} onSearch={onSearch} values={values} />
      )}
      {search.kiosk && (
        <Button
          className="leave-kiosk"
          variant="default"
          size="compact-sm"
          onClick={() => onSearch(({ kiosk: _, ...before }) => before, true)}
        >
          Leave full screen
        </Button>
      )}
      {search.share && isOperator && (
        <Share definition={definition} values={values} range={rangeOf(search)} onClose={closeShare} />
      )}
    </>
  )
}

/** Returns the same object while nothing changes, because panels compare it. */
function useValues(definition: Definition, search: DashboardSearch): Values {
  const text = JSON.stringify(valuesOf(definition, search))
  return useMemo(() => JSON.parse(text) as Values, [text])
}

interface ChosenProps extends Omit<ViewedProps, 'onRefresh'> {
  readonly values: Values
}

function Chosen({ definition, search, onSearch, values }: ChosenProps) {
  const project = projectOf(values)
  const { range, own } = definition
  const marks = marksOf(search)
  const annotations = useQuery({
    ...question('GET /v1/annotations', {
      query: { project: project ?? '', from: range.from, to: range.to, kinds: marks.join(',') },
    }),
    enabled: project !== undefined && marks.length > 0,
    placeholderData: keepPreviousData,
    staleTime: Number.POSITIVE_INFINITY,
  })
  const marked = marks.length > 0 ? annotations.data?.annotations : undefined
  const isCompared = search.compare === true
  const view = useMemo(
    (): View => ({
      definition,
      range,
      values,
      isCompared,
      annotations: marked ?? [],
      rowsOf: (panel, period) =>
        rowsQuestion(definition.name, panel.name, period === 'now' ? range : range.before, values),
      own: {
        onRange: ({ from, to }) => onSearch((before) => ({ ...before, from, to })),
        onExplain: (metric, part) =>
          onSearch((before) => ({
            ...withoutExplanation(before),
            explain: metric,
            ...(part && { since: part.from, until: part.to }),
          })),
        csvOf: (panel) => csvAddress(definition.name, panel.name, range, values),
      },
    }),
    [definition, range, values, isCompared, marked, onSearch],
  )
  const part: Period = { from: search.since ?? range.from, to: search.until ?? range.to }
  return (
    <ViewContext value={view}>
      {own && search.edit ? (
        <Arrange id={own.id} onDone={() => onSearch(({ edit: _, ...before }) => before)} />
      ) : (
        <>
          {project !== undefined && <PartialData project={project} />}
          <Grid />
        </>
      )}
      {project !== undefined && (
        <Explanation
          project={{ name: project }}
          metric={search.explain}
          reason={search.reason}
          period={part}
          onClose={() => onSearch(withoutExplanation)}
          onReason={(reason) => onSearch(({ reason: _, ...before }) => ({ ...before, ...(reason && { reason }) }))}
        />
      )}
    </ViewContext>
  )
}

const withoutExplanation = ({
  explain: _,
  reason: __,
  since: ___,
  until: ____,
  ...rest
}: DashboardSearch): DashboardSearch => rest
