import type { Plugin } from '../../plugin-kit/subtask.ts'
import { extractCustomizedFields } from './extract-fields.ts'
import { customizedFields } from './fields.ts'

export const customize: Plugin = {
  name: 'customize',
  title: 'Own fields and CSV files',
  tables: [customizedFields],
  options: {
    transformationRules: {
      kind: 'list',
      label: 'Which fields of own are filled from which raw records',
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
  subtasks: [extractCustomizedFields],
}
