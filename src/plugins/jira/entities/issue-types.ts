import { bigint, boolean, key, string, text } from '../../../database/table.ts'
import { entity, table } from '../kit.ts'

export const issueTypes = table('issue_types', 'JiraIssueType', {
  self: string(),
  id: key(string()),
  description: text(),
  icon_url: string('iconUrl'),
  name: string(),
  untranslated_name: string('untranslatedName'),
  subtask: boolean(),
  avatar_id: bigint('avatarId'),
  hierarchy_level: bigint('hierarchyLevel'),
})

export default entity(issueTypes, {
  label: 'Issue Types',
  names: { extract: 'extractIssueType' },
  domainTypes: ['TICKET'],
  raw: 'jira_api_issue_types',
  collect: {
    request: ({ server }) => ({ path: `api/${server.isCloud ? 3 : 2}/issuetype` }),
    isForAll: true,
  },
})
