/** Changes of the user's own dashboards. Each is saved at once and can be undone. */
import { useMutation, useQuery } from '@tanstack/react-query'
import { type AnswerTo, ask } from '../api/ask.ts'
import { queries, question, refresh } from '../api/queries.ts'
import { changedSince, unlessChanged } from '../api/versions.ts'

export type OwnDashboard = AnswerTo<'GET /v1/own-dashboards/{id}'>
export type OwnPanel = OwnDashboard['panels'][number]
export const WIDTHS = [
  { value: 6, label: 'Quarter' },
  { value: 8, label: 'Third' },
  { value: 12, label: 'Half' },
  { value: 16, label: 'Two thirds' },
  { value: 24, label: 'Whole' },
] as const
type Width = (typeof WIDTHS)[number]['value']

/** The nearest width that users can choose. */
export const widthLike = (width: number): Width => WIDTHS.findLast(({ value }) => value <= width)?.value ?? 6

export const useOwn = (id: number) => useQuery(question('GET /v1/own-dashboards/{id}', { path: { id } }))

interface Changes {
  readonly title?: string
  readonly question?: string
  readonly panels?: readonly OwnPanel[]
}

export async function saveOwn(seen: OwnDashboard, { panels, ...rest }: Changes): Promise<OwnDashboard> {
  const body = { ...rest, ...(panels && { panels: panels.map((each) => ({ ...each, width: widthLike(each.width) })) }) }
  const header = unlessChanged(seen)
  const saved = await ask('PATCH /v1/own-dashboards/{id}', { path: { id: seen.id }, header, body })
  queries.setQueryData(question('GET /v1/own-dashboards/{id}', { path: { id: seen.id } }).queryKey, saved)
  await refresh('GET /v1/dashboards/{dashboard}', 'GET /v1/dashboards', 'GET /v1/own-dashboards')
  return saved
}

/** If somebody else has saved first, their version is shown instead. */
export function useSaveOwn(seen: OwnDashboard) {
  return useMutation({
    mutationFn: (changes: Changes) => saveOwn(seen, changes),
    onError: async (error) => {
      if (!changedSince<OwnDashboard>(error)) return
      await refresh('GET /v1/own-dashboards/{id}', 'GET /v1/dashboards/{dashboard}')
    },
  })
}
