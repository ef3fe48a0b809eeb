/**
 * Lists of values in statements. One engine takes at most 65,535 parameters a statement, and the other a packet of so
 * many bytes: whatever can be long goes in pieces, and `among` takes nothing else.
 */
import { type RawBuilder, sql } from 'kysely'

/** A statement may hold several lists. */
export const MOST_VALUES = 5000

declare const cut: unique symbol
/** A list that is short enough for a statement. */
export type Piece<Value> = readonly Value[] & { readonly [cut]: true }

/** `width`: how many parameters a value takes. */
export function* inPieces<Value>(values: Iterable<Value>, width = 1): Generator<Piece<Value>> {
  const most = Math.max(1, Math.floor(MOST_VALUES / width))
  let piece: Value[] = []
  for (const value of values) {
    piece.push(value)
    if (piece.length < most) continue
    yield piece as unknown as Piece<Value>
    piece = []
  }
  if (piece.length > 0) yield piece as unknown as Piece<Value>
}

/** A list that was cut before, such as a page: an error tells of one that was not. */
export function onePiece<Value>(values: Iterable<Value>): Piece<Value> {
  const [piece = [] as unknown as Piece<Value>, more] = inPieces(values)
  if (more) throw new Error(`a list of more than ${MOST_VALUES} values in one statement`)
  return piece
}

/** The condition that a column, or a row of columns, has one of the values, or what `from` makes of them. */
export const among = <Value>(
  reference: RawBuilder<unknown>,
  piece: Piece<Value>,
  from: (value: Value) => unknown = (value) => value,
): RawBuilder<unknown> => (piece.length === 0 ? sql`1 = 0` : sql`${reference} in (${sql.join(piece.map(from))})`)

/** Rows by key, however many keys there are: a statement a piece. */
export async function readByKeys<Key, Row>(
  keys: Iterable<Key>,
  read: (piece: Piece<Key>) => Promise<readonly Row[]>,
): Promise<Row[]> {
  const all: Row[] = []
  for (const piece of inPieces(new Set(keys))) for (const row of await read(piece)) all.push(row)
  return all
}
