import './dashboards.css'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { useMemo } from 'react'
import { question } from '../api/queries.ts'
import { Icon, MARK } from '../frame/icon.tsx'
import { Asked, Page } from '../parts/parts.tsx'
import { dayText } from './cells.ts'
import { Grid } from './grid.tsx'
import { type View, ViewContext } from './view.ts'

const place = getRouteApi('/shared/$token')
/** Screens on walls often show such pages. */
const EVERY_MS = 5 * 60_000

/** A dashboard behind a public link: without choices, and without links to other pages. */
export function SharedPage() {
  const { token } = place.useParams()
  const shared = useQuery({
    ...question('GET /v1/shared/{token}', { path: { token } }),
    refetchInterval: EVERY_MS,
    refetchOnWindowFocus: false,
    staleTime: Number.POSITIVE_INFINITY,
  })
  const { data } = shared
  const view = useMemo(
    (): View | undefined =>
      data && {
        definition: data,
        range: data.range,
        values: data.values,
        isCompared: false,
        annotations: [],
        rowsOf: (panel, period) => ({
          ...question('GET /v1/shared/{token}/panels/{panel}', {
            path: { token, panel: panel.name },
            query: { period },
          }),
          // A new range makes a new key, so the rows are asked for again.
          queryKey: ['GET /v1/shared/{token}/panels/{panel}', token, panel.name, period, data.range.to],
          placeholderData: keepPreviousData,
          staleTime: Number.POSITIVE_INFINITY,
        }),
      },
    [data, token],
  )
  const words = data && Object.values(data.values).map((value) => [value].flat().join(', '))
  return (
    <main className="bare">
      <Page
        title={data?.title ?? 'Dashboard'}
        says={data ? data.question : 'A dashboard that somebody shared.'}
        actions={
          data && (
            <span className="quiet number">
              <bdi>{words?.join(' · ')}</bdi> · {dayText(data.range.from)} – {dayText(data.range.to)}
            </span>
          )
        }
      >
        <Asked of={shared}>
          {() =>
            view && (
              <ViewContext value={view}>
                <Grid />
              </ViewContext>
            )
          }
        </Asked>
      </Page>
      <footer className="small faint bare-foot">
        <Icon path={MARK} /> Shown by Weir
      </footer>
    </main>
  )
}
