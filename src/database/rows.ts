/** Rows on their way into one table: there already, or made while they are sent. */
import { type Cell, type Fitter, missingCell } from './fit.ts'
import type { Column, Columns, NewRow, Table } from './table.ts'

/** Rows in the order of their keys, no two with the same. They are read again when they have to be sent again. */
export interface Rows {
  readonly table: Table<any>
  /** Columns in which rows may differ, and which of a row's cells each of them has. */
  readonly names: readonly string[]
  readonly places: readonly number[]
  /** Cells of the other columns, in which all rows are alike. */
  readonly shared: readonly { readonly name: string; readonly cell: Cell }[]
  readonly length: number
  readonly at: (index: number) => readonly Cell[]
}

export const sentNames = ({ names, shared }: Rows): string[] => [...names, ...shared.map(({ name }) => name)]

/** Rows as `Table.row` makes them. A key that the database gives is left to it. */
export function wholeRows(table: Table<any>, list: readonly (readonly Cell[])[]): Rows {
  const isGiven = (name: string, place: number) =>
    !((table.columns[name] as Column).isGenerated === true && list[0]?.[place] === null)
  const places = [...table.names.keys()].filter((place) => isGiven(table.names[place] as string, place))
  return {
    table,
    names: places.map((place) => table.names[place] as string),
    places,
    shared: [],
    length: list.length,
    at: (index) => list[index] as readonly Cell[],
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
    places: [...names.keys()],
    shared: table.names.filter((name) => !names.includes(name)).map((name) => ({ name, cell: cellOf(name) })),
    length: items.length,
    at(index) {
      const values = valuesOf(items[index]) as unknown[]
      for (let place = 0; place < fitters.length; place++) values[place] = (fitters[place] as Fitter)(values[place])
      return values as Cell[]
    },
  }
}
