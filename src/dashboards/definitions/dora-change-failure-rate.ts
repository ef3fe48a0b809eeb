import { changeFailureRate } from '../../metrics/definitions/change-failure-rate.ts'
import { reworkRate } from '../../metrics/definitions/rework-rate.ts'
import type { Dashboard } from '../dashboard.ts'
import { numberPanel, seriesPanel } from '../panels.ts'
import { deploymentsWithIncidents, failuresByRepository, incidentsAndDeployments, timeline } from '../parts/blame.ts'
import { deploymentsCount } from '../parts/deployments.ts'
import { incidentsByComponent, incidentsCreated } from '../parts/incidents.ts'
import { projectDeployments, projectIncidents } from '../populations.ts'
import { INTERVAL, PROJECT } from '../variables.ts'

export const doraChangeFailureRate: Dashboard = {
  name: 'dora-change-failure-rate',
  title: 'Change failure rate',
  question: 'Which deployments are held to have caused which incidents?',
  group: 'Delivery',
  variables: [PROJECT, INTERVAL],
  sections: [
    {
      panels: [
        numberPanel(changeFailureRate),
        deploymentsCount(projectDeployments),
        incidentsCreated(projectIncidents),
        numberPanel(reworkRate),
      ],
    },
    {
      panels: [
        seriesPanel(changeFailureRate),
        incidentsAndDeployments,
        failuresByRepository,
        incidentsByComponent(projectIncidents),
      ],
    },
    { panels: [deploymentsWithIncidents, timeline] },
  ],
}
