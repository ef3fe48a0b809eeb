import { accounts as domainAccounts } from '../../../domain/people.ts'
import { accounts, entity } from '../kit.ts'

export default entity(accounts, {
  label: 'Users',
  domainTypes: ['CROSS'],
  convert: {
    to: [domainAccounts],
    rows: ({ account_id, display_name, user_name, avatar_url }, { idOf }) => [
      domainAccounts.row({ id: idOf(accounts, account_id), full_name: display_name, user_name, avatar_url }),
    ],
  },
})
