import { UserError } from '../../errors.ts'
import type { Field, Fields, Settings } from '../spec/fields.ts'

export const missingField = (name: string, { help, label }: Field): UserError =>
  new UserError(`${name} is missing: add it. ${help ?? `${label}.`}`)

/** Refuses settings that lack a field required by their way of signing in. */
export function requireLogin(fields: Fields, settings: Settings): void {
  for (const [name, field] of Object.entries(fields)) {
    const isNeeded = field.authMethod !== undefined && field.authMethod === settings.authMethod
    if (isNeeded && !settings[name]) throw missingField(name, field)
  }
}
