import { key, string } from '../../../database/table.ts'
import { entity, table } from '../kit.ts'

export const projects = table('projects', 'JiraProject', {
  id: key(string()),
  project_key: string('key'),
  name: string(),
})

export default entity(projects, {
  label: 'Projects',
  domainTypes: ['TICKET'],
  raw: 'jira_api_projects',
  collect: { request: () => ({ path: 'api/2/project' }), isForAll: true },
})
