/** Conditions on a part of a text. Whatever it contains counts as itself, also the signs with which LIKE means others. */
import { type RawBuilder, sql } from 'kysely'

const literally = (text: string) => text.replace(/[!%_]/g, '!$&')

/** In any letter case. */
export const contains = (text: RawBuilder<unknown>, part: string) =>
  sql<boolean>`lower(${text}) like ${`%${literally(part.toLowerCase())}%`} escape '!'`

export const beginsWith = (text: RawBuilder<unknown>, beginning: string) =>
  sql<boolean>`${text} like ${`${literally(beginning)}%`} escape '!'`
