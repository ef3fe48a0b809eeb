import { definePlugin } from '../../plugin-kit/index.ts'
import { checkConnection, connectionFields, ENDPOINT, RIGHTS } from './connection.ts'
import incidentEntity, { assignments, responders } from './entities/incidents.ts'
import serviceEntity from './entities/services.ts'
import teams from './entities/teams.ts'
import users from './entities/users.ts'
import { services } from './kit.ts'
import { remoteScopes } from './remote-scopes.ts'
import { collectService } from './service.ts'

export const opsgenie = definePlugin({
  name: 'opsgenie',
  title: 'Opsgenie',
  about: 'Services with their incidents: change failure rate and recovery time without an issue tracker.',
  spelling: 'camel',
  connection: {
    endpoint: ENDPOINT,
    rights: RIGHTS,
    fields: connectionFields,
    sign: (key) => ({ Authorization: `GenieKey ${key}` }),
    check: checkConnection,
  },
  scope: {
    table: services,
    title: 'Service',
    options: { serviceId: 'id' },
    toldBy: { serviceName: 'name' },
    params: (connectionId, { id }) => ({ ConnectionId: connectionId, ScopeId: id }),
    remote: remoteScopes,
    check: ({ id }) => ({ path: `v1/services/${id}` }),
  },
  scopeConfig: { fields: {}, prepare: () => ({}) },
  extra: { first: [collectService], last: [] },
  formerRaws: ['opsgenie_alerts'],
  entities: [serviceEntity, users, teams, incidentEntity],
  referred: [{ table: responders, by: [{ table: assignments, columns: { id: 'responder_id' } }] }],
})
