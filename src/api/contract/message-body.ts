/** Schemas of the messages that push sources receive, made from the columns that store them. */
import { z } from 'zod'
import type { Column } from '../../database/table.ts'
import { parseTime } from '../../database/time.ts'
import { fieldName } from '../../plugin-kit/spec/fields.ts'
import type { Message, MessageFields } from '../../plugin-kit/spec/push-source.ts'
import { respell } from '../../plugin-kit/spec/request-values.ts'

const isEmpty = (value: unknown) => String(value).trim() === ''

/** Accepted forms of a value. They are checked but not converted: the message is stored as it came. */
const anyText = z.union([z.string(), z.number(), z.boolean()])
/** Without limits, since numbers that a double cannot hold are read as the text of their digits. */
const exactWhole = z.int().meta({ minimum: undefined, maximum: undefined })
const anyWhole = z.union([exactWhole, z.string().regex(/^\s*-?\d{1,18}\s*$/, 'must be a whole number')])
const anyNumber = z.union([z.number(), z.string().regex(/^\s*-?\d{1,15}(\.\d{1,15})?\s*$/, 'must be a number')])
const anyFlag = z.union([z.boolean(), z.enum(['true', 'false', '1', '0', '']), z.literal([0, 1])])
const anyTime = z
  .string()
  .meta({ anyOf: [{ format: 'date-time' }, { maxLength: 0 }] })
  .refine((value) => isEmpty(value) || parseTime(value), 'must be a time such as 2026-01-31T12:00:00Z')

const BODY_KINDS: Partial<Record<Column['kind'], z.ZodType>> = {
  bigint: anyWhole,
  integer: anyWhole,
  double: anyNumber,
  boolean: anyFlag,
  timestamp: anyTime,
}

/** Describes required text, which must not be empty. Required whole numbers may be anything but 0. */
const someText = {
  anyOf: [{ type: 'string', pattern: '\\S' }, { type: 'number' }, { type: 'boolean' }],
  type: undefined,
}
const NEEDED: Partial<Record<Column['kind'], Record<string, unknown>>> = { string: someText, text: someText }

function fieldBody(column: MessageFields[string]): z.ZodType {
  const { kind, words, isKey, isRequired, size = 255 } = column
  if (!isKey && !isRequired) return (words ? z.enum(['', ...words]) : (BODY_KINDS[kind] ?? anyText)).nullish()
  const form: z.ZodType = words ? z.enum(words) : (BODY_KINDS[kind] ?? anyText)
  const isThere = (value: unknown) => !isEmpty(value) && !(kind === 'bigint' && Number(value) === 0)
  const needed = z
    .nonoptional(form.optional())
    .refine(isThere, kind === 'bigint' ? 'must not be 0' : 'must not be empty')
  // A key that is too long is refused: cut, it could equal another key.
  const fits = (value: unknown) => !isKey || [...String(value)].length <= size
  return needed.refine(fits, `must be at most ${size} characters`).meta(words ? {} : (NEEDED[kind] ?? {}))
}

/** Names of fields match in any letter case, and null means absent. Unknown fields are kept with the message. */
function objectOf(shape: Record<string, z.ZodType>) {
  const names = Object.keys(shape)
  return z.preprocess((value) => withoutNull(respell(names, value ?? {})), z.looseObject(shape))
}

const withoutNull = (value: unknown) =>
  value === null || typeof value !== 'object' || Array.isArray(value)
    ? value
    : Object.fromEntries(Object.entries(value).filter(([, each]) => each !== null))

const shapeOf = (fields: MessageFields): Record<string, z.ZodType> =>
  Object.fromEntries(Object.entries(fields).map(([name, column]) => [fieldName(name), fieldBody(column)]))

export function messageBody({ fields, lists = {} }: Message) {
  const listed = Object.entries(lists).map(([name, each]) => [
    name,
    z.nonoptional(
      z
        .array(objectOf(shapeOf(each)))
        .min(1, 'must have at least one element')
        .optional(),
    ),
  ])
  return objectOf({ ...shapeOf(fields), ...Object.fromEntries(listed) })
}
