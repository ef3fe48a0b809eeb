import { key, string, text } from '../../../database/table.ts'
import { accounts, users as domainUsers, userAccounts } from '../../../domain/people.ts'
import { wholeConnection } from '../../../plugin-kit/index.ts'
import { data, entity, PAGE, table } from '../kit.ts'

export const users = table('users', 'User', {
  id: key(string(191)),
  username: text(),
  full_name: text('fullName'),
})

export default entity(users, {
  label: 'Users',
  domainTypes: ['CROSS'],
  raw: 'opsgenie_users',
  collect: {
    request: () => ({ path: 'v2/users', query: { sort: 'createdAt', order: 'desc' } }),
    paging: PAGE,
    records: data,
    isForAll: true,
  },
  convert: {
    to: [domainUsers, accounts, userAccounts],
    where: wholeConnection,
    // The user name is an e-mail address.
    rows({ username: email, full_name: name, ...user }, { idOf }) {
      const id = idOf(users, user.id)
      return [
        domainUsers.row({ id, email, name }),
        accounts.row({ id, email, full_name: name, user_name: email }),
        userAccounts.row({ account_id: id, user_id: id }),
      ]
    },
  },
})
