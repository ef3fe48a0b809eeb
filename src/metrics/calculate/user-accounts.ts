import { sql } from 'kysely'
import { defineTable, key, string } from '../../database/table.ts'
import { userAccounts } from '../../domain/people.ts'
import { type Calculation, noOrigin } from './calculation.ts'
import { fill, inTurn, replace } from './results.ts'

/** Accounts that are not in this table were given to their owners by hand, and stay with them. */
export const connectedAccounts = defineTable(
  '_weir_connected_accounts',
  { account_id: key(string()) },
  { meaning: 'Accounts that were given to a person because an address or a name is the same.' },
)

const userBy = (column: 'email' | 'name', word: string) =>
  sql`(select min(u.id) from users u where u.${sql.ref(column)} = ${sql.ref(word)} and ${sql.ref(word)} <> '')`
const user = sql`coalesce(${userBy('email', 'a.email')}, ${userBy('name', 'a.full_name')}, ${userBy('name', 'a.user_name')})`

/** Gives accounts that were not assigned by hand to the user with the same e-mail address, or else full name, or else user name. */
export const connectUserAccountsExact: Calculation = ({ database }) =>
  inTurn(database, userAccounts.name, async (inside) => {
    const connected = sql.table(connectedAccounts.name)
    await fill(inside, {
      table: connectedAccounts,
      columns: { account_id: sql`a.id` },
      from: sql`from accounts a where not exists (select 1 from user_accounts o where o.account_id = a.id)
        and ${user} is not null`,
    })
    const written = await replace(inside, {
      table: userAccounts,
      within: [sql`account_id in (select account_id from ${connected})`],
      with: sql`with owned as (
        select a.id, ${user} as user_id from accounts a where a.id in (select account_id from ${connected}))`,
      columns: { account_id: sql`owned.id`, user_id: sql`owned.user_id`, ...noOrigin },
      from: sql`from owned where owned.user_id is not null`,
    })
    await sql`delete from ${connected} where account_id not in (select account_id from user_accounts)`.execute(
      inside.kysely,
    )
    return written
  })
