/** Turns the rows of a panel over time into lines or bars: one per further column, or one per `metric` of a column `value`. */
import { isNumeric, numberOf } from './cells.ts'
import type { Column, PanelRows } from './view.ts'

export interface Series {
  readonly name: string
  readonly kind: string
  /** In the order of `times`. */
  readonly values: readonly (number | null)[]
}
export interface Course {
  /** Starts of the intervals, in milliseconds. */
  readonly times: readonly number[]
  readonly series: readonly Series[]
  /** Number of items behind each point, if known. */
  readonly counted: readonly (number | null)[] | null
}

/** This column is written beside a point, not drawn. */
const COUNTED = 'counted'

export function courseOf({ columns, rows }: Pick<PanelRows, 'columns' | 'rows'>): Course {
  const place = (name: string) => columns.findIndex((column) => column.name === name)
  const [time, metric, value, counted] = [place('time'), place('metric'), place('value'), place(COUNTED)]
  const timeOf = (row: readonly unknown[]) => Date.parse(String(row[time]))
  const times = [...new Set(rows.map(timeOf))].filter((each) => !Number.isNaN(each)).sort((one, other) => one - other)
  if (metric >= 0 && value >= 0) {
    const kind = columns[value]?.kind ?? 'count'
    const names = [...new Set(rows.map((row) => String(row[metric] ?? '')))].sort()
    const series = names.map((name) => {
      const own = new Map(
        rows.filter((row) => String(row[metric] ?? '') === name).map((row) => [timeOf(row), row[value]]),
      )
      return { name, kind, values: times.map((each) => numberOf(own.get(each))) }
    })
    return { times, series, counted: null }
  }
  const byTime = new Map(rows.map((row) => [timeOf(row), row]))
  const valuesOf = (index: number) => times.map((each) => numberOf(byTime.get(each)?.[index]))
  const drawn = columns
    .map((column, index): [Column, number] => [column, index])
    .filter(([column, index]) => index !== time && column.name !== COUNTED && isNumeric(column))
  return {
    times,
    series: drawn.map(([{ title, kind }, index]) => ({ name: title, kind, values: valuesOf(index) })),
    counted: counted >= 0 ? valuesOf(counted) : null,
  }
}

/** True if nothing happened in the whole range. That is shown as missing data, not as a line at the bottom. */
export const isNothing = ({ series }: Course): boolean =>
  series.every(({ values, kind }) => values.every((value) => value === null || (value === 0 && kind === 'count')))

const DAY = 86_400_000
/** The end of an interval is the start of the next one. */
export function endOf({ times }: Pick<Course, 'times'>, place: number): number {
  const [start = 0, next] = [times[place], times[place + 1]]
  if (next !== undefined) return next
  const [before] = [times[place - 1]]
  const length = before === undefined ? DAY : start - before
  if (length < 27 * DAY) return start + length
  const later = new Date(start)
  return later.setUTCMonth(later.getUTCMonth() + Math.round(length / (30 * DAY)))
}
