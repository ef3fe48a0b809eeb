/** Values that users send for a plugin's described fields: matched, converted, checked, encrypted, masked. */
import { hasAddressSecret, serverOf } from '../address-secrets.ts'
import { wholeOf } from '../decimal.ts'
import { UserError } from '../errors.ts'
import { compilePattern } from '../plugin-kit/patterns.ts'
import type { Field, Fields } from '../plugin-kit/plugin.ts'
import { missingField } from '../plugin-kit/required-fields.ts'
import { columnName } from '../plugin-kit/settings-tables.ts'
import { fingerprint, hasMask, isMask, maskSecret, maskUrl, type Secrets, unmaskSecret } from '../secrets.ts'
import type { Settings } from './records.ts'
import { createReader } from './sealed.ts'

type Values = Record<string, any>

/** Keys match whatever their letter case, as clients of the reference expect; what is not described is left out. */
export function pickNames(names: readonly string[], sent: Settings): Values {
  const byLowerCase = new Map(names.map((name) => [name.toLowerCase(), name]))
  const picked: Values = {}
  for (const [key, value] of Object.entries(sent)) {
    const name = byLowerCase.get(key.toLowerCase())
    if (name !== undefined && value !== undefined) picked[name] = value
  }
  return picked
}

const wrong = (name: string, expected: string) => new UserError(`${name} must be ${expected}.`)

function toText(name: string, value: unknown): string {
  if (typeof value === 'string') return value
  if (typeof value === 'number' || typeof value === 'boolean') return String(value)
  throw wrong(name, 'text')
}

const URL_SCHEMES = /^(https?|socks5h?):$/
const CONVERT: Record<Field['kind'], (name: string, value: unknown, field: Field) => unknown> = {
  string: toText,
  secret: toText,
  url(name, value) {
    const text = toText(name, value).trim()
    if (text !== '' && !(URL.canParse(text) && URL_SCHEMES.test(new URL(text).protocol))) {
      throw wrong(name, 'an address that begins with http:// or https://')
    }
    // It is shown in many places, and the source's own fields are there for it.
    if (name === 'endpoint' && hasAddressSecret(text)) throw wrong(name, 'an address without user, password or token')
    return text
  },
  integer(name, value) {
    if (value === '') return 0
    const number = wholeOf(typeof value === 'string' ? value.trim() : value)
    if (number === undefined) throw wrong(name, 'a whole number')
    return number
  },
  boolean(name, value) {
    if (typeof value === 'boolean') return value
    if (value === 'true' || value === 1 || value === '1') return true
    if (value === 'false' || value === 0 || value === '0' || value === '') return false
    throw wrong(name, 'true or false')
  },
  regex(name, value) {
    const pattern = toText(name, value)
    if (pattern !== '') compilePattern(pattern, name)
    return pattern
  },
  choice(name, value, { choices = [] }) {
    const text = toText(name, value)
    if (text !== '' && !choices.includes(text)) throw wrong(name, `one of ${choices.join(', ')}`)
    return text
  },
  strings: (name, value) => (Array.isArray(value) ? value : [value]).map((each) => toText(name, each)),
  json(name, value, field) {
    const result = field.kind === 'json' ? field.schema.safeParse(value) : undefined
    const [issue] = result?.error?.issues ?? []
    if (issue)
      throw new UserError(`${[name, ...issue.path].map(String).join('.')}: ${issue.message}.`.replace(/\.\.$/, '.'))
    return result?.data
  },
  time(name, value) {
    const moment = new Date(toText(name, value))
    if (Number.isNaN(moment.getTime())) throw wrong(name, 'a time such as 2026-01-31T12:00:00Z')
    return moment
  },
}

const EMPTY: Record<Field['kind'], unknown> = {
  string: '',
  secret: '',
  url: '',
  integer: 0,
  boolean: false,
  regex: '',
  choice: '',
  strings: [],
  json: null,
  time: null,
}
/** What a field has when nothing is given. */
export const emptyOf = ({ kind, default: given }: Field) => given ?? EMPTY[kind]

function convert(name: string, field: Field, value: unknown): unknown {
  const converted = CONVERT[field.kind](name, value, field)
  if (field.size !== undefined && typeof converted === 'string' && [...converted].length > field.size) {
    throw wrong(name, `at most ${field.size} characters`)
  }
  return converted
}

/**
 * The complete, checked values after a change. Without `stored` they are those of something new: absent and null mean the
 * default. With it, absent keeps what is stored, null resets, and a masked secret stands for the stored one; but secrets
 * of one way of signing in are not taken over into another, and those for one server not to another.
 */
export function checkSettings(fields: Fields, sent: Settings, stored?: Settings): Values {
  const picked = pickNames(Object.keys(fields), sent)
  const isOtherLogin = stored !== undefined && (picked.authMethod ?? stored.authMethod) !== stored.authMethod
  const moved = stored && movedServer(fields, picked, stored)
  const values: Values = {}
  const given: Values = {}
  for (const [name, field] of Object.entries(fields)) {
    const value = field.isManaged ? undefined : picked[name]
    const isLost = (isOtherLogin || moved !== undefined) && field.kind === 'secret'
    const before = isLost ? '' : stored?.[name]
    if (value === undefined || (value === null && !stored)) values[name] = stored ? before : emptyOf(field)
    else if (value === null) values[name] = emptyOf(field)
    else if (isLost && isMaskOf(field, value, stored?.[name])) values[name] = ''
    else values[name] = keepStored(name, field, convert(name, field, value), before, stored)
    const isOfLogin = field.authMethod === undefined || field.authMethod === (picked.authMethod ?? stored?.authMethod)
    if (moved && isLost && isOfLogin && !isOtherLogin && !field.isManaged && value !== null) {
      if (stored?.[name] && values[name] === '') throw enterAgain(name, moved)
    }
    const isNeeded = !field.isOptional && !field.isManaged && !field.authMethod
    if (isNeeded && (values[name] ?? '') === '') throw missingField(name, field)
    if (field.isRotated && values[name] !== stored?.[name]) Object.assign(given, tokensBefore(values[name]))
  }
  return { ...values, ...given }
}

interface Move {
  readonly field: string
  readonly to: string
}

/** The field that leads requests elsewhere than before. Without a proxy they go straight to the server that they were for. */
function movedServer(fields: Fields, picked: Values, stored: Settings): Move | undefined {
  for (const [field, { kind, default: standard, isManaged }] of Object.entries(fields)) {
    const value = picked[field]
    if (kind !== 'url' || isManaged || value === undefined || (field === 'proxy' && !value)) continue
    const to = serverOf(String(value || standard || '').trim())
    if (to !== serverOf(stored[field] || standard)) return { field, to: to ?? 'another server' }
  }
  return undefined
}

const enterAgain = (name: string, { field, to }: Move) =>
  new UserError(
    `${name} is needed again: ${field} now leads to ${to}, and a stored secret is only sent to the server that it was entered for.`,
  )

/** Nothing has come of a refresh token that was given just now. */
const tokensBefore = (refreshToken: unknown) => ({
  token: '',
  tokenExpiresAt: null,
  tokenOrigin: refreshToken ? fingerprint(refreshToken) : '',
})

const isMaskOf = ({ kind }: Field, sent: unknown, stored: unknown): boolean =>
  kind === 'secret' && typeof stored === 'string' && sent === maskSecret(stored)

function keepStored(name: string, field: Field, sent: unknown, before: unknown, all?: Settings): unknown {
  const { kind, isRotated } = field
  if (typeof sent !== 'string' || (kind !== 'secret' && kind !== 'url')) return sent
  const stored = typeof before === 'string' ? before : ''
  // What a form or a file still has may have been replaced since.
  if (isRotated && stored && (sent === maskSecret(sent) || fingerprint(sent) === all?.tokenOrigin)) return stored
  if (kind === 'url' && sent === maskUrl(stored)) return stored
  const meant = kind === 'secret' ? unmaskSecret(sent, stored) : sent
  if (meant !== stored && (kind === 'secret' ? isMask(meant) : hasMask(meant))) {
    throw new UserError(`${name} is masked, and no secret is stored that the stars could stand for: enter it in full.`)
  }
  return meant
}

/** Column values; secrets and addresses with a password in them are encrypted. */
export const sealSettings = (fields: Fields, values: Settings, { encrypt }: Secrets): Values =>
  Object.fromEntries(
    Object.entries(fields).map(([name, { kind }]) => {
      const value = values[name]
      const isSecret = value && (kind === 'secret' || (kind === 'url' && hasAddressSecret(value)))
      return [columnName(name), isSecret ? encrypt(value) : value]
    }),
  )

/** What cannot be read is empty, and told of by `problem`. */
export function openSettings(fields: Fields, row: Settings, { decrypt }: Secrets): Values {
  const reader = createReader()
  const values = Object.entries(fields).map(([name, field]) => {
    const value = row[columnName(name)]
    const isText = typeof value === 'string' && field.kind !== 'json'
    return [name, isText ? reader.read(name, () => decrypt(value), '') : shaped(field, value)]
  })
  return { ...Object.fromEntries(values), ...reader.problem() }
}

/** Stored before it was checked: as good as nothing. */
function shaped(field: Field, value: unknown): unknown {
  if (field.kind === 'json') return field.schema.safeParse(value).success ? value : null
  return field.kind === 'strings' && value && !Array.isArray(value) ? [] : value
}

/** Whatever is used or saved has to be readable, or given anew: else it would silently become empty. */
export function requireReadable(fields: Fields, { problem }: Settings, sent: Settings = {}): void {
  const picked = pickNames(Object.keys(fields), sent)
  const isGiven = (name: string) =>
    picked[name] !== undefined && picked[name] !== null && !(fields[name]?.kind === 'secret' && picked[name] === '')
  if (problem?.fields.some((name: string) => !isGiven(name))) throw new UserError(problem.message)
}

export const maskSettings = (fields: Fields, values: Settings): Values =>
  Object.fromEntries(
    Object.entries(values).map(([name, value]) => {
      const kind = fields[name]?.kind
      if (typeof value !== 'string' || (kind !== 'secret' && kind !== 'url')) return [name, value]
      if (kind === 'url') return [name, maskUrl(value)]
      // Of a password not even the length is shown; nobody has to tell one from another.
      return [name, name === 'password' ? '' : maskSecret(value)]
    }),
  )
