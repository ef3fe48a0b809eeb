/** Rows on their way into one table: there already, or gathered one by one. */

import type { AnyValue } from './column.ts'
import { type Cell, type Fitter, missingCell } from './fit.ts'
import type { AnyColumns, AnyRow, AnyTable, Column, Columns, NewRow, Table } from './table.ts'

/** Of rows on their way into a table. */
export interface RowColumns {
  readonly table: AnyTable
  /** Columns in which rows may differ. */
  readonly names: readonly string[]
  /** Cells of the other columns, in which all rows are alike. */
  readonly shared: readonly { readonly name: string; readonly cell: Cell }[]
}

export interface CellRows extends RowColumns {
  readonly length: number
  /** Cells in the order of `names`. */
  readonly at: (index: number) => readonly Cell[]
}

/** In the form in which the engine that gathered them takes them. */
export interface EncodedRows extends RowColumns {
  readonly length: number
  readonly encoded: readonly Buffer[]
}

/** Rows in the order of their keys, no two with the same. They may be sent more than once. */
export type Rows = CellRows | EncodedRows

export const columnNames = ({ names, shared }: RowColumns): string[] => [...names, ...shared.map(({ name }) => name)]

/** Every row, with its cells in the order of `columnNames`. */
export function* cellsOfRows({ shared, length, at }: CellRows): Generator<readonly Cell[]> {
  const alike = shared.map(({ cell }) => cell)
  for (let index = 0; index < length; index++) yield alike.length === 0 ? at(index) : [...at(index), ...alike]
}

/** Rows as `Table.row` makes them. A key that the database gives is left to it. */
export function wholeRows(table: AnyTable, list: readonly (readonly Cell[])[]): CellRows {
  const isLeft = table.names.map(
    (name, position) => (table.columns[name] as Column).isGenerated === true && list[0]?.[position] === null,
  )
  const isStored = (_: unknown, position: number) => !isLeft[position]
  const cellsAt = (index: number) => list[index] as readonly Cell[]
  return {
    table,
    names: table.names.filter(isStored),
    shared: [],
    length: list.length,
    at: isLeft.includes(true) ? (index) => cellsAt(index).filter(isStored) : cellsAt,
  }
}

type Names<C extends Columns> = readonly (keyof C & string)[]

/** What an item brings to a table, in the columns of `names`, and what all of them bring to others. */
export interface RowShape<C extends Columns = AnyColumns, Item = AnyValue, Given extends Names<C> = AnyValue> {
  readonly table: Table<C>
  readonly names: Given
  readonly shared: Partial<NewRow<C>>
  readonly valuesOf: (item: Item) => { [Place in keyof Given]: NewRow<C>[Given[Place] & keyof NewRow<C>] }
}

/** Checks the types of a shape. */
export const rowShape = <C extends Columns, Item, const Given extends Names<C>>(
  shape: RowShape<C, Item, Given>,
): RowShape<C, Item, Given> => shape

/** Rows that are made one by one, in the order of their keys, and sent together. */
export interface Gathering<Item> {
  add(item: Item): void
  /** What was added since the last time. */
  take(): Rows
  /** Rows that were taken and are not sent again: their memory may be used for others. */
  release(rows: Rows): void
}

/** The columns of a shape, and how an item becomes cells. */
export function layoutOf<Item>({ table, names, shared, valuesOf }: RowShape<AnyColumns, Item>) {
  const fitterOf = (name: string) => table.fitters[table.names.indexOf(name)] as Fitter
  const fitters: Fitter[] = names.map(fitterOf)
  const cellOf = (name: string) =>
    name in shared ? fitterOf(name)((shared as AnyRow)[name]) : missingCell(table.columns[name])
  const alike = table.names.filter((name) => !names.includes(name)).map((name) => ({ name, cell: cellOf(name) }))
  return {
    columns: { table, names, shared: alike } satisfies RowColumns,
    cellsOf(item: Item): readonly Cell[] {
      const values = valuesOf(item) as unknown[]
      for (let position = 0; position < fitters.length; position++)
        values[position] = (fitters[position] as Fitter)(values[position])
      return values as Cell[]
    },
  }
}

/** Gathers cells, for an engine whose rows are best written when they are sent. */
export function gatherCells<Item>(shape: RowShape<AnyColumns, Item>): Gathering<Item> {
  const { columns, cellsOf } = layoutOf(shape)
  let list: (readonly Cell[])[] = []
  return {
    add: (item) => void list.push(cellsOf(item)),
    take() {
      const taken = list
      list = []
      return { ...columns, length: taken.length, at: (index) => taken[index] as readonly Cell[] }
    },
    release() {},
  }
}
