import { incidentAge } from '../../metrics/definitions/incident-age.ts'
import { recoveryTime } from '../../metrics/definitions/recovery-time.ts'
import { timeToRestore } from '../../metrics/definitions/time-to-restore.ts'
import type { Dashboard } from '../dashboard.ts'
import { numberPanel, seriesPanel } from '../panels.ts'
import { incidentTimes } from '../parts/blame.ts'
import { incidentFlow, incidentsByComponent, incidentsCreated, openIncidents } from '../parts/incidents.ts'
import { projectIncidents } from '../populations.ts'
import { INTERVAL, PROJECT } from '../variables.ts'

export const doraRecoveryTime: Dashboard = {
  name: 'dora-recovery-time',
  title: 'Recovery and restore times',
  question: 'How long does it take to recover from a bad deployment, and to end any incident?',
  group: 'Delivery',
  variables: [PROJECT, INTERVAL],
  sections: [
    {
      panels: [
        numberPanel(recoveryTime),
        numberPanel(timeToRestore),
        incidentsCreated(projectIncidents),
        numberPanel(incidentAge),
      ],
    },
    {
      panels: [
        seriesPanel(recoveryTime),
        seriesPanel(timeToRestore),
        incidentFlow(projectIncidents),
        incidentsByComponent(projectIncidents),
      ],
    },
    { panels: [incidentTimes, openIncidents(projectIncidents)] },
  ],
}
