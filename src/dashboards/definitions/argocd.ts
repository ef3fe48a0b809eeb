import type { Dashboard } from '../dashboard.ts'
import {
  deploymentDurationSeries,
  deploymentFailures,
  deploymentSuccess,
  deploymentsByScope,
  meanDeploymentDuration,
} from '../parts/deployment-quality.ts'
import { deploymentFlow, deploymentResults, deploymentsCount, latestDeployments } from '../parts/deployments.ts'
import { scopesVariable, sourceDeployments } from '../populations.ts'
import { INTERVAL } from '../variables.ts'

const PLUGIN = 'argocd'
const APPLICATION = scopesVariable(PLUGIN, 'cicd_scopes', {
  name: 'scope',
  title: 'Application of Argo CD',
  remedy: 'No application of Argo CD was collected: connect Argo CD, add its applications to a project, and collect.',
})
const deployments = sourceDeployments(PLUGIN, APPLICATION.name)

export const argocd: Dashboard = {
  name: 'argocd',
  title: 'Argo CD',
  question: 'How often does Argo CD deploy, where to, and how well and fast do its syncs go?',
  group: 'Sources',
  variables: [APPLICATION, INTERVAL],
  sections: [
    {
      panels: [
        deploymentsCount(deployments),
        deploymentSuccess(deployments),
        deploymentFailures(deployments),
        meanDeploymentDuration(deployments),
      ],
    },
    { title: 'Over time', panels: [deploymentFlow(deployments), deploymentDurationSeries(deployments)] },
    {
      title: 'Which ones',
      panels: [
        deploymentResults(deployments),
        deploymentsByScope(deployments, 'Application'),
        latestDeployments(deployments),
      ],
    },
  ],
}
