import { accounts } from '../../../domain/people.ts'
import { entity, users } from '../kit.ts'

export default entity(users, {
  label: 'Users',
  domainTypes: ['CROSS'],
  convert: {
    to: [accounts],
    rows: ({ bitbucket_id, email_address, display_name, name, slug }, { idOf }) => [
      accounts.row({
        id: idOf(users, bitbucket_id),
        email: email_address,
        full_name: display_name || name,
        user_name: slug,
      }),
    ],
  },
})
