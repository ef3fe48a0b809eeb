import type { RawRecord } from '../../../database/table.ts'
import { key, string, type TableRow } from '../../../database/table.ts'
import { accounts } from '../../../domain/people.ts'
import { type AnyExtractContext, wholeConnection } from '../../../plugin-kit/index.ts'
import { byToken, entity, inOrganization, onHost, preview, table } from '../kit.ts'

/** People as the directory lists them. Pull requests and work items refer to people by other ids. */
export const users = table('users', 'AzuredevopsUser', {
  azuredevops_id: key(string(191, 'originId')),
  origin: string(),
  descriptor: string(),
  principal_name: string('principalName'),
  mail_address: string('mailAddress'),
  display_name: string('displayName'),
  url: string(),
})
/** People as pull requests, comments and work items name them. */
export const identities = table('identities', 'AzuredevopsIdentity', {
  azuredevops_id: key(string(191, 'id')),
  display_name: string('displayName'),
  unique_name: string('uniqueName'),
})

type Reading = Pick<AnyExtractContext, 'read'>
/** Leaves out missing entries, and those that are not persons. */
export const peopleIn = (people: readonly RawRecord[], { read }: Reading): TableRow[] =>
  people.filter((one) => one?.id && !one.isContainer).map((one) => read(identities, one))

/** Collected only on request: it needs an additional right, and adds only people whom no record names. */
export const usersEntity = entity(users, {
  label: 'Accounts',
  domainTypes: ['CROSS'],
  off: ['collect'],
  raw: 'azuredevops_go_api_users',
  collect: {
    request: ({ scope, connection }) =>
      preview(onHost(connection.endpoint, 'vssps', inOrganization(scope.organization_id, 'graph/users'))),
    paging: byToken(500),
    key: ({ originId }) => originId,
    emptyOn: [404], // a Server has no directory
  },
  convert: {
    to: [accounts],
    where: wholeConnection,
    rows: (user, { idOf }) => [
      accounts.row({
        id: idOf(users, user.azuredevops_id),
        email: user.mail_address,
        full_name: user.display_name,
        user_name: user.principal_name,
      }),
    ],
  },
})

const MAIL = /^[^@\s\\]+@[^@\s]+$/
export const identitiesEntity = entity(identities, {
  label: 'Identities',
  domainTypes: ['CROSS'],
  convert: {
    to: [accounts],
    rows: ({ azuredevops_id, display_name, unique_name }, { idOf }) => [
      accounts.row({
        id: idOf(users, azuredevops_id),
        email: MAIL.test(unique_name) ? unique_name : '',
        full_name: display_name,
        user_name: unique_name,
      }),
    ],
  },
})
