import type { Routes } from '../api.ts'
import { webhookConnectionRoutes } from './webhook-connections.ts'
import { webhookDeliveryRoutes } from './webhook-deliveries.ts'
import { webhookMessageRoutes } from './webhook-messages.ts'

/** Connections that tools of any kind push to. */
export const webhookRoutes: Routes = (api, context) => {
  webhookConnectionRoutes(api, context)
  webhookMessageRoutes(api, context)
  webhookDeliveryRoutes(api, context)
}
