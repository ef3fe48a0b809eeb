import { key, string, text } from '../../../database/table.ts'
import { entity, table } from '../kit.ts'

export const statuses = table('statuses', 'JiraStatus', {
  id: key(string(191)),
  name: text(),
  self: text(),
  status_category: text('statusCategory.key'),
})

export default entity(statuses, {
  label: 'Status',
  domainTypes: ['TICKET'],
  raw: 'jira_api_status',
  collect: { request: () => ({ path: 'api/2/status' }), isForAll: true },
  extract: {
    // Team-managed projects have their own statuses. Only those of the board's project are kept, besides the global ones.
    rows: (status, { read, scope }) =>
      !status.scope || Number(status.scope.project?.id) === scope.project_id ? [read(statuses, status)] : [],
  },
})
