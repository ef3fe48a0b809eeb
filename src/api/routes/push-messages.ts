import { z } from 'zod'
import { recordChange } from '../../control-plane/audit/record.ts'
import { wantCalculations } from '../../control-plane/runs/wanted-calculations.ts'
import { receive } from '../../plugin-kit/push/receive.ts'
import type { PushSource } from '../../plugin-kit/spec/push-source.ts'
import { example } from '../../plugin-kit/spec/request-values.ts'
import { actorOf } from '../access/gate.ts'
import type { Api, ApiContext } from '../api.ts'
import { answers, success } from '../contract/common.ts'
import { messageBody } from '../contract/message-body.ts'
import { done } from '../envelope.ts'
import { deliveryKeeper } from './push-deliveries.ts'
import type { Places } from './push-places.ts'

/** `issue/:issueKey/close` → `issue/close` */
const kindOf = (path: string) => path.replaceAll(/\/:\w+/g, '')
const namesIn = (path: string) => [...path.matchAll(/:(\w+)/g)].map(([, name]) => [name, z.string()])

export function pushMessageRoutes(
  api: Api,
  pushSource: PushSource,
  { byId, byShortId, byName, byProject }: Places,
  context: ApiContext,
): void {
  const { database, servicesFor } = context
  const keeper = deliveryKeeper(context)
  for (const { path, summary, message, example: value, isOfProject, take } of pushSource.deliveries) {
    const kind = kindOf(path)
    const body = message && messageBody(message).meta(value ? example(value) : {})
    for (const place of [byId, byShortId, byName, ...(isOfProject ? [byProject] : [])]) {
      api.post(
        `${place.path}/${path}`,
        {
          config: { least: 'operator', reach: place.reach, size: 'list', cost: 'light' },
          schema: {
            tags: [pushSource.name],
            summary: summary(place.title),
            params: place.params.extend(Object.fromEntries(namesIn(path))),
            ...(body && { body }),
            response: answers(200, success, 404),
          },
          onSend: keeper(kind, place),
        },
        async (request) => {
          const connectionId = await place.connectionId(servicesFor(request), request)
          const params = request.params as Readonly<Record<string, string>>
          await receive(database, pushSource, connectionId, async (inbox) => {
            await take(inbox, { params, body: request.body, url: request.url })
            const change = { action: 'push', subject: `${pushSource.name} ${kind}`, key: String(connectionId) } as const
            await recordChange(inbox.database.kysely, actorOf(request), { ...change, before: null, after: null })
            await wantCalculations(inbox.database, { plugin_name: pushSource.name, connection_id: connectionId })
          })
          return done()
        },
      )
    }
  }
}
