/** The performance bands of the DORA reports of 2021 and 2023, in the words that dashboards compare byte for byte. */
import { byName } from '../../basics/by-name.ts'
import { BENCHMARKS } from '../../domain/seeds.ts'
import type { Metric, Report } from '../metric.ts'
import type { Frequency } from './frequency.ts'

export const REPORTS: readonly Report[] = ['2021', '2023']
export type Band = 'elite' | 'high' | 'medium' | 'low'

export interface Grade {
  readonly report: Report
  readonly band: Band
  readonly label: string
  /** Only for deployment frequency: the numbers of days that decide the band. They are neither a sum nor a mean. */
  readonly by?: string
}

const HOUR = 60
const DAY = 24 * HOUR
type Limits = readonly [elite: number, high: number, medium: number]
const UPPER: Readonly<Record<string, Readonly<Partial<Record<Report, Limits>>>>> = byName({
  'Lead time for changes': { 2021: [HOUR, 7 * DAY, 180 * DAY], 2023: [DAY, 7 * DAY, 30 * DAY] },
  'Change failure rate': { 2021: [0.15, 0.2, 0.3], 2023: [0.05, 0.1, 0.15] },
  'Time to restore service': { 2021: [HOUR, DAY, 7 * DAY] },
  'Failed deployment recovery time': { 2023: [HOUR, DAY, 7 * DAY] },
})
export const BANDS: readonly Band[] = ['elite', 'high', 'medium', 'low']

export function gradeOf(metric: Metric, report: Report, value: number | null, frequency?: Frequency): Grade | null {
  const name = metric.benchmark?.[report]
  if (!name || value === null) return null
  const band = frequency ? frequencyBand(frequency, report) : bandBelow(name, report, value)
  const row = BENCHMARKS.find((each) => each.metric === name && each.dora_report === report)
  return band && row ? { report, band, label: row[band], ...(frequency && { by: frequencyBasis(frequency) }) } : null
}

/** Explains the band: a label such as “fewer than once per month” beside ten deployments would be hard to believe without it. */
function frequencyBasis({ weekly, monthly }: Frequency): string {
  const month = monthly === null ? '' : ` and ${monthly} of the median month`
  return `The band goes by the days with a deployment: ${weekly} of the median week${month}.`
}

/** Returns where the bands of a metric end. Undefined if it is graded in another way or not at all. */
export const limitsOf = (metric: Metric, report: Report): Limits | undefined =>
  UPPER[metric.benchmark?.[report] ?? '']?.[report]

/** A time must be shorter than its limit; a rate may reach it. */
export const mayReach = (benchmark: string): boolean => benchmark === 'Change failure rate'

function bandBelow(name: string, report: Report, value: number): Band | null {
  const limits = UPPER[name]?.[report]
  if (!limits) return null
  const index = limits.findIndex((limit) => (mayReach(name) ? value <= limit : value < limit))
  return BANDS[index < 0 ? 3 : index] as Band
}

/** Grades as DevLake does, except that a range too short to tell has no band. */
function frequencyBand({ weekly, monthly, sixMonths }: Frequency, report: Report): Band | null {
  if (weekly === null) return null
  if (weekly >= 5) return 'elite'
  if (report === '2023' && weekly >= 1) return 'high'
  if (monthly !== null && monthly >= 1) return report === '2023' ? 'medium' : 'high'
  if (report === '2023') return monthly === null ? null : 'low'
  return sixMonths === null ? null : sixMonths >= 1 ? 'medium' : 'low'
}
