import { hintOf, shortName } from '../basics/nearest.ts'
import { UserError } from '../errors.ts'

/** Refuses fields that are not described. It checks only own properties, not inherited ones. */
export function requireKnown(known: readonly string[], input: object): void {
  const unknown = Object.keys(input).find((name) => !known.includes(name))
  if (unknown !== undefined) throw new UserError(`${shortName(unknown)} is not known${hintOf(unknown, known)}`)
}
