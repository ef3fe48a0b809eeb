/**
 * dashboard   one page that answers a question; drawn in the web client, and published as a Grafana template
 * variable    what its reader chooses; panels have its value in their statements
 * panel       one statement and how its rows are drawn
 */
import type { Dialect } from '../database/dialect.ts'
import type { Sql } from '../metrics/calculate/calculation.ts'
import type { Unit } from '../metrics/metric.ts'
import type { Policy } from '../metrics/policy.ts'

export interface Dashboard {
  /** Part of addresses and file names; never changes. */
  readonly name: string
  readonly title: string
  /** What it answers, in a sentence. */
  readonly question: string
  readonly group: 'Delivery' | 'Engineering' | 'Sources' | 'Operation' | 'Your own'
  /** A field of users that it reads, in the first of these tables that has it. */
  readonly ownField?: { readonly name: string; readonly title: string; readonly tables: readonly string[] }
  readonly variables: readonly Variable[]
  readonly sections: readonly Section[]
}

export interface Section {
  readonly title?: string
  readonly panels: readonly Panel[]
}

export interface Variable {
  readonly name: string
  readonly title: string
  /** A fixed list, the first of which is chosen to begin with … */
  readonly options?: readonly string[]
  /** … or rows of `value` and `label`. */
  readonly statement?: (query: PanelQuery) => Sql
  /** Several can be chosen, or all. */
  readonly isList?: boolean
  /** What to do when there are no values. */
  readonly remedy?: string
}
/** The value of a list of which nothing is left out. */
export const ALL = '__all'

/** Where a statement is used: with values in the web client, with macros and variables in a Grafana template. */
export interface PanelQuery {
  readonly dialect: Dialect
  /** Both ends belong to the range. */
  readonly from: Sql
  readonly to: Sql
  /** The value of a variable; of a list, its values with commas between. */
  readonly variable: (name: string) => Sql
  readonly policy: Policy
}

export type Look =
  /** One large number, its first column. */
  | 'number'
  /** Over time: the column `time`, and one line or bar for each further column, or for each `metric` of a column `value`. */
  | 'lines'
  | 'bars'
  /** The first column names what the others measure. */
  | 'ranking'
  | 'table'

export interface Panel {
  /** Unique within its dashboard; part of addresses. */
  readonly name: string
  readonly title: string
  /** What is counted, when, and what is not. */
  readonly definition: string
  readonly look: Look
  readonly statement: (query: PanelQuery) => Sql
  /** The columns of the rows, in their order. */
  readonly columns: Readonly<Record<string, Column>>
  /** Of 24; 12 unless said. */
  readonly width?: number
  /** In rows of 30 pixels. */
  readonly height?: number
  /** Its items and reasons can be seen. */
  readonly metric?: string
  readonly better?: 'higher' | 'lower'
  /** Colours begin at these values, from good to bad or the other way round as `better` says. */
  readonly limits?: readonly number[]
  /** Why it may be empty, and what to do. */
  readonly remedy: string
}

export interface Column {
  readonly title: string
  readonly kind: ColumnKind
  /** The column that holds the address of what this one names; it is not shown itself. */
  readonly link?: string
}
export type ColumnKind = Unit | 'text' | 'moment' | 'day' | 'bytes' | 'address'

export const panelsOf = ({ sections }: Dashboard): Panel[] => sections.flatMap(({ panels }) => panels)
