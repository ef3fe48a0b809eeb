import { key, string } from '../../../database/table.ts'
import { entity, inProject, OF_BOARD, plans, repositoryId, table, versioned } from '../kit.ts'

/** Teams define their own states. Each state belongs to one of a few categories. */
export const states = table(
  'work_item_states',
  'AzuredevopsWorkItemState',
  {
    board_id: key(string(191, repositoryId)),
    name: key(string()),
    category: string(100),
  },
  OF_BOARD,
)
export const stateName = (type: string, state: string): string => `${type}/${state}`

export default entity(states, {
  label: 'Work Item States',
  domainTypes: ['TICKET'],
  raw: 'azuredevops_go_api_work_item_types',
  collect: {
    when: plans,
    request: ({ scope }) => versioned(inProject(scope, 'wit/workitemtypes')),
    records: ({ value }) => value,
    key: ({ referenceName, name }) => referenceName ?? name,
  },
  extract: {
    *rows(type, { read }) {
      for (const state of type.states ?? []) yield read(states, state, { name: stateName(type.name, state.name) })
    },
  },
})
