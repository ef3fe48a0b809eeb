/**
 * dashboard   one page that answers a question; drawn in the web client, and published as a Grafana template
 * variable    a value that the reader chooses, and that statements of panels contain
 * panel       one statement and the way to draw its rows
 */
import type { Dialect } from '../database/dialect.ts'
import type { Sql } from '../metrics/calculate/calculation.ts'
import type { Unit } from '../metrics/metric.ts'
import type { Policy } from '../metrics/policy/policy.ts'

export interface Dashboard {
  /** Part of URLs and file names, so it never changes. */
  readonly name: string
  readonly title: string
  /** The question that it answers, in a sentence. */
  readonly question: string
  readonly group: 'Delivery' | 'Engineering' | 'Sources' | 'Operation' | 'Your own'
  /** A field added by users that it reads, from the first of these tables that has the field. */
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
  /** A fixed list, the first of which is chosen at the beginning … */
  readonly options?: readonly string[]
  /** … or rows of `value` and `label`. */
  readonly statement?: (query: PanelQuery) => Sql
  /** Whether several values, or all, can be chosen. */
  readonly isList?: boolean
  /** Says what to do when there are no values. */
  readonly remedy?: string
}
/** The value of a list from which everything is chosen. */
export const ALL = '__all'

/** The parts of a statement: values in the web client, macros and variables in a Grafana template. */
export interface PanelQuery {
  readonly dialect: Dialect
  /** Both ends belong to the range. */
  readonly from: Sql
  readonly to: Sql
  /** The value of a variable. For a list, its values separated by commas. */
  readonly variable: (name: string) => Sql
  readonly policy: Policy
}

export type Look =
  /** One large number, its first column. */
  | 'number'
  /** Over time: the column `time`, and one line or bar for each further column, or for each `metric` of a column `value`. */
  | 'lines'
  | 'bars'
  /** The first column names what the other columns measure. */
  | 'ranking'
  | 'table'

export interface Panel {
  /** Unique within its dashboard. It is part of URLs. */
  readonly name: string
  readonly title: string
  /** Says what is counted, when, and what is not. */
  readonly definition: string
  readonly look: Look
  readonly statement: (query: PanelQuery) => Sql
  /** The columns of the rows, in their order. */
  readonly columns: Readonly<Record<string, Column>>
  /** The share of 24 columns; 12 by default. */
  readonly width?: number
  /** In rows of 30 pixels. */
  readonly height?: number
  /** The metric whose items and reasons a reader can open from the panel. */
  readonly metric?: string
  readonly better?: 'higher' | 'lower'
  /** The values at which colours begin, from good to bad or the other way round, depending on `better`. */
  readonly limits?: readonly number[]
  /** Why the panel may be empty, and what to do. */
  readonly remedy: string
}

export interface Column {
  readonly title: string
  readonly kind: ColumnKind
  /** The column with the address for the text in this one. That column is not shown. */
  readonly link?: string
}
export type ColumnKind = Unit | 'text' | 'moment' | 'day' | 'bytes' | 'address'

export const panelsOf = ({ sections }: Dashboard): Panel[] => sections.flatMap(({ panels }) => panels)
