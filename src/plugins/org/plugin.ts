import { setTimeout as sleep } from 'node:timers/promises'
import { setProjectMapping } from '../../metrics/calculate/project-mapping.ts'
import { calculations } from '../../metrics/calculate/results.ts'
import { connectedAccounts, connectUserAccountsExact } from '../../metrics/calculate/user-accounts.ts'
import { calculation, type Plugin } from '../../plugin-kit/index.ts'
import { orgRoutes } from './routes.ts'

export const org: Plugin = {
  name: 'org',
  title: 'Organisation',
  tables: [calculations, connectedAccounts],
  options: {
    projectMappings: {
      kind: 'list',
      label: 'Projects with their scopes',
      example: [{ projectName: 'shop', scopes: [{ table: 'repos', rowId: '' }] }],
    },
    sleepSeconds: { kind: 'number', label: 'How long the subtask sleep waits' },
  },
  plans: {
    mapProject: (projectName, scopes) => ({
      plugin: 'org',
      subtasks: ['setProjectMapping'],
      options: { projectMappings: [{ projectName, scopes }] },
    }),
  },
  isUnsummarised: true,
  routes: orgRoutes,
  leases: ({ projectMappings }) =>
    Array.isArray(projectMappings) ? projectMappings.map(({ projectName }) => `project ${projectName}`) : [],
  subtasks: [
    calculation(
      {
        name: 'connectUserAccountsExact',
        reads: ['users', 'accounts'],
        writes: ['user_accounts'],
        domainTypes: ['CROSS'],
      },
      connectUserAccountsExact,
    ),
    calculation(
      { name: 'setProjectMapping', reads: [], writes: ['project_mapping'], domainTypes: ['CROSS'] },
      setProjectMapping,
    ),
    calculation({ name: 'sleep', reads: [], writes: [], isOff: true }, async ({ options, signal }) => {
      await sleep(1000 * (Number(options.sleepSeconds ?? options.seconds) || 0), undefined, { signal })
      return 0
    }),
  ],
}
