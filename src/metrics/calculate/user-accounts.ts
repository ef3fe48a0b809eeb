import { sql } from 'kysely'
import { userAccounts } from '../../domain/people.ts'
import { type Calculation, fill, noOrigin, swap } from './calculation.ts'

const usersBy = (column: 'email' | 'name') =>
  sql`(select ${sql.ref(column)} as word, min(id) as id from users where ${sql.ref(column)} <> '' group by ${sql.ref(column)})`

/** Gives accounts that have no owner yet to the user of the same e-mail, else full name, else user name. */
export const connectUserAccountsExact: Calculation = ({ database }) =>
  swap(database, (inside) =>
    fill(inside, {
      table: userAccounts,
      columns: {
        account_id: sql`a.id`,
        user_id: sql`coalesce(by_email.id, by_full_name.id, by_user_name.id)`,
        ...noOrigin,
      },
      from: sql`from accounts a
        left join ${usersBy('email')} by_email on by_email.word = a.email
        left join ${usersBy('name')} by_full_name on by_full_name.word = a.full_name
        left join ${usersBy('name')} by_user_name on by_user_name.word = a.user_name
        where coalesce(by_email.id, by_full_name.id, by_user_name.id) is not null
          and not exists (select 1 from user_accounts u where u.account_id = a.id)`,
    }),
  )
