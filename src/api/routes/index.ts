import type { Api, ApiContext, Routes } from '../api.ts'
import { alertRoutes } from './alerts.ts'
import { answerRoutes } from './answer.ts'
import { apiKeyRoutes } from './api-keys.ts'
import { auditRoutes } from './audit.ts'
import { authRoutes } from './auth.ts'
import { blueprintRoutes } from './blueprints.ts'
import { collectedRoutes } from './collected.ts'
import { configAsCodeRoutes } from './config-as-code.ts'
import { connectionListRoutes } from './connection-lists.ts'
import { connectionRoutes } from './connections.ts'
import { dashboardRoutes } from './dashboards.ts'
import { dataRoutes } from './data.ts'
import { deliveryRoutes } from './deliveries.ts'
import { domainRowRoutes } from './domain-rows.ts'
import { fourKeyRoutes } from './four-keys.ts'
import { groupRoutes } from './groups.ts'
import { installationRoutes } from './installation.ts'
import { mcpRoutes } from './mcp.ts'
import { metricRoutes } from './metrics.ts'
import { mineRoutes } from './mine.ts'
import { nameRoutes } from './names.ts'
import { overviewRoutes } from './overview.ts'
import { ownDashboardRoutes } from './own-dashboards.ts'
import { ownMeasureRoutes } from './own-measures.ts'
import { ownRoutes } from './own-routes.ts'
import { pipelineRoutes } from './pipelines.ts'
import { planRoutes } from './plans.ts'
import { pluginRoutes } from './plugins.ts'
import { projectRoutes } from './projects.ts'
import { pushSourceRoutes } from './push-sources.ts'
import { queueRoutes } from './queue.ts'
import { remoteScopeRoutes } from './remote-scopes.ts'
import { rolloutRoutes } from './rollouts.ts'
import { scopeConfigRoutes } from './scope-configs.ts'
import { scopeRoutes } from './scopes.ts'
import { selectorRoutes } from './selectors.ts'
import { serviceReportRoutes } from './service-report.ts'
import { sharedDashboardRoutes } from './shared-dashboards.ts'
import { storeRoutes } from './store.ts'
import { systemRoutes } from './system.ts'
import { trafficRoutes } from './traffic-door.ts'
import { webClientRoutes } from './web-client.ts'

/** The order is that of the description. */
const coreOf = (traffic: Routes): readonly Routes[] => [
  systemRoutes,
  ownMeasureRoutes,
  webClientRoutes,
  authRoutes,
  projectRoutes,
  groupRoutes,
  connectionListRoutes,
  blueprintRoutes,
  selectorRoutes,
  planRoutes,
  pipelineRoutes,
  collectedRoutes,
  apiKeyRoutes,
  storeRoutes,
  pluginRoutes,
  domainRowRoutes,
  auditRoutes,
  configAsCodeRoutes,
  traffic,
  answerRoutes,
  metricRoutes,
  fourKeyRoutes,
  serviceReportRoutes,
  rolloutRoutes,
  mcpRoutes,
  alertRoutes,
  dashboardRoutes,
  ownDashboardRoutes,
  sharedDashboardRoutes,
  nameRoutes,
  deliveryRoutes,
  dataRoutes,
  overviewRoutes,
  installationRoutes,
  queueRoutes,
  mineRoutes,
]

export async function coreRoutes(api: Api, context: ApiContext): Promise<void> {
  for (const routes of coreOf(await trafficRoutes())) routes(api, context)
}

/** Adds the routes that every data source has, from its own description, and the routes that a plugin defines itself. */
export function sourceRoutes(api: Api, context: ApiContext): void {
  for (const plugin of context.plugins) {
    const { source, pushSource } = plugin
    ownRoutes(api, plugin, context)
    if (pushSource) pushSourceRoutes(api, pushSource, context)
    if (!source || source.settingsOf) continue
    connectionRoutes(api, source, context)
    scopeRoutes(api, source, context)
    if (Object.keys(source.scopeConfig.fields).length > 0) scopeConfigRoutes(api, source, context)
    remoteScopeRoutes(api, source, context)
  }
}
