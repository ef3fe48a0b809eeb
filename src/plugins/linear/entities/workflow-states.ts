import { double, key, string } from '../../../database/table.ts'
import { asSent, entity, table, teamIdColumn, teamList } from '../kit.ts'

const workflowStates = table('workflow_states', 'LinearWorkflowState', {
  id: key(string(191)),
  team_id: teamIdColumn(),
  name: string(),
  type: string(100),
  color: string(100),
  position: double(),
})

export const { query, collect } = teamList('states', { fields: 'id name type color position' })

export default entity(workflowStates, {
  label: 'Workflow States',
  domainTypes: ['TICKET'],
  raw: 'linear_workflow_states',
  collect,
  extract: { rows: (state, { read }) => [read(workflowStates, asSent(state))] },
})
