import { useQuery } from '@tanstack/react-query'
import type { AnswerTo } from '../api/ask.ts'
import { question } from '../api/queries.ts'
import { quantity } from '../parts/words.ts'
import { isSaidInWords } from './key-change.ts'

/** The four keys in the order in which they are shown, with the titles that the server uses everywhere. */
export const KEYS = [
  { name: 'change-lead-time', title: 'Change lead time', of: 'pull request' },
  { name: 'deployment-frequency', title: 'Deployment frequency', of: 'deployment' },
  { name: 'change-failure-rate', title: 'Change failure rate', of: 'deployment' },
  { name: 'failed-deployment-recovery-time', title: 'Failed deployment recovery time', of: 'incident' },
] as const
export type KeyName = (typeof KEYS)[number]['name']

type ProjectKeys = AnswerTo<'GET /v1/four-keys'>['projects'][number]
export type Key = ProjectKeys['keys'][number]

export interface Period {
  readonly from: string
  readonly to: string
}

/** The last months, and an equally long period before. Uses whole days, so that a page that stays open repeats the same request. */
export function periods(months: number, now = new Date()): { readonly current: Period; readonly before: Period } {
  const end = Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate() + 1)
  const back = (length: number) => {
    const moment = new Date(end)
    moment.setUTCMonth(moment.getUTCMonth() - length)
    return moment.toISOString()
  }
  const start = back(months)
  return { current: { from: start, to: new Date(end).toISOString() }, before: { from: back(2 * months), to: start } }
}

const bucketOf = (months: number) => (months <= 3 ? ('week' as const) : ('month' as const))

/** Asks for the keys of many projects in one request. */
export const keysQuestion = (projects: readonly string[], period: Period, months: number) =>
  question('GET /v1/four-keys', { query: { project: projects, ...period, bucket: bucketOf(months) } })

/** The keys now, and in an equally long period before. */
export function useKeys(project: string, months: number) {
  const { current, before } = periods(months)
  return {
    now: useQuery(keysQuestion([project], current, months)),
    before: useQuery(keysQuestion([project], before, months)),
  }
}

export const useExplained = (metric: string, project: string, months: number) =>
  useExplanation(metric, project, periods(months).current)

export const useExplanation = (metric: string, project: string, period: Period) =>
  useQuery(question('GET /v1/metrics/{metric}/explanation', { path: { metric }, query: { project, ...period } }))

/** A value as one text: `3 d 4 h`, `11.8 %`. */
export const valueText = (value: number, unit: string): string =>
  quantity(value, unit)
    .map(({ amount, unit: word }) => `${amount} ${word}`)
    .join(' ')

/** No items in the whole range are not a slow week: they say nothing at all. */
export const isEmpty = ({ value, counted }: Pick<Key, 'value' | 'counted'>): boolean => value === null || counted === 0

/** A value as one text, in words if the number alone would mislead. */
export const saidText = (value: number, unit: string, inWords: string): string =>
  isSaidInWords(value, unit) ? inWords : valueText(value, unit)

export const gradeOf = ({ grades }: Pick<Key, 'grades'>) => grades.find(({ report }) => report === '2023')
export const bandOf = (key: Pick<Key, 'grades'>) => gradeOf(key)?.band
