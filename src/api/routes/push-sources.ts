import type { PushSource } from '../../plugin-kit/spec/push-source.ts'
import type { Api, ApiContext } from '../api.ts'
import { pushConnectionRoutes } from './push-connections.ts'
import { pushDeliveryRoutes } from './push-deliveries.ts'
import { pushMessageRoutes } from './push-messages.ts'
import { placesOf } from './push-places.ts'

/** Connections that tools of any kind push to. */
export function pushSourceRoutes(api: Api, pushSource: PushSource, context: ApiContext): void {
  const places = placesOf(pushSource.name)
  pushConnectionRoutes(api, pushSource, places, context)
  pushMessageRoutes(api, pushSource, places, context)
  pushDeliveryRoutes(api, pushSource, context)
}
