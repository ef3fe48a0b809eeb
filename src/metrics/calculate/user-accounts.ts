import { sql } from 'kysely'
import { userAccounts } from '../../domain/people.ts'
import { type Calculation, fill, noOrigin, swap } from './calculation.ts'

const userBy = (column: 'email' | 'name', word: string) =>
  sql`(select min(u.id) from users u where u.${sql.ref(column)} = ${sql.ref(word)} and ${sql.ref(word)} <> '')`

/** Gives accounts that have no owner yet to the user of the same e-mail, else full name, else user name. */
export const connectUserAccountsExact: Calculation = ({ database }) =>
  swap(database, (inside) =>
    fill(inside, {
      table: userAccounts,
      with: sql`with owned as (
        select a.id, coalesce(${userBy('email', 'a.email')}, ${userBy('name', 'a.full_name')},
          ${userBy('name', 'a.user_name')}) as user_id
        from accounts a where not exists (select 1 from user_accounts o where o.account_id = a.id))`,
      columns: { account_id: sql`owned.id`, user_id: sql`owned.user_id`, ...noOrigin },
      from: sql`from owned where owned.user_id is not null`,
    }),
  )
