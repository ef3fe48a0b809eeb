/** The values of described fields, for files and exports. */
import { emptyOf } from '../control-plane/settings.ts'
import type { Fields, Settings } from '../plugin-kit/spec/fields.ts'
import type { State } from './change.ts'

const asked = (fields: Fields) => Object.entries(fields).filter(([, { isManaged }]) => !isManaged)

export const stateOf = (fields: Fields, values: Settings): State =>
  Object.fromEntries(asked(fields).map(([name]) => [name, values[name] ?? null]))
export const standardOf = (fields: Fields): State =>
  Object.fromEntries(asked(fields).map(([name, field]) => [name, emptyOf(field)]))

/** Sets missing fields to their defaults. Secrets keep their values, because not everybody puts them into a file. */
export const completed = (fields: Fields, values: Settings): Settings => ({
  ...Object.fromEntries(asked(fields).flatMap(([name, { kind }]) => (kind === 'secret' ? [] : [[name, null]]))),
  ...values,
})
