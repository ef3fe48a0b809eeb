/** An inbox for each connection of a push source: the latest messages, and their results. */

import type { FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { isMessage, LONGEST_PAYLOAD, MOST_KEPT, trimInbox, WHOLE } from '../../control-plane/connections/deliveries.ts'
import { shownColumns } from '../../control-plane/shown-columns.ts'
import { equalTo, insertRow, publicRow, selectPage } from '../../control-plane/store.ts'
import { retrying } from '../../database/write.ts'
import type { PushSource } from '../../plugin-kit/spec/push-source.ts'
import { id } from '../../plugin-kit/spec/request-values.ts'
import { withBareAddresses } from '../../secrets/address-secrets.ts'
import { maskSecrets } from '../../secrets/secrets.ts'
import { webhookDeliveries } from '../../system/deliveries.ts'
import { actorOf } from '../access/gate.ts'
import type { Api, ApiContext } from '../api.ts'
import { answers, paging } from '../contract/common.ts'
import type { Place } from './push-places.ts'

const LONGEST_MESSAGE = 1000

/** Leaves out the columns that only deliveries of sources use. */
const delivery = z
  .object(shownColumns(webhookDeliveries))
  .omit({ plugin: true, deliveryId: true, scope: true, state: true, effect: true, body: true })
  .extend({
    kind: z.string().meta({ description: 'deployments, pull_requests, issues or issue/close' }),
    sender: z.string().meta({ description: 'Who sent it: a person, or the creator of the key.' }),
    status: z.int().meta({ description: 'Status of the answer; below 300 the message was accepted.' }),
    message: z.string().meta({ description: 'Why it was refused; empty if it was accepted.' }),
    payload: z.string().meta({ description: `Its first ${LONGEST_PAYLOAD} characters, secrets masked.` }),
    characters: z.int().meta({ description: 'Length of the whole message.' }),
  })

export function pushDeliveryRoutes(api: Api, { name: plugin }: PushSource, { database }: ApiContext): void {
  api.get(
    `/v1/${plugin}-deliveries`,
    {
      config: { least: 'viewer', reach: 'everywhere', size: 'none', cost: 'light' },
      schema: {
        tags: [plugin],
        summary: `The last ${MOST_KEPT} messages to a ${plugin} connection, newest first, with their results`,
        querystring: z.object({ connectionId: id, ...paging }),
        response: answers(200, z.object({ count: z.int(), deliveries: z.array(delivery) })),
      },
    },
    async ({ query: { connectionId, ...paged } }) => {
      const own = { connection_id: connectionId }
      const { count, items } = await selectPage(
        database.kysely,
        webhookDeliveries,
        paged,
        (rows) => equalTo<typeof webhookDeliveries>(rows, own).where(isMessage),
        [['id', 'desc']],
        WHOLE,
      )
      return { count, deliveries: items.map((row) => delivery.parse(publicRow(webhookDeliveries, row))) }
    },
  )
}

const TOO_MANY = 429

/** For routes that take messages: records each message, accepted or refused. If that fails, the sender is not refused. */
export function deliveryKeeper({ database, services }: Pick<ApiContext, 'database' | 'services'>) {
  return (kind: string, place: Place) =>
    async (request: FastifyRequest, reply: FastifyReply, answer: unknown): Promise<unknown> => {
      // Messages beyond the rate limit must not cost more than their refusal.
      if (reply.statusCode === TOO_MANY) return answer
      try {
        const connectionId = await place.knownId(services, request)
        if (connectionId !== undefined) await keep(connectionId, kind, request, reply, answer)
      } catch (error) {
        request.log.warn({ err: error }, 'a delivery could not be recorded')
      }
      return answer
    }

  function keep(
    connectionId: number,
    kind: string,
    request: FastifyRequest,
    { statusCode }: FastifyReply,
    answer: unknown,
  ): Promise<void> {
    const { id: actorId, name, address } = actorOf(request)
    const whole = request.body === undefined ? '' : JSON.stringify(maskSecrets(withBareAddresses(request.body)))
    const row = {
      connection_id: connectionId,
      kind,
      path: request.url.split('?')[0],
      sender: name || actorId,
      address,
      status: statusCode,
      message: statusCode < 300 ? '' : reasonIn(answer),
      payload: whole.slice(0, LONGEST_PAYLOAD),
      characters: whole.length,
    }
    const { kysely } = database
    return retrying(database, async () => {
      await insertRow(kysely, webhookDeliveries, row)
      await trimInbox(kysely, { connection_id: connectionId, plugin: '' })
    })
  }
}

function reasonIn(answer: unknown): string {
  try {
    const { message } = JSON.parse(String(answer)) as { message?: unknown }
    return String(message ?? '').slice(0, LONGEST_MESSAGE)
  } catch {
    return ''
  }
}
