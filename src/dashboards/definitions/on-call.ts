import type { Dashboard } from '../dashboard.ts'
import { onCallSections } from '../parts/on-call.ts'
import { scopesVariable, sourceIssues, sourceIssuesByBoard } from '../populations.ts'
import { INTERVAL } from '../variables.ts'

/** Makes the dashboard of one on-call tool, with incidents by service. */
function onCall(plugin: string, title: string): Dashboard {
  const SERVICE = scopesVariable(plugin, 'boards', {
    name: 'service',
    title: 'Service',
    remedy: `No service of ${title} was collected: connect ${title}, add its services to a project, and collect.`,
  })
  return {
    name: plugin,
    title,
    question: 'Which services fail, how urgent is it, who is called, and how long does it take to restore them?',
    group: 'Sources',
    variables: [SERVICE, INTERVAL],
    sections: onCallSections(sourceIssues(plugin, SERVICE.name), sourceIssuesByBoard(plugin, SERVICE.name)),
  }
}

export const pagerduty = onCall('pagerduty', 'PagerDuty')
export const opsgenie = onCall('opsgenie', 'Opsgenie')
