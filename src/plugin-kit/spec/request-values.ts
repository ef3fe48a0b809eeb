/**
 * Values in the forms that clients of DevLake may send: names in any letter case, numbers and flags as text, one value for a
 * list. Each kind accepts these forms and returns the strict value; its JSON schema shows both.
 */
import { z } from 'zod'
import { decimalOf, wholeOf } from '../../basics/decimal.ts'
import { checkPathPattern } from '../../basics/user-patterns.ts'
import { parseEnd, parseTime } from '../../database/time.ts'
import { messageOf } from '../../errors.ts'

export const LONGEST = 100_000
/** Engines count characters as JSON Schema does, not UTF-16 units as zod. */
export const bounded = (most: number) =>
  z
    .string()
    .refine((value) => value.length <= most || [...value].length <= most, `must be at most ${most} characters`)
    .meta({ maxLength: most })
/** Text that may be sent as a number or a flag. */
export const anyText = (most: number) => z.union([bounded(most), z.number(), z.boolean()])
const textUpTo = (most: number) => anyText(most).transform(String)
/** Text up to the length of most columns. */
export const text = textUpTo(255)
export const longText = textUpTo(LONGEST)
export const whole = z
  .union([z.int(), z.string().regex(/^\s*-?\d{1,15}\s*$/, 'must be a whole number')])
  .transform(Number)
export const flag = z
  .union([z.boolean(), z.enum(['true', 'false', '1', '0', '']), z.literal([0, 1])])
  .transform((value) => value === true || value === 'true' || value === '1' || value === 1)
const listOf = (each: ReturnType<typeof textUpTo>) =>
  z.union([z.array(each), each]).transform((value) => (Array.isArray(value) ? value : [value]))
/** Labels are parts of keys. */
export const labels = listOf(textUpTo(191))
export const longWords = listOf(longText)
const timeReadBy = (read: (text: string) => Date | undefined) =>
  z
    .string()
    .meta({ format: 'date-time' })
    .transform((value, context) => {
      const time = read(value)
      if (time) return time
      context.addIssue({ code: 'custom', message: 'must be a time such as 2026-01-31T12:00:00Z' })
      return z.NEVER
    })
export const moment = timeReadBy(parseTime)
export const endOfRange = timeReadBy(parseEnd)
const checkedBy = (check: (value: string) => void) =>
  longText.transform((value, context) => {
    try {
      check(value)
    } catch (error) {
      context.addIssue({ code: 'custom', message: messageOf(error) })
    }
    return value
  })
/** A pattern in RE2 syntax for paths of this server. */
export const pathPattern = checkedBy(checkPathPattern)

type Nullable<Schema extends z.ZodType> = z.ZodOptional<z.ZodNullable<Schema>>
const nullish = <Schema extends z.ZodType>(schema: Schema): Nullable<Schema> => z.optional(z.nullable(schema))

/** In a new object, null means the same as an absent field. */
export const nullAsAbsent = <Schema extends z.ZodType>(schema: Schema) =>
  nullish(schema).transform((value) => value ?? undefined)
/** In a change, null resets a field. */
export const change = <Schema extends z.ZodType, Empty>(schema: Schema, empty: Empty) =>
  nullish(schema).transform((value) => (value === null ? empty : value))

/** The values without the fields that were not sent. */
type Present<Values> = { [Name in keyof Values]?: Exclude<Values[Name], undefined> }
export const present = <Values extends object>(values: Values): Present<Values> =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as Present<Values>

/** The object with its keys spelt as `names` spell them. */
export function respell(names: readonly string[], sent: unknown): unknown {
  if (sent === null || typeof sent !== 'object' || Array.isArray(sent)) return sent
  const byLowerCase = new Map(names.map((name) => [name.toLowerCase(), name]))
  return Object.fromEntries(
    Object.entries(sent).map(([key, value]) => [byLowerCase.get(key.toLowerCase()) ?? key, value]),
  )
}

/** A JSON object with these fields. Those in `ignored` may be sent, because clients send whole records back; others are refused. */
export function body<Shape extends z.ZodRawShape>(shape: Shape, ignored: readonly string[] = []) {
  const names = [...Object.keys(shape), ...ignored]
  return z.preprocess((sent) => {
    const spelt = respell(names, sent ?? {})
    if (spelt === null || typeof spelt !== 'object' || Array.isArray(spelt)) return spelt
    return Object.fromEntries(Object.entries(spelt).filter(([name]) => !ignored.includes(name)))
  }, z.strictObject(shape))
}

/** Reads digits in an address or a query as a number. Anything else stays as it is, and is then refused. */
export const asWhole = (value: unknown) => wholeOf(value) ?? value
export const wholeNumber = (least: number, most: number) => z.preprocess(asWhole, z.int().min(least).max(most))
const asId = (value: unknown) => decimalOf(value) ?? value
export const id = z.preprocess(asId, z.int().min(0).max(Number.MAX_SAFE_INTEGER))
export const idParameter = z.object({ id })

/** `true`, `1`, `false`, `0`; nothing else has a meaning in a query. */
export const queryFlag = z
  .enum(['true', '1', 'false', '0', ''])
  .optional()
  .transform((value) => (value === undefined || value === '' ? undefined : value === 'true' || value === '1'))

/** A file in the form of an upload. */
export const uploadedFile = z
  .custom<Buffer>((value) => Buffer.isBuffer(value), 'must be a file')
  .meta({ type: 'string', format: 'binary' })

/** An example of a body. Zod leaves `examples` out if it transforms the value. */
export const example = (value: unknown) => ({ 'x-examples': { example: { value } } })
