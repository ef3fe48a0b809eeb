import { definePlugin } from '../../plugin-kit/index.ts'
import { codeBlockIds } from './code-block-ids.ts'
import { checkConnection, connectionFields, ENDPOINT, probe, RIGHTS, sign } from './connection.ts'
import accounts from './entities/accounts.ts'
import fileMetrics from './entities/file-metrics.ts'
import fileMetricsAdditional from './entities/file-metrics-additional.ts'
import hotspots from './entities/hotspots.ts'
import issueCodeBlocks from './entities/issue-code-blocks.ts'
import issueImpacts from './entities/issue-impacts.ts'
import issues from './entities/issues.ts'
import projectEntity from './entities/projects.ts'
import qualityGates from './entities/quality-gates.ts'
import { projects, type TaskState } from './kit.ts'
import { collectProject, projectRequest } from './project.ts'
import { remoteScopes } from './remote-scopes.ts'

export const sonarqube = definePlugin({
  name: 'sonarqube',
  title: 'SonarQube',
  about: 'Projects of SonarQube Server and Cloud: issues, hotspots, measures of files and quality gates.',
  spelling: 'camel',
  connection: {
    endpoint: ENDPOINT,
    rights: RIGHTS,
    fields: connectionFields,
    facts: ['org'],
    sign,
    probe,
    check: checkConnection,
  },
  scope: {
    table: projects,
    title: 'Project',
    options: { projectKey: 'project_key' },
    isOptional: true,
    params: (connectionId, { project_key }) => ({ connectionId, ProjectKey: project_key }),
    remote: remoteScopes,
    check: ({ project_key }) => projectRequest(project_key),
  },
  scopeConfig: { fields: {}, prepare: (): TaskState => ({ blockIdOf: codeBlockIds() }) },
  formerRaws: ['sonarqube_accounts', 'sonarqube_api_project_metrics_history', 'sonarqube_issues'],
  entities: [
    fileMetricsAdditional,
    fileMetrics,
    issues,
    hotspots,
    qualityGates,
    accounts,
    projectEntity,
    issueImpacts,
    issueCodeBlocks,
  ],
  extra: { first: [collectProject], last: [] },
})
