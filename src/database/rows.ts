/** Rows on their way into one table: there already, or made while they are sent. */
import { type Cell, type Fitter, missingCell } from './fit.ts'
import type { Column, Columns, NewRow, Table } from './table.ts'

/** Rows in the order of their keys, no two with the same. They are read again when they have to be sent again. */
export interface Rows {
  readonly table: Table<any>
  /** Columns in which rows may differ. */
  readonly names: readonly string[]
  /** Cells of the other columns, in which all rows are alike. */
  readonly shared: readonly { readonly name: string; readonly cell: Cell }[]
  readonly length: number
  /** Cells in the order of `names`. */
  readonly at: (index: number) => readonly Cell[]
}

export const sentNames = ({ names, shared }: Rows): string[] => [...names, ...shared.map(({ name }) => name)]

/** Every row, with its cells in the order of `sentNames`. */
export function* sentCells({ shared, length, at }: Rows): Generator<readonly Cell[]> {
  const alike = shared.map(({ cell }) => cell)
  for (let index = 0; index < length; index++) yield [...at(index), ...alike]
}

/** Rows as `Table.row` makes them. A key that the database gives is left to it. */
export function wholeRows(table: Table<any>, list: readonly (readonly Cell[])[]): Rows {
  const isLeft = table.names.map(
    (name, place) => (table.columns[name] as Column).isGenerated === true && list[0]?.[place] === null,
  )
  const isGiven = (_: unknown, place: number) => !isLeft[place]
  const cellsAt = (index: number) => list[index] as readonly Cell[]
  return {
    table,
    names: table.names.filter(isGiven),
    shared: [],
    length: list.length,
    at: isLeft.includes(true) ? (index) => cellsAt(index).filter(isGiven) : cellsAt,
  }
}

type Names<C extends Columns> = readonly (keyof C & string)[]

/** What each of many items brings to a table, in the columns of `names`, and what they all bring to others. */
export interface Listed<C extends Columns = any, Item = any, Given extends Names<C> = any> {
  readonly table: Table<C>
  readonly names: Given
  readonly shared: Partial<NewRow<C>>
  readonly items: readonly Item[]
  readonly valuesOf: (item: Item) => { [Place in keyof Given]: NewRow<C>[Given[Place] & keyof NewRow<C>] }
}

/** Checks the types of a list, which the lists of several tables in one array would lose. */
export const listed = <C extends Columns, Item, const Given extends Names<C>>(list: Listed<C, Item, Given>): Listed =>
  list

/** Fits values as they are asked for, so that none of a long list are kept. */
export function listedRows({ table, names, shared, items, valuesOf }: Listed): Rows {
  const fitterOf = (name: string) => table.fitters[table.names.indexOf(name)] as Fitter
  const fitters: Fitter[] = names.map(fitterOf)
  const cellOf = (name: string) => (name in shared ? fitterOf(name)(shared[name]) : missingCell(table.columns[name]))
  return {
    table,
    names,
    shared: table.names.filter((name) => !names.includes(name)).map((name) => ({ name, cell: cellOf(name) })),
    length: items.length,
    at(index) {
      const values = valuesOf(items[index]) as unknown[]
      for (let place = 0; place < fitters.length; place++) values[place] = (fitters[place] as Fitter)(values[place])
      return values as Cell[]
    },
  }
}
