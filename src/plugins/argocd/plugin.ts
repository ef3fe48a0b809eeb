import { definePlugin } from '../../plugin-kit/index.ts'
import { collectApplication } from './application.ts'
import { checkConnection, connectionFields, RIGHTS } from './connection.ts'
import applicationEntity from './entities/applications.ts'
import syncOperations from './entities/sync-operations.ts'
import { applicationRequest, applications } from './kit.ts'
import { remoteScopes } from './remote-scopes.ts'
import { ruleNames, ruleSamples } from './rule-names.ts'
import { rules, scopeConfigFields } from './rules.ts'

export const argocd = definePlugin({
  name: 'argocd',
  title: 'Argo CD',
  about: 'Applications with their syncs as deployments, of all sources, by project and cluster.',
  spelling: 'camel',
  connection: { endpoint: '', rights: RIGHTS, fields: connectionFields, check: checkConnection },
  scope: {
    table: applications,
    title: 'Application',
    options: { applicationName: 'name' },
    params: (connectionId, { name }) => ({ ConnectionId: connectionId, Name: name }),
    remote: remoteScopes,
    check: ({ name }) => applicationRequest(name),
  },
  scopeConfig: { fields: scopeConfigFields, prepare: rules, names: ruleNames, samples: ruleSamples },
  formerRaws: ['argocd_api_applications'],
  entities: [applicationEntity, syncOperations],
  extra: { first: [collectApplication], last: [] },
})
