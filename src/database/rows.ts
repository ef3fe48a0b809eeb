/** Rows to be written to one table, either complete or gathered one by one. */

import type { AnyValue } from './column.ts'
import { type Cell, type Fitter, missingCell } from './fit.ts'
import type { AnyColumns, AnyRow, AnyTable, Column, Columns, NewRow, Table } from './table.ts'

/** The columns of rows to be written. */
export interface RowColumns {
  readonly table: AnyTable
  /** Columns whose values may differ between rows. */
  readonly names: readonly string[]
  /** The other columns, which have the same cell in all rows. */
  readonly shared: readonly { readonly name: string; readonly cell: Cell }[]
}

export interface CellRows extends RowColumns {
  readonly length: number
  /** Cells in the order of `names`. */
  readonly at: (index: number) => readonly Cell[]
}

/** Rows encoded for the database that gathered them. */
export interface EncodedRows extends RowColumns {
  readonly length: number
  readonly encoded: readonly Buffer[]
}

/** Rows in key order, with distinct keys. They may be sent more than once. */
export type Rows = CellRows | EncodedRows

export const columnNames = ({ names, shared }: RowColumns): string[] => [...names, ...shared.map(({ name }) => name)]

/** Every row, with its cells in the order of `columnNames`. */
export function* cellsOfRows({ shared, length, at }: CellRows): Generator<readonly Cell[]> {
  const alike = shared.map(({ cell }) => cell)
  for (let index = 0; index < length; index++) yield alike.length === 0 ? at(index) : [...at(index), ...alike]
}

/** Wraps rows made by `Table.row`. A key that the database generates is left out. */
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

/** Describes how items become rows: values per item in the columns of `names`, and values shared by all in other columns. */
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

/** Collects rows that are made one by one, in key order, and sent together. */
export interface Gathering<Item> {
  add(item: Item): void
  /** Returns the rows added since the last call. */
  take(): Rows
  /** Tells that these rows will not be sent again, so that their memory may be reused. */
  release(rows: Rows): void
}

/** The columns of a shape, and a function that turns an item into cells. */
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

/** Gathers cells, for a database whose rows are best encoded when they are sent. */
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
