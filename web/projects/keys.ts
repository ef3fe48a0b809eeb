import { useQuery } from '@tanstack/react-query'
import { question } from '../api/queries.ts'

/** The four keys, in the order in which they are told. */
export const KEYS = [
  { name: 'change-lead-time', title: 'Lead time for changes', of: 'pull request' },
  { name: 'deployment-frequency', title: 'Deployment frequency', of: 'deployment' },
  { name: 'change-failure-rate', title: 'Change failure rate', of: 'deployment' },
  { name: 'failed-deployment-recovery-time', title: 'Recovery time', of: 'incident' },
] as const
export type KeyName = (typeof KEYS)[number]['name']

export interface Period {
  readonly from: string
  readonly to: string
}

/** The last so many months, and as many before them. Whole days, so that a page that stays open asks the same. */
export function periods(months: number, now = new Date()): { readonly current: Period; readonly before: Period } {
  const end = Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate() + 1)
  const back = (count: number) => {
    const moment = new Date(end)
    moment.setUTCMonth(moment.getUTCMonth() - count)
    return moment.toISOString()
  }
  const start = back(months)
  return { current: { from: start, to: new Date(end).toISOString() }, before: { from: back(2 * months), to: start } }
}

export function useKey(metric: string, project: string, months: number) {
  const { current, before } = periods(months)
  const bucket = months <= 3 ? ('week' as const) : ('month' as const)
  const ask = (period: Period) => ({ path: { metric }, query: { project, ...period } })
  return {
    now: useQuery(question('GET /v1/metrics/{metric}/explanation', ask(current))),
    before: useQuery(question('GET /v1/metrics/{metric}', ask(before))),
    series: useQuery(
      question('GET /v1/metrics/{metric}/series', { path: { metric }, query: { project, ...current, bucket } }),
    ),
  }
}
