import { sql } from 'kysely'
import { count, moment, text } from '../columns.ts'
import type { Dashboard, Panel } from '../dashboard.ts'
import { countIf, named } from '../expressions.ts'
import { deploymentFlow, deploymentResults, deploymentsCount, latestDeployments } from '../parts/deployments.ts'
import { incidentFlow, incidentsCreated, latestIncidents } from '../parts/incidents.ts'
import { scopesVariable, sourceDeployments, sourceIncidents } from '../populations.ts'
import { isInRange } from '../statements.ts'
import { INTERVAL } from '../variables.ts'

const PLUGIN = 'webhook'
const CONNECTION = scopesVariable(PLUGIN, 'cicd_scopes', {
  name: 'connection',
  title: 'Webhook',
  remedy: 'There is no webhook connection that sent anything: create one, and let your tools report to it.',
})
const deployments = sourceDeployments(PLUGIN, CONNECTION.name)
const incidents = sourceIncidents(PLUGIN, CONNECTION.name)

const MESSAGES_REMEDY =
  'No message arrived in this range: let your tools report to the address of the webhook connection.'
const messages: Panel = {
  name: 'messages',
  title: 'Messages',
  definition:
    'Messages that arrived in the range, by what they were about and our answer; only the last of each connection are kept. Refused ones changed nothing.',
  look: 'table',
  columns: {
    kind: text('About'),
    taken: count('Taken'),
    refused: count('Refused'),
    reason: text('Why the last was refused'),
    latest: moment('Latest'),
  },
  statement: (query) => {
    const own = sql`select * from _weir_webhook_deliveries where ${isInRange(query, sql`created_at`)}`
    return sql`select delivery.kind, ${countIf(sql`delivery.status < 300`)} as taken, ${countIf(sql`delivery.status >= 300`)} as refused,
      max(case when delivery.id = newest.id then ${named('', sql`delivery.message`)} else '' end) as reason,
      max(delivery.created_at) as latest
      from (${own}) delivery left join (select kind, max(id) as id from (${own}) bad where status >= 300 group by kind) newest
        on newest.kind = delivery.kind
      group by delivery.kind order by delivery.kind limit 500`
  },
  remedy: MESSAGES_REMEDY,
}

export const webhooks: Dashboard = {
  name: 'webhooks',
  title: 'Webhooks',
  question: 'What did tools report by themselves, and was it taken?',
  group: 'Sources',
  variables: [CONNECTION, INTERVAL],
  sections: [
    {
      panels: [
        { ...deploymentsCount(deployments), width: 12 },
        { ...incidentsCreated(incidents), width: 12 },
      ],
    },
    { panels: [deploymentFlow(deployments), incidentFlow(incidents), deploymentResults(deployments), messages] },
    { panels: [latestDeployments(deployments), latestIncidents(incidents)] },
  ],
}
