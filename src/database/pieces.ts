/**
 * Splits lists of values for statements. PostgreSQL accepts at most 65,535 parameters per statement, and MySQL a packet of
 * limited size. So every list that can be long is split into pieces, and `among` accepts nothing else.
 */
import { type RawBuilder, sql } from 'kysely'

/** Values per piece. Far below the limit, because a statement may contain several lists. */
export const MOST_VALUES = 5000

declare const cut: unique symbol
/** A list that is short enough for a statement. */
export type Piece<Value> = readonly Value[] & { readonly [cut]: true }

/** `width` is the number of parameters per value. */
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

/** For a list that is known to be short, such as a page. Throws when it is too long. */
export function onePiece<Value>(values: Iterable<Value>): Piece<Value> {
  const [piece = [] as unknown as Piece<Value>, more] = inPieces(values)
  if (more) throw new Error(`a list of more than ${MOST_VALUES} values in one statement`)
  return piece
}

/** The condition that a column, or a row of columns, equals one of the values. `from` converts a value to what is compared. */
export const among = <Value>(
  reference: RawBuilder<unknown>,
  piece: Piece<Value>,
  from: (value: Value) => unknown = (value) => value,
): RawBuilder<boolean> => (piece.length === 0 ? sql`1 = 0` : sql`${reference} in (${sql.join(piece.map(from))})`)

/** Reads rows for any number of keys, with one statement per piece. */
export async function readByKeys<Key, Row>(
  keys: Iterable<Key>,
  read: (piece: Piece<Key>) => Promise<readonly Row[]>,
): Promise<Row[]> {
  const all: Row[] = []
  for (const piece of inPieces(new Set(keys))) for (const row of await read(piece)) all.push(row)
  return all
}
