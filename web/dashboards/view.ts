/** The parts of a dashboard use this to know about the whole. */
import { keepPreviousData, type UseQueryOptions } from '@tanstack/react-query'
import { createContext, useContext } from 'react'
import type { AnswerTo } from '../api/ask.ts'
import { question } from '../api/queries.ts'

export type Definition = AnswerTo<'GET /v1/dashboards/{dashboard}'>
export type Panel = Definition['sections'][number]['panels'][number]
export type Column = Panel['columns'][number]
export type Variable = Definition['variables'][number]
export type PanelRows = AnswerTo<'GET /v1/dashboards/{dashboard}/panels/{panel}'>
export type Annotation = AnswerTo<'GET /v1/annotations'>['annotations'][number]
export type Values = Readonly<Record<string, string | readonly string[]>>
export interface Period {
  readonly from: string
  readonly to: string
}

export interface View {
  readonly definition: Definition
  readonly range: Period
  readonly values: Values
  readonly isCompared: boolean
  readonly annotations: readonly Annotation[]
  /** The query for the rows of a panel, now or in an equally long period before. */
  rowsOf(panel: Panel, period: 'now' | 'before'): UseQueryOptions<PanelRows>
  /** Only for signed-in users: a public link leads to nothing else. */
  readonly own?: OwnView
}
interface OwnView {
  onRange(period: Period): void
  onExplain(metric: string, part?: Period): void
  csvOf(panel: Panel): string
}

export const ViewContext = createContext<View | null>(null)

export function useView(): View {
  const view = useContext(ViewContext)
  if (!view) throw new Error('A panel stands in a dashboard.')
  return view
}

/** The value of a list that means all its values. */
export const ALL = '__all'

export const projectOf = ({ project }: Values): string | undefined =>
  typeof project === 'string' ? project : undefined

const queryOf = ({ from, to }: Period, values: Values) => ({ from, to, values: JSON.stringify(values) })

export const rowsQuestion = (dashboard: string, panel: string, period: Period, values: Values) => ({
  ...question('GET /v1/dashboards/{dashboard}/panels/{panel}', {
    path: { dashboard, panel },
    query: queryOf(period, values),
  }),
  // While another range is loading, the old rows stay.
  placeholderData: keepPreviousData,
  staleTime: Number.POSITIVE_INFINITY,
})

export const csvAddress = (dashboard: string, panel: string, period: Period, values: Values): string =>
  `/api/v1/dashboards/${encodeURIComponent(dashboard)}/panels/${encodeURIComponent(panel)}?${new URLSearchParams({
    ...queryOf(period, values),
    format: 'csv',
  })}`
