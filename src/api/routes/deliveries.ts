/** Deliveries that sources send by themselves: the address to send to, and the secret that signs them. */

import type { FastifyRequest } from 'fastify'
import { z } from 'zod'
import {
  type DeliveryRow,
  deliveryService,
  deliverySpecOf,
  isReplayable,
  LONGEST_PAYLOAD,
  MOST_KEPT,
  type SentTo,
  WHOLE,
} from '../../control-plane/connections/deliveries.ts'
import { shownColumns } from '../../control-plane/shown-columns.ts'
import { equalTo, publicRow, type QueryOf, selectPage } from '../../control-plane/store.ts'
import { UserError } from '../../errors.ts'
import type { SentDelivery } from '../../plugin-kit/spec/deliveries.ts'
import { body, id } from '../../plugin-kit/spec/request-values.ts'
import { webhookDeliveries } from '../../system/deliveries.ts'
import { actorOf } from '../access/gate.ts'
import type { Routes } from '../api.ts'
import { answers, paging, success, timeOrNull } from '../contract/common.ts'
import { done } from '../envelope.ts'
import { readSentDelivery } from '../read-delivery.ts'

const tags = ['deliveries']
const DELIVERIES = '/v1/plugins/:plugin/connections/:connectionId/deliveries'
const params = z.object({ plugin: z.string().max(60), connectionId: id })
type Params = z.infer<typeof params>

const delivery = z
  .object(shownColumns(webhookDeliveries))
  .omit({ body: true })
  .extend({
    kind: z.string().meta({ description: "The source's name of the event." }),
    deliveryId: z.string().meta({ description: 'By which the source knows it.' }),
    scope: z.string().meta({ description: 'What it is about, by the name that the source gives it.' }),
    state: z.enum(['waiting', 'applied', 'ignored', 'refused', 'failed']),
    effect: z.string().meta({ description: 'What it changed, or why nothing.' }),
    isReplayable: z.boolean().meta({ description: 'Whether it is kept whole, so that it can be applied again.' }),
    status: z.int().meta({ description: 'Status of the answer; below 300 the delivery was accepted.' }),
    message: z.string().meta({ description: 'Why it was refused; empty if it was accepted.' }),
    payload: z.string().meta({ description: `Its first ${LONGEST_PAYLOAD} characters, secrets masked.` }),
    characters: z.int().meta({ description: 'Length of the whole delivery.' }),
  })

function shown(row: DeliveryRow) {
  const { body: _body, ...rest } = publicRow(webhookDeliveries, row)
  return { ...rest, isReplayable: isReplayable(row) }
}

/** Refused deliveries recorded per connection and minute. Senders who cannot sign must not fill the inbox, nor cost more than an answer. */
const MOST_NOTES = 10
const MINUTE_MS = 60_000
/** Longer deliveries are read in a thread, because other requests would have to wait. */
const LONGEST_READ_HERE = 64 * 1024

export const deliveryRoutes: Routes = (api, context) => {
  const { control, database, plugins, heavy } = context
  const service = deliveryService(control.context)
  const isNoted = noteLimit()
  const placeOf = (request: FastifyRequest) => {
    const { plugin, connectionId } = request.params as Params
    return { plugin, connectionId }
  }
  const receiverOf = async (request: FastifyRequest) => {
    const place = params.safeParse(request.params)
    const spec = place.success ? deliverySpecOf(plugins, place.data.plugin) : undefined
    const secret = place.success && spec && (await service.secretOf(place.data))
    if (spec && secret) return { spec, secret }
    const message = 'Nothing is taken here: an admin makes a secret for deliveries on the page of the connection.'
    throw new UserError(message, { status: 404 })
  }
  const settings = z.object({
    address: z.string().meta({ description: 'Where the source sends to, below the address of this server.' }),
    secretSince: timeOrNull.meta({
      description: 'When the secret was made; null: there is none, and nothing is taken.',
    }),
    isSecretOfSource: z.boolean().meta({ description: 'The source makes the secret, which is then entered here.' }),
    setup: z.object({ address: z.string(), secret: z.string(), events: z.string() }),
  })

  api.get(
    DELIVERIES,
    {
      config: { least: 'viewer', reach: 'everywhere', size: 'none', cost: 'light' },
      schema: {
        tags,
        summary: `The last ${MOST_KEPT} deliveries to a connection, newest first, with their results`,
        params,
        querystring: z.object(paging),
        response: answers(200, z.object({ count: z.int(), deliveries: z.array(delivery) }), 404),
      },
    },
    async ({ params: { plugin, connectionId }, query }) => {
      const own = { plugin, connection_id: connectionId }
      const narrow = (rows: QueryOf<typeof webhookDeliveries>) => equalTo<typeof webhookDeliveries>(rows, own)
      const newest = [['id', 'desc']] as const
      const { count, items } = await selectPage(database.kysely, webhookDeliveries, query, narrow, newest, WHOLE)
      return { count, deliveries: items.map(shown) }
    },
  )
  api.get(
    `${DELIVERIES}/setup`,
    {
      config: { least: 'viewer', reach: 'everywhere', size: 'none', cost: 'light' },
      schema: {
        tags,
        summary: 'Where a source sends what changes there, and how that is set up',
        params,
        response: answers(200, settings, 404),
      },
    },
    async (request) => {
      const place = placeOf(request)
      const { setup, isSecretOfSource = false } = service.specOf(place.plugin)
      const secretSince = await service.secretSince(place)
      return { address: addressOf(place), secretSince, isSecretOfSource, setup }
    },
  )
  api.post(
    `${DELIVERIES}/secret`,
    {
      config: { least: 'admin', reach: 'everywhere', size: 'small', cost: 'light' },
      schema: {
        tags,
        summary: 'Make a secret that deliveries are signed with, in place of the one before; nothing shows it again',
        params,
        response: answers(200, z.object({ secret: z.string() }), 400, 404),
      },
    },
    async (request) => ({ secret: await service.renewSecret(placeOf(request), actorOf(request)) }),
  )
  api.put(
    `${DELIVERIES}/secret`,
    {
      config: { least: 'admin', reach: 'everywhere', size: 'small', cost: 'light' },
      schema: {
        tags,
        summary: 'Enter the secret that a source made, in place of the one before; nothing shows it again',
        params,
        body: body({ secret: z.string().trim().min(8).max(500) }),
        response: answers(200, success, 400, 404),
      },
    },
    async (request) => {
      await service.renewSecret(placeOf(request), actorOf(request), request.body.secret)
      return done()
    },
  )
  api.delete(
    `${DELIVERIES}/secret`,
    {
      config: { least: 'admin', reach: 'everywhere', size: 'small', cost: 'light' },
      schema: {
        tags,
        summary: 'Take no deliveries any more',
        params,
        response: answers(200, success, 404),
      },
    },
    async (request) => {
      await service.removeSecret(placeOf(request), actorOf(request))
      return done()
    },
  )
  api.post(
    `${DELIVERIES}/:id/replay`,
    {
      config: { least: 'operator', reach: 'everywhere', size: 'small', cost: 'light' },
      schema: {
        tags,
        summary: 'Apply a delivery of a source again',
        params: params.extend({ id }),
        response: answers(200, success, 404),
      },
    },
    async (request) => {
      await service.replay(placeOf(request), request.params.id, actorOf(request))
      return done()
    },
  )

  // The body is kept as bytes, because the signature was made from them.
  void api.register(async (inner) => {
    const own = inner as typeof api
    own.removeAllContentTypeParsers()
    own.addContentTypeParser('*', { parseAs: 'buffer' }, async (_request: FastifyRequest, body: unknown) => body)
    own.post(
      DELIVERIES,
      {
        config: { least: 'signed', reach: 'everywhere', size: 'delivery', cost: 'heavy' },
        schema: {
          tags,
          summary: 'Take what a source sends, when it is signed with the secret of the connection',
          description:
            'The source signs it in its own way. It is kept, and applied as soon as nobody collects the scope.',
          params,
          // Sources add their own parameters to the address: Jira adds who did it.
          querystring: z.looseObject({}),
          body: z.any().meta({ description: 'As the source sends it.' }),
          response: answers(202, z.object({ id: z.int(), state: z.string() }), 401, 404),
        },
        // Runs before the body is read, so that megabytes are not taken in for nothing.
        onRequest: async (request) => void (await receiverOf(request)),
      },
      async (request, reply) => {
        const to: SentTo = { ...placeOf(request), path: request.url.split('?')[0] as string, address: request.ip }
        const { spec, secret } = await receiverOf(request)
        const sent = sentBy(request)
        if (!spec.isGenuine(sent, secret)) {
          const message = 'The delivery is not signed with the secret of this connection: enter it at the source.'
          if (isNoted(to)) await service.refuse(to, 401, message)
          throw new UserError(message, { status: 401 })
        }
        const read =
          sent.body.length > LONGEST_READ_HERE
            ? await heavy.run('readSentDelivery', to.plugin, sent)
            : heavy.here('readSentDelivery', () => readSentDelivery(spec, sent))
        const { isKnown, ...taken } = await service.take(to, read)
        return reply.code(202).send(taken)
      },
    )
  })
}

const addressOf = ({ plugin, connectionId }: Params): string =>
  DELIVERIES.replace(':plugin', plugin).replace(':connectionId', String(connectionId))

function sentBy({ headers, query, body }: FastifyRequest): SentDelivery {
  const single = (values: Record<string, unknown>) =>
    Object.fromEntries(
      Object.entries(values).map(([name, value]) => [name, typeof value === 'string' ? value : undefined]),
    )
  return {
    headers: single(headers),
    query: single(query as Record<string, unknown>),
    body: Buffer.isBuffer(body) ? body : Buffer.alloc(0),
  }
}

function noteLimit(): (to: SentTo) => boolean {
  let counts = new Map<string, number>()
  let since = Date.now()
  return ({ plugin, connectionId }) => {
    if (Date.now() - since > MINUTE_MS) {
      counts = new Map()
      since = Date.now()
    }
    const place = `${plugin} ${connectionId}`
    const count = (counts.get(place) ?? 0) + 1
    counts.set(place, count)
    return count <= MOST_NOTES
  }
}
