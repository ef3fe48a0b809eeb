/** Matches, converts, checks, encrypts and masks the values that users send for the described fields of a plugin. */

import { UserError } from '../errors.ts'
import { missingField } from '../plugin-kit/define/required-fields.ts'
import { FIELD_KINDS } from '../plugin-kit/spec/field-kinds.ts'
import type { Field, Fields, Settings } from '../plugin-kit/spec/fields.ts'
import { columnOf } from '../plugin-kit/spec/fields.ts'
import { hasAddressSecret, serverOf } from '../secrets/address-secrets.ts'
import { fingerprint, hasMask, isMask, maskSecret, maskUrl, type Secrets, unmaskSecret } from '../secrets/secrets.ts'
import { createReader } from './sealed.ts'

type Values = Record<string, Settings[string]>

/** Matches keys without regard to letter case, as clients of DevLake expect. Keys that are not in `names` are left out. */
export function pickNames(names: readonly string[], input: Settings): Values {
  const byLowerCase = new Map(names.map((name) => [name.toLowerCase(), name]))
  const picked: Values = {}
  for (const [key, value] of Object.entries(input)) {
    const name = byLowerCase.get(key.toLowerCase())
    if (name !== undefined && value !== undefined) picked[name] = value
  }
  return picked
}

const wrong = (name: string, expected: string) => new UserError(`${name} must be ${expected}.`)

/** The value of a field when none is given. */
export const emptyOf = ({ kind, default: standard }: Field) => standard ?? FIELD_KINDS[kind].empty

function convert(name: string, field: Field, value: unknown): unknown {
  const converted = FIELD_KINDS[field.kind].convert(name, value, field)
  if (field.size !== undefined && typeof converted === 'string' && [...converted].length > field.size) {
    throw wrong(name, `at most ${field.size} characters`)
  }
  return converted
}

/**
 * Returns the complete, checked values after a change. Without `stored` they are for a new record: absent and null mean the
 * default. With `stored`, absent keeps the stored value, null resets it, and a masked secret stands for the stored one. But
 * secrets of one login method are not kept for another, nor secrets for one server for another.
 */
export function checkSettings(fields: Fields, input: Settings, stored?: Settings): Values {
  const picked = pickNames(Object.keys(fields), input)
  const isOtherLogin = stored !== undefined && (picked.authMethod ?? stored.authMethod) !== stored.authMethod
  const moved = stored && movedServer(fields, picked, stored)
  const values: Values = {}
  const tokenChanges: Values = {}
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
    if (field.isRotated && values[name] !== stored?.[name]) Object.assign(tokenChanges, tokensBefore(values[name]))
  }
  return { ...values, ...tokenChanges }
}

interface Move {
  readonly field: string
  readonly to: string
}

/**
 * Finds the field that would send requests to another server than before. Removing the proxy does not count: requests then go
 * straight to the server that they were meant for.
 */
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

/** The token fields for a refresh token that was just entered: no access token has been obtained with it yet. */
const tokensBefore = (refreshToken: unknown) => ({
  token: '',
  tokenExpiresAt: null,
  tokenOrigin: refreshToken ? fingerprint(refreshToken) : '',
})

const isMaskOf = ({ kind }: Field, input: unknown, stored: unknown): boolean =>
  kind === 'secret' && typeof stored === 'string' && input === maskSecret(stored)

function keepStored(name: string, field: Field, input: unknown, before: unknown, all?: Settings): unknown {
  const { kind, isRotated } = field
  if (typeof input !== 'string' || (kind !== 'secret' && kind !== 'url')) return input
  const stored = typeof before === 'string' ? before : ''
  // A form or file may still contain a refresh token that has been replaced since.
  if (isRotated && stored && (input === maskSecret(input) || fingerprint(input) === all?.tokenOrigin)) return stored
  if (kind === 'url' && input === maskUrl(stored)) return stored
  const meant = kind === 'secret' ? unmaskSecret(input, stored) : input
  if (meant !== stored && (kind === 'secret' ? isMask(meant) : hasMask(meant))) {
    throw new UserError(`${name} is masked, but no secret is stored: enter it in full.`)
  }
  return meant
}

/** Column values; secrets and addresses with a password in them are encrypted. */
export const sealSettings = (fields: Fields, values: Settings, { encrypt }: Secrets): Values =>
  Object.fromEntries(
    Object.entries(fields).map(([name, field]) => {
      const { kind } = field
      const value = values[name]
      const isSecret = value && (kind === 'secret' || (kind === 'url' && hasAddressSecret(value)))
      return [columnOf(name, field), isSecret ? encrypt(value) : value]
    }),
  )

/** Decrypts stored settings. A value that cannot be read becomes empty and is named in `problem`. */
export function openSettings(fields: Fields, row: Settings, { decrypt }: Secrets): Values {
  const reader = createReader()
  const values = Object.entries(fields).map(([name, field]) => {
    const value = row[columnOf(name, field)]
    const isText = typeof value === 'string' && field.kind !== 'json'
    return [name, isText ? reader.read(name, () => decrypt(value), '') : shaped(field, value)]
  })
  return { ...Object.fromEntries(values), ...reader.problem() }
}

/** A value of the wrong shape was stored before values were checked, and counts as empty. */
function shaped(field: Field, value: unknown): unknown {
  if (field.kind === 'json') return field.schema.safeParse(value).success ? value : null
  return field.kind === 'strings' && value && !Array.isArray(value) ? [] : value
}

/** Throws when a value cannot be read and is not given again. Otherwise it would silently become empty. */
export function requireReadable(fields: Fields, { problem }: Settings, input: Settings = {}): void {
  const picked = pickNames(Object.keys(fields), input)
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
      // Not even the length of a password is shown, since nobody needs to tell one from another.
      return [name, name === 'password' ? '' : maskSecret(value)]
    }),
  )
