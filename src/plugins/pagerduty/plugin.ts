import { definePlugin } from '../../plugin-kit/index.ts'
import { checkConnection, connectionFields, ENDPOINT, HEADERS, limits, RIGHTS } from './connection.ts'
import { deliveries } from './deliveries.ts'
import incidentEntity, { assignments, incidentTeams, responders } from './entities/incidents.ts'
import { teamEntity, teams, userEntity, users } from './entities/people.ts'
import serviceEntity from './entities/services.ts'
import { services } from './kit.ts'
import { remoteScopes } from './remote-scopes.ts'
import { collectService } from './service.ts'

const ofUser = { id: 'user_id' }

export const pagerduty = definePlugin({
  name: 'pagerduty',
  title: 'PagerDuty',
  about: 'Services with their incidents: change failure rate and recovery time without an issue tracker.',
  spelling: 'camel',
  connection: {
    endpoint: ENDPOINT,
    rights: RIGHTS,
    fields: connectionFields,
    headers: HEADERS,
    sign: (token) => ({ Authorization: `Token token=${token}` }),
    limits,
    check: checkConnection,
  },
  scope: {
    table: services,
    title: 'Service',
    options: { serviceId: 'id' },
    toldBy: { serviceName: 'name' },
    params: (connectionId, { id }) => ({ ConnectionId: connectionId, ScopeId: id }),
    remote: remoteScopes,
    check: ({ id }) => ({ path: `services/${id}` }),
  },
  scopeConfig: { fields: {}, prepare: () => ({}) },
  deliveries,
  extra: { first: [collectService], last: [] },
  entities: [serviceEntity, incidentEntity, userEntity, teamEntity],
  referred: [
    {
      table: users,
      by: [
        { table: assignments, columns: ofUser },
        { table: responders, columns: ofUser },
      ],
    },
    { table: teams, by: [{ table: incidentTeams, columns: { id: 'team_id' } }] },
  ],
})
