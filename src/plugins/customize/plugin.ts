import type { Plugin } from '../../plugin-kit/index.ts'
import { extractCustomizedFields } from './extract-fields.ts'
import { customizedFields } from './fields.ts'
import { mappingRoutes } from './mapping-routes.ts'
import { customizeRoutes } from './routes.ts'

export const customize: Plugin = {
  name: 'customize',
  title: 'Custom fields and CSV files',
  tables: [customizedFields],
  options: {
    transformationRules: {
      kind: 'list',
      label: 'Which custom fields are filled from which raw records',
      isRequired: true,
      example: [
        {
          table: 'issues',
          rawDataTable: '_raw_jira_api_issues',
          rawDataParams: '{"ConnectionId":1,"BoardId":1}',
          mapping: { x_points: 'fields.customfield_10016' },
        },
      ],
    },
  },
  routes: [...customizeRoutes, ...mappingRoutes],
  subtasks: [extractCustomizedFields],
}
