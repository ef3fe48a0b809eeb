import { bigint, json, text } from '../../../database/table.ts'
import { entity, table } from '../kit.ts'

/** The data of the server about itself, for people who look at the tables. Nothing else reads it. */
const serverInfos = table('server_infos', 'JiraServerInfo', {
  base_url: text('baseUrl'),
  build_date: text('buildDate'),
  build_number: bigint('buildNumber'),
  deployment_type: text('deploymentType'),
  scm_info: text('scmInfo'),
  server_time: text('serverTime'),
  server_title: text('serverTitle'),
  version: text(),
  version_numbers: json('versionNumbers'),
})

export default entity(serverInfos, {
  label: 'Server Info',
  domainTypes: ['TICKET'],
  raw: 'jira_api_server_infos',
  collect: { request: () => ({ path: 'api/2/serverInfo' }), records: (info) => [info] },
})
