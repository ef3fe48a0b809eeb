import { bigint, indexed, key, string, text, timestamp } from '../../../database/table.ts'
import { cqIssues } from '../../../domain/quality.ts'
import { entity, hasProject, inPages, projects, shortKey, table } from '../kit.ts'

export const hotspots = table('hotspots', 'SonarqubeHotspot', {
  hotspot_key: key(string(191, 'key')),
  rule_key: string('ruleKey'),
  component: text(),
  project_key: indexed(string(191, 'project')),
  line: bigint(),
  status: string(100),
  message: text(),
  author: string(100),
  assignee: string(100),
  security_category: string(100, 'securityCategory'),
  vulnerability_probability: string(100, 'vulnerabilityProbability'),
  creation_date: timestamp('creationDate'),
  update_date: timestamp('updateDate'),
})

export default entity(hotspots, {
  label: 'Hotspots',
  names: { collect: 'CollectHotspots', extract: 'ExtractHotspots' },
  domainTypes: ['CODEQUALITY'],
  raw: 'sonarqube_api_hotspots',
  collect: {
    when: hasProject,
    request: ({ scope }) => ({ path: 'hotspots/search', query: { projectKey: scope.project_key } }),
    paging: inPages,
    records: ({ hotspots }) => hotspots,
    key: ({ key }) => key,
    endsOn: [400], // after 10,000 records
  },
  convert: {
    to: [cqIssues],
    rows: (hotspot, { idOf }) => [
      cqIssues.row({
        id: idOf(hotspots, hotspot.hotspot_key),
        rule: hotspot.rule_key,
        component: hotspot.component,
        project_key: idOf(projects, shortKey(hotspot.project_key)),
        line: hotspot.line,
        start_line: hotspot.line,
        status: hotspot.status,
        message: hotspot.message,
        commit_author_email: hotspot.author,
        assignee: hotspot.assignee,
        type: 'HOTSPOTS',
        vulnerability_probability: hotspot.vulnerability_probability,
        security_category: hotspot.security_category,
        created_date: hotspot.creation_date,
        updated_date: hotspot.update_date,
      }),
    ],
  },
})
