import type { RawRecord } from '../../../database/table.ts'
import { boolean, key, string, timestamp } from '../../../database/table.ts'
import { entity, hasProject, table } from '../kit.ts'

export const qualityGates = table('quality_gates', 'SonarqubeQualityGate', {
  project_key: key(string(500, (_gate, { scope }) => scope.project_key)),
  status: string(20),
  cayc_status: string(50, 'caycStatus'),
  ignored_conditions: boolean('ignoredConditions'),
  period_mode: string(50, 'period.mode'),
  period_date: timestamp('period.date'),
})

export const qualityGateConditions = table('quality_gate_conditions', 'SonarqubeQualityGateCondition', {
  project_key: key(string(500, (_condition, { scope }) => scope.project_key)),
  metric_key: key(string(191, 'metricKey')),
  status: string(20),
  comparator: string(20),
  error_threshold: string('errorThreshold'),
  actual_value: string('actualValue'),
})

/** The status of the project's quality gate, and its conditions. DevLake does not collect it. */
export default entity(qualityGates, {
  label: 'Quality Gates',
  names: { collect: 'CollectQualityGates', extract: 'ExtractQualityGates' },
  domainTypes: ['CODEQUALITY'],
  raw: 'sonarqube_api_quality_gates',
  collect: {
    when: hasProject,
    request: ({ scope }) => ({ path: 'qualitygates/project_status', query: { projectKey: scope.project_key } }),
    records: ({ projectStatus }) => [projectStatus],
    key: () => 'status',
    emptyOn: [404], // no quality gate, or never analysed
  },
  extract: {
    owns: [{ table: qualityGateConditions, by: { connection_id: 'connection_id', project_key: 'project_key' } }],
    *rows(gate, { read }) {
      yield read(qualityGates, gate)
      const conditions: readonly RawRecord[] = gate.conditions ?? []
      for (const condition of conditions) yield read(qualityGateConditions, condition)
    },
  },
})
