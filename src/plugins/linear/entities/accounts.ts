import { boolean, key, string } from '../../../database/table.ts'
import { accounts as domainAccounts } from '../../../domain/people.ts'
import { asSent, entity, table, workspaceList } from '../kit.ts'

export const accounts = table('accounts', 'LinearAccount', {
  id: key(string(191)),
  name: string(),
  display_name: string('displayName'),
  email: string(),
  avatar_url: string('avatarUrl'),
  active: boolean(),
})

export const { query, collect } = workspaceList('users', {
  fields: 'id name displayName email avatarUrl active',
  filter: ', includeDisabled: true',
})

export default entity(accounts, {
  label: 'Users',
  domainTypes: ['CROSS'],
  raw: 'linear_accounts',
  collect: { ...collect, isForAll: true },
  extract: {
    *rows(user, { read }) {
      const sent = asSent(user)
      if (sent.id) yield read(accounts, sent)
    },
  },
  convert: {
    to: [domainAccounts],
    rows: ({ id, name, display_name, email, avatar_url, active }, { idOf }) => [
      domainAccounts.row({
        id: idOf(accounts, id),
        user_name: name,
        full_name: display_name || name,
        email,
        avatar_url,
        status: active ? 1 : 0,
      }),
    ],
  },
})
