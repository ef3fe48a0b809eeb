import { bigint, boolean, key, type RowOf, string, text } from '../../../database/table.ts'
import { wholeTable } from '../../../plugin-kit/index.ts'
import { entity, ofBoard, table } from '../kit.ts'

export const issueFields = table('issue_fields', 'JiraIssueField', {
  board_id: ofBoard(),
  id: key(string(191)),
  name: text(),
  custom: boolean(),
  orderable: boolean(),
  navigable: boolean(),
  searchable: boolean(),
  schema_type: text('schema.type'),
  schema_items: text('schema.items'),
  schema_custom: text('schema.custom'),
  schema_custom_id: bigint('schema.customId'),
  sche_custom_system: text('schema.system'),
})

/** Finds fields by name, because servers leave the id of a field out of changelogs. */
export const fieldLookup = { fields: wholeTable(issueFields, 'name', ({ board_id }) => ({ board_id })) }

/** Tells whether the values of this field in a changelog are people. */
export function isUserField(
  name: string,
  id: string | undefined,
  fields: ReadonlyMap<unknown, RowOf<typeof issueFields>>,
) {
  if (name === 'assignee' || name === 'reporter') return true
  const field = fields.get(name)
  if (!field || (id && id !== field.id)) return false
  return field.schema_type === 'user' || field.schema_items === 'user'
}

export default entity(issueFields, {
  label: 'Issue Fields',
  names: { collect: 'collectIssuleField' },
  domainTypes: ['TICKET'],
  raw: 'jira_api_issue_fields',
  collect: { request: () => ({ path: 'api/2/field' }), isForAll: true },
})
