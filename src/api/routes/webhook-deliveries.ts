/** An inbox for each webhook connection: what came last, and what became of it. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { withBareAddresses } from '../../address-secrets.ts'
import { retrying } from '../../database/write.ts'
import { deleteRows, equalTo, insertRow, publicRow, selectPage } from '../../pipelines/store.ts'
import { maskSecrets } from '../../secrets.ts'
import { webhookDeliveries } from '../../system/deliveries.ts'
import { actorOf } from '../access/gate.ts'
import type { ApiContext, Routes } from '../api.ts'
import { answers, id, paging, time } from '../contract/common.ts'
import { type Place, WEBHOOK } from './webhook-places.ts'

/** Older ones give way; the raw tables keep all that was taken. */
const MOST = 200
const LONGEST_PAYLOAD = 4000
const LONGEST_MESSAGE = 1000

const delivery = z.object({
  id: z.int(),
  connectionId: z.int(),
  kind: z.string().meta({ description: 'deployments, pull_requests, issues or issue/close' }),
  path: z.string(),
  sender: z.string().meta({ description: 'Who sent it: a person, or the creator of the key.' }),
  address: z.string(),
  status: z.int().meta({ description: 'Of the answer; below 300 the message was taken.' }),
  message: z.string().meta({ description: 'Why it was not taken; empty where it was.' }),
  payload: z.string().meta({ description: `Its first ${LONGEST_PAYLOAD} characters, secrets masked.` }),
  characters: z.int().meta({ description: 'How long the whole is.' }),
  createdAt: time,
  updatedAt: time,
})

export const webhookDeliveryRoutes: Routes = (api, { database }) => {
  api.get(
    '/v1/webhook-deliveries',
    {
      schema: {
        tags: [WEBHOOK],
        summary: `The last ${MOST} messages to a webhook connection, newest first, and what became of them`,
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
        (rows) => equalTo(rows, own),
        [['id', 'desc']],
      )
      return { count, deliveries: items.map((row) => publicRow(webhookDeliveries, row)) }
    },
  )
}

const TOO_MANY = 429

/** For a route that takes messages: keeps each, whether it was taken or refused. Nobody is refused because that failed. */
export function deliveryKeeper({ database, services }: Pick<ApiContext, 'database' | 'services'>) {
  return (kind: string, place: Place) =>
    async (request: FastifyRequest, reply: FastifyReply, answer: unknown): Promise<unknown> => {
      // Whoever sends too much must not cost more for it.
      if (reply.statusCode === TOO_MANY) return answer
      try {
        const connectionId = await place.knownId(services, request)
        if (connectionId !== undefined) await keep(connectionId, kind, request, reply, answer)
      } catch (error) {
        request.log.warn({ err: error }, 'a delivery could not be noted')
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
      ...{ connection_id: connectionId, kind, path: request.url.split('?')[0], sender: name || actorId, address },
      ...{ status: statusCode, message: statusCode < 300 ? '' : reasonIn(answer) },
      ...{ payload: whole.slice(0, LONGEST_PAYLOAD), characters: whole.length },
    }
    const { kysely } = database
    return retrying(database, async () => {
      await insertRow(kysely, webhookDeliveries, row)
      const old = await kysely
        .selectFrom(webhookDeliveries.name)
        .select('id')
        .where('connection_id', '=', connectionId)
        .orderBy('id', 'desc')
        .offset(MOST)
        .limit(MOST)
        .execute()
      if (old.length > 0) await deleteRows(kysely, webhookDeliveries, { id: old.map((each) => each.id) })
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
