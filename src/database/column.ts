/** A column: its SQL kind, and what is stored when the source has no value (`missing`). */

export type Kind =
  | 'string'
  | 'text'
  | 'integer'
  | 'bigint'
  | 'double'
  | 'boolean'
  | 'timestamp'
  | 'date'
  | 'json'
  | 'bytes'

/** The value to store when the source has none; `empty` is '', 0 or false, `now` the time of writing. */
export type Missing = 'null' | 'empty' | 'zero-time' | 'now'

/** A record as the source sent it, or a part of one. */
// biome-ignore lint/suspicious/noExplicitAny: vendors decide what stands in it; columns check each value when they store it
export type RawRecord = any
/** The context in which a record is read. Plugins define its type. */
// biome-ignore lint/suspicious/noExplicitAny: this folder knows nothing of plugins
export type AnyContext = any
// biome-ignore lint/suspicious/noExplicitAny: a type that any value fits, for columns of whatever type
export type AnyValue = any

/** Tells where a tool column finds its value in a raw record: a path such as `user.login`, or a function. */
export type Source<Context = AnyContext> = string | ((record: RawRecord, context: Context) => unknown)

export interface Column<Value = unknown, Context = AnyContext> {
  readonly kind: Kind
  /** Longest text in characters; `string` only. */
  readonly size?: number
  readonly missing: Missing
  readonly isKey?: boolean
  /** A row without a value is refused, instead of being filled with `missing`. */
  readonly isRequired?: boolean
  /** Numbered by the database. */
  readonly isGenerated?: boolean
  /** A value that is too long is refused instead of cut: half of it would be worthless, or mean something else. */
  readonly isWhole?: true
  /** May hold ciphertext, which a key rotation must find and encrypt again. */
  readonly isSealed?: true
  /** Long, and similar to the values of neighbouring rows. Stored compressed where the database does not do so by itself. */
  readonly isCompressed?: true
  /** Set only by updates of calculations. When the row is written again, the column keeps its value. */
  readonly isCalculated?: true
  /** True, or the name of an index shared by several columns. */
  readonly index?: true | string
  /** Rows with the same value are mostly written together. So a range index (BRIN) finds them, and costs almost nothing to maintain. */
  readonly isGathered?: true
  readonly unique?: true | string
  /** Users choose the value. If it exists already, the user must choose another one. */
  readonly isName?: true
  readonly source?: Source<Context>
  /** Never set. It only carries the type of the value. */
  readonly value?: Value
}
export type AnyColumn = Column<AnyValue>
export type Columns<Context = AnyContext> = Readonly<Record<string, Column<AnyValue, Context>>>
export type ValueOf<C> = C extends Column<infer Value, infer _Context> ? Value : never
export type Row<C extends Columns> = { -readonly [Name in keyof C]: ValueOf<C[Name]> }

type NeededNames<C extends Columns> = {
  [Name in keyof C]: C[Name] extends { isGenerated: true }
    ? never
    : C[Name] extends { isKey: true } | { isRequired: true }
      ? Name
      : never
}[keyof C]
/** The values that `row()` takes: keys and required columns must be given, the rest is filled with its `missing` value. */
export type NewRow<C extends Columns> = { [Name in NeededNames<C>]: ValueOf<C[Name]> } & {
  [Name in Exclude<keyof C, NeededNames<C>>]?: ValueOf<C[Name]> | null | undefined
}

const column = <Value, Context = AnyContext>(
  kind: Kind,
  missing: Missing,
  source?: Source<Context>,
  size?: number,
): Column<Value, Context> => ({
  kind,
  missing,
  ...(size === undefined ? {} : { size }),
  ...(source === undefined ? {} : { source }),
})

type Sized<Context> = Source<Context> | number
/** Text of at most `size` characters (255 by default). Longer text is cut, but refused in a key. */
export const string = <Context = AnyContext>(
  ...arguments_: [size?: Sized<Context>, source?: Source<Context>]
): Column<string, Context> => {
  const size = arguments_.find((argument) => typeof argument === 'number') ?? 255
  const source = arguments_.find((argument) => typeof argument !== 'number')
  return column('string', 'empty', source as Source<Context> | undefined, size as number)
}
export const text = <Context = AnyContext>(source?: Source<Context>) => column<string, Context>('text', 'empty', source)
export const integer = <Context = AnyContext>(source?: Source<Context>) =>
  column<number, Context>('integer', 'empty', source)
/** A value beyond 2^53 is read as the text of its digits. */
export const bigint = <Context = AnyContext>(source?: Source<Context>) =>
  column<number, Context>('bigint', 'empty', source)
export const double = <Context = AnyContext>(source?: Source<Context>) =>
  column<number, Context>('double', 'empty', source)
export const boolean = <Context = AnyContext>(source?: Source<Context>) =>
  column<boolean, Context>('boolean', 'empty', source)
/** A time in UTC with milliseconds; null when missing. */
export const timestamp = <Context = AnyContext>(source?: Source<Context>) =>
  column<Date | null, Context>('timestamp', 'null', source)
export const date = <Context = AnyContext>(source?: Source<Context>) =>
  column<Date | null, Context>('date', 'null', source)
export const json = <Context = AnyContext>(source?: Source<Context>) =>
  column<AnyValue, Context>('json', 'null', source)
export const bytes = () => column<Buffer>('bytes', 'null')

type With<C, Extra> = C & Extra
export const key = <C extends AnyColumn>(base: C): With<C, { isKey: true }> => ({ ...base, isKey: true })
/** Not part of the key, but refused when missing. */
export const required = <C extends AnyColumn>(base: C): With<C, { isRequired: true }> => ({
  ...base,
  isRequired: true,
})
/** Null when missing, instead of '' or 0. */
export const optional = <Value, Context>(base: Column<Value, Context>): Column<Value | null, Context> => ({
  ...base,
  missing: 'null',
})
/** A time that DevLake never leaves null; year 1 when missing. */
export const zeroTime = <Context>(base: Column<Date | null, Context>): Column<Date, Context> =>
  ({ ...base, missing: 'zero-time' }) as Column<Date, Context>
export const now = (): Column<Date> => column('timestamp', 'now')
export const indexed = <C extends AnyColumn>(base: C, name?: string): C => ({ ...base, index: name ?? true })
export const gathered = <C extends AnyColumn>(base: C): C => ({ ...base, index: true, isGathered: true })
export const calculated = <C extends AnyColumn>(base: C): C => ({ ...base, isCalculated: true })
/** For settings and documents, which programs read and which must not be cut. */
export const whole = <C extends AnyColumn>(base: C): C => ({ ...base, isWhole: true })
export const sealed = <C extends AnyColumn>(base: C): C => ({ ...base, isWhole: true, isSealed: true })
export const compressed = <C extends AnyColumn>(base: C): C => ({ ...base, isCompressed: true })
export const unique = <C extends AnyColumn>(base: C, name?: string): C => ({ ...base, unique: name ?? true })
/** The name that a user gives to a row. */
export const named = <C extends AnyColumn>(base: C): C => ({ ...base, isName: true })
export const generated = <C extends AnyColumn>(base: C): With<C, { isGenerated: true }> => ({
  ...base,
  isGenerated: true,
})

/** The times at which the row was written. Times from the business data are called `*_date`. */
export const written = { created_at: now(), updated_at: now() }
export const origin = {
  _raw_data_params: indexed(string(255)),
  _raw_data_table: string(255),
  _raw_data_id: bigint(),
  _raw_data_remark: text(),
}
export const common = { ...written, ...origin }
/** The common columns of tables into which a whole history is written at once. */
export const commonInBulk = { ...common, _raw_data_params: gathered(string(255)) }
