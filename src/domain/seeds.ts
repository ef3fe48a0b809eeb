import type { TableRow } from '../database/table.ts'
import { calendarMonths, doraBenchmarks } from './crossdomain.ts'

/** Dashboards compare these texts byte for byte. */
export const BENCHMARKS = [
  {
    metric: 'Deployment frequency',
    low: 'Fewer than once per six months(low)',
    medium: 'Between once per month and once every 6 months(medium)',
    high: 'Between once per day and once per month(high)',
    elite: 'On-demand(elite)',
    dora_report: '2021',
  },
  {
    metric: 'Lead time for changes',
    low: 'More than six months(low)',
    medium: 'Between one week and six months(medium)',
    high: 'Less than one week(high)',
    elite: 'Less than one hour(elite)',
    dora_report: '2021',
  },
  {
    metric: 'Change failure rate',
    low: '> 30%(low)',
    medium: '21%-30%(medium)',
    high: '16%-20%(high)',
    elite: '0-15%(elite)',
    dora_report: '2021',
  },
  {
    metric: 'Time to restore service',
    low: 'More than one week(low)',
    medium: 'Between one day and one week(medium)',
    high: 'Less than one day(high)',
    elite: 'Less than one hour(elite)',
    dora_report: '2021',
  },
  {
    metric: 'Deployment frequency',
    low: 'Fewer than once per month(low)',
    medium: 'Between once per week and once per month(medium)',
    high: 'Between once per day and once per week(high)',
    elite: 'On-demand(elite)',
    dora_report: '2023',
  },
  {
    metric: 'Lead time for changes',
    low: 'More than one month(low)',
    medium: 'Between one week and one month(medium)',
    high: 'Between one day and one week(high)',
    elite: 'Less than one day(elite)',
    dora_report: '2023',
  },
  {
    metric: 'Change failure rate',
    low: '> 15%(low)',
    medium: '10%-15%(medium)',
    high: '5%-10%(high)',
    elite: '0-5%(elite)',
    dora_report: '2023',
  },
  {
    metric: 'Failed deployment recovery time',
    low: 'More than one week(low)',
    medium: 'Between one day and one week(medium)',
    high: 'Less than one day(high)',
    elite: 'Less than one hour(elite)',
    dora_report: '2023',
  },
]

const MONTHS_BACK = 23
const MONTHS_AHEAD = 120

function monthRow(today: Date, offset: number): TableRow {
  const first = new Date(Date.UTC(today.getUTCFullYear(), today.getUTCMonth() + offset, 1))
  const [year = '', month = ''] = first.toISOString().split('-')
  return calendarMonths.row({ month: `${year.slice(2)}/${month}`, month_timestamp: first })
}

/** Rows that every database holds. They are written again at each start, which extends the calendar. */
export const seedRows = (today: Date): readonly TableRow[] => [
  ...BENCHMARKS.map((benchmark, index) => doraBenchmarks.row({ id: index + 1, ...benchmark })),
  ...Array.from({ length: MONTHS_BACK + 1 + MONTHS_AHEAD }, (_, index) => monthRow(today, index - MONTHS_BACK)),
]
