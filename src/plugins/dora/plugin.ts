import { generateDeploymentCommits, generateDeployments } from '../../metrics/calculate/deployments.ts'
import { connectIncidentToDeployment, convertIssuesToIncidents } from '../../metrics/calculate/incidents.ts'
import { calculateChangeLeadTime } from '../../metrics/calculate/lead-times.ts'
import { noteChangedNumbers } from '../../metrics/calculate/number-changes.ts'
import { enrichPrevSuccessDeploymentCommits } from '../../metrics/calculate/previous-deployments.ts'
import { calculations } from '../../metrics/calculate/results.ts'
import { calculateRollouts } from '../../metrics/calculate/rollouts.ts'
import { calculation, type MetricProject, type Plan, type Plugin } from '../../plugin-kit/index.ts'

const NAME = 'dora'

/** Plans the stages in this order, because each needs the results of the one before. */
const planMetric = ({ projectName }: MetricProject): Plan => {
  const options = { projectName }
  const before = ['generateDeployments', 'generateDeploymentCommits', 'enrichPrevSuccessDeploymentCommits']
  const after = ['calculateChangeLeadTime', 'ConvertIssuesToIncidents', 'ConnectIncidentToDeployment']
  return [
    [{ plugin: NAME, subtasks: before, options }],
    [{ plugin: 'refdiff', subtasks: ['calculateDeploymentCommitsDiff'], options }],
    [{ plugin: NAME, subtasks: after, options }],
  ]
}

const PIPELINES = ['project_mapping', 'cicd_pipelines', 'cicd_tasks']

export const dora: Plugin = {
  name: NAME,
  title: 'DORA',
  tables: [calculations],
  options: {
    projectName: { kind: 'text', label: 'Project whose four keys are calculated', isRequired: true, example: 'shop' },
    scopeId: { kind: 'text', label: 'Only this scope of deployments' },
  },
  plans: { metric: { plan: planMetric } },
  isUnsummarised: true,
  leases: ({ projectName }) => (projectName ? [`project ${projectName}`] : []),
  subtasks: [
    calculation(
      { name: 'generateDeployments', reads: PIPELINES, writes: ['cicd_deployments'], domainTypes: ['CICD'] },
      generateDeployments,
    ),
    calculation(
      {
        name: 'generateDeploymentCommits',
        reads: [...PIPELINES, 'cicd_pipeline_commits'],
        writes: ['cicd_deployment_commits'],
        domainTypes: ['CICD'],
        isOff: true,
      },
      generateDeploymentCommits,
    ),
    calculation(
      {
        name: 'enrichPrevSuccessDeploymentCommits',
        reads: ['project_mapping', 'cicd_deployment_commits'],
        writes: ['cicd_deployment_commits'],
        domainTypes: ['CICD'],
        isOff: true,
      },
      enrichPrevSuccessDeploymentCommits,
    ),
    // Kept because stored plans may name it. It has had no effect for a long time.
    calculation({ name: 'EnrichTaskEnv', reads: [], writes: [], domainTypes: ['CICD'], isOff: true }, async () => 0),
    calculation(
      {
        name: 'calculateChangeLeadTime',
        reads: [
          'project_mapping',
          'pull_requests',
          'pull_request_commits',
          'pull_request_comments',
          'cicd_deployment_commits',
          'commits_diffs',
        ],
        writes: ['project_pr_metrics'],
        domainTypes: ['CICD', 'CODE'],
      },
      calculateChangeLeadTime,
    ),
    calculation(
      {
        name: 'ConvertIssuesToIncidents',
        reads: ['project_mapping', 'board_issues', 'issues', 'issue_assignees'],
        writes: ['incidents', 'incident_assignees'],
        domainTypes: ['TICKET'],
      },
      convertIssuesToIncidents,
    ),
    calculation(
      {
        name: 'ConnectIncidentToDeployment',
        reads: ['project_mapping', 'incidents', 'cicd_deployment_commits', '_weir_deployment_runs'],
        writes: ['project_incident_deployment_relationships', '_weir_rollouts', '_weir_number_changes'],
        domainTypes: ['CICD', 'TICKET'],
      },
      // Rollouts have no subtask of their own, because it would be missing in stored plans, which name their subtasks.
      async (run) => {
        const connected = await connectIncidentToDeployment(run)
        await calculateRollouts(run, NAME)
        await noteChangedNumbers(run, NAME)
        return connected
      },
    ),
  ],
}
