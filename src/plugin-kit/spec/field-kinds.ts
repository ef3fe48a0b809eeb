/** Everything that the server knows about a kind of field: how it is stored, which values requests may have, and how answers show it. */
import { z } from 'zod'
import { wholeOf } from '../../basics/decimal.ts'
import { checkPattern } from '../../basics/user-patterns.ts'
import { type AnyColumn, bigint, boolean, json, sealed, string, text, timestamp, whole } from '../../database/table.ts'
import { UserError } from '../../errors.ts'
import { hasAddressSecret } from '../../secrets/address-secrets.ts'
import { anyText, bounded, LONGEST } from './request-values.ts'

export type FieldKind =
  | 'string'
  | 'secret'
  | 'url'
  | 'integer'
  | 'boolean'
  | 'regex'
  | 'choice'
  | 'strings'
  | 'json'
  | 'time'

/** The properties of a field that its kind uses. */
interface KindOptions {
  readonly size?: number
  readonly choices?: readonly string[]
  readonly schema?: z.ZodType
}

interface KindSpec {
  readonly column: (field: KindOptions) => AnyColumn
  /** Forms in which a value may be sent; `convert` reports everything else that is wrong with it. */
  readonly body: (field: KindOptions) => z.ZodType
  readonly answer: z.ZodType
  /** Returns the value to store; throws a UserError if it is not a valid value. */
  readonly convert: (name: string, value: unknown, field: KindOptions) => unknown
  /** Value of a field that is not set. */
  readonly empty: unknown
}

/** Longest value for a column of unlimited text. */
const LONGEST_FIELD = 1_000_000
const URL_SCHEMES = /^(https?|socks5h?):$/

const wrong = (name: string, expected: string) => new UserError(`${name} must be ${expected}.`)

function toText(name: string, value: unknown): string {
  if (typeof value === 'string') return value
  if (typeof value === 'number' || typeof value === 'boolean') return String(value)
  throw wrong(name, 'text')
}

const plainText: KindSpec = {
  column: ({ size }) => (size === undefined ? whole(text()) : string(size)),
  body: ({ size = LONGEST_FIELD }) => anyText(size),
  answer: z.string(),
  convert: toText,
  empty: '',
}

export const FIELD_KINDS: Readonly<Record<FieldKind, KindSpec>> = {
  string: plainText,
  secret: { ...plainText, column: () => sealed(text()) },
  url: {
    ...plainText,
    // An address with a password in it is encrypted.
    column: () => sealed(text()),
    body: ({ size = LONGEST_FIELD }) => bounded(size),
    convert(name, value) {
      const address = toText(name, value).trim()
      if (address !== '' && !(URL.canParse(address) && URL_SCHEMES.test(new URL(address).protocol))) {
        throw wrong(name, 'an address that begins with http:// or https://')
      }
      // The endpoint is shown in many places, and the source has fields of its own for credentials.
      if (name === 'endpoint' && hasAddressSecret(address)) {
        throw wrong(name, 'an address without user, password or token')
      }
      return address
    },
  },
  integer: {
    column: () => bigint(),
    body: () => z.union([z.number(), z.string()]),
    answer: z.int(),
    convert(name, value) {
      if (value === '') return 0
      const number = wholeOf(typeof value === 'string' ? value.trim() : value)
      if (number === undefined) throw wrong(name, 'a whole number')
      return number
    },
    empty: 0,
  },
  boolean: {
    column: () => boolean(),
    body: () => z.union([z.boolean(), z.string(), z.number()]),
    answer: z.boolean(),
    convert(name, value) {
      if (typeof value === 'boolean') return value
      if (value === 'true' || value === 1 || value === '1') return true
      if (value === 'false' || value === 0 || value === '0' || value === '') return false
      throw wrong(name, 'true or false')
    },
    empty: false,
  },
  regex: {
    ...plainText,
    convert(name, value) {
      const pattern = toText(name, value)
      if (pattern !== '') checkPattern(pattern, name)
      return pattern
    },
  },
  choice: {
    ...plainText,
    body: ({ choices = [] }) => z.enum(['', ...choices]),
    convert(name, value, { choices = [] }) {
      const choice = toText(name, value)
      if (choice !== '' && !choices.includes(choice)) throw wrong(name, `one of ${choices.join(', ')}`)
      return choice
    },
  },
  strings: {
    column: () => json(),
    body: () => z.union([z.array(anyText(LONGEST)), anyText(LONGEST)]),
    answer: z.array(z.string()).nullable(),
    convert: (name, value) => (Array.isArray(value) ? value : [value]).map((each) => toText(name, each)),
    empty: [],
  },
  json: {
    column: () => json(),
    body: ({ schema = z.any() }) => schema,
    answer: z.any(),
    convert(name, value, { schema }) {
      const result = schema?.safeParse(value)
      const [issue] = result?.error?.issues ?? []
      if (issue)
        throw new UserError(`${[name, ...issue.path].map(String).join('.')}: ${issue.message}.`.replace(/\.\.$/, '.'))
      return result?.data
    },
    empty: null,
  },
  time: {
    column: () => timestamp(),
    body: () => z.string(),
    answer: z.date().nullable(),
    convert(name, value) {
      const moment = new Date(toText(name, value))
      if (Number.isNaN(moment.getTime())) throw wrong(name, 'a time such as 2026-01-31T12:00:00Z')
      return moment
    },
    empty: null,
  },
}
