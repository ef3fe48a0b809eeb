/** Finds the accounts in tools that belong to one person. */
import { sql } from 'kysely'
import { shortName } from '../../basics/nearest.ts'
import type { Database } from '../../database/database.ts'
import { among, onePiece } from '../../database/pieces.ts'
import { UserError } from '../../errors.ts'

export interface Person {
  readonly name: string
  readonly accounts: readonly string[]
}

interface Found {
  readonly id: string
  readonly name: string
  readonly email: string
}

const unknown = (asked: string) =>
  new UserError(
    `No collected account belongs to ${shortName(asked)}: import people and their accounts in Settings, People, or name another person.`,
    { status: 404 },
  )

/**
 * `asked` is an e-mail address, or the id or name of a person, or the name of an account. A person who signed in is found by
 * the address alone, because anybody may choose a name.
 */
export async function findPerson(
  { kysely }: Database,
  asked: string,
  { byEmailOnly = false }: { readonly byEmailOnly?: boolean } = {},
): Promise<Person> {
  const wanted = asked.trim()
  if (wanted === '') throw unknown(asked)
  const hasEmail = sql`lower(email) = lower(${wanted})`
  const isUser = byEmailOnly ? hasEmail : sql`(${hasEmail} or id = ${wanted} or name = ${wanted})`
  const { rows: people } = await sql<Found>`select id, coalesce(name, '') as name, coalesce(email, '') as email
    from users where ${isUser} order by id`.execute(kysely)
  if (people.length > 1 && !byEmailOnly) {
    const ids = people.map(({ id }) => id).join(', ')
    throw new UserError(`More than one person is called ${shortName(wanted)}: ask for one by the id: ${ids}.`)
  }
  const isAccount = byEmailOnly ? hasEmail : sql`(${hasEmail} or id = ${wanted} or user_name = ${wanted})`
  const owned = sql`select account_id as id from user_accounts where ${among(
    sql`user_id`,
    onePiece(people.map(({ id }) => id)),
  )}`
  // An account that nobody has assigned belongs to the person of its address.
  const addresses = people.flatMap(({ email }) => (email === '' ? [] : [email.toLowerCase()]))
  const alike = sql`select id from accounts where ${isAccount} or ${among(sql`lower(email)`, onePiece(addresses))}`
  const { rows: accounts } = await sql<{ id: string }>`select distinct id from (${owned} union ${alike}) own
    order by id`.execute(kysely)
  if (accounts.length === 0) throw unknown(asked)
  return { name: people[0]?.name || wanted, accounts: accounts.map(({ id }) => id) }
}
