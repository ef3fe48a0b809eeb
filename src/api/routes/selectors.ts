/** Rules that add scopes to a blueprint automatically. */

import type { FastifyRequest } from 'fastify'
import { z } from 'zod'
import {
  addSelector,
  listSelectors,
  removeSelector,
  type SelectorContext,
  type StandingSelector,
} from '../../config-as-code/standing-selectors.ts'
import { id, idParameter } from '../../plugin-kit/spec/request-values.ts'
import { actorOf } from '../access/gate.ts'
import type { Routes } from '../api.ts'
import { plain } from '../api.ts'
import { answers, REMOTE_FAILURES } from '../contract/common.ts'
import { addedSelector, newSelector, selectorList } from '../contract/selectors.ts'
import { patience, stopWith } from '../stream.ts'

const tags = ['blueprints']
const BASE = '/v1/blueprints/:id/selectors'
const MOST_CHOSEN = 5000

const publicSelector = ({ scopeConfigId, topic, ...selector }: StandingSelector) => ({
  ...selector,
  topic: topic ?? null,
  scopeConfigId: scopeConfigId || null,
})
const list = (selectors: readonly StandingSelector[]) => ({ selectors: selectors.map(publicSelector) })

export const selectorRoutes: Routes = (api, { control, database, services, servicesFor }) => {
  const contextOf = (request: FastifyRequest): SelectorContext => ({
    control: control.context,
    services,
    servicesOn: (inside) => servicesFor(request, inside),
    actor: actorOf(request),
  })
  api.get(
    BASE,
    {
      config: { least: 'viewer', reach: 'blueprint', size: 'none', cost: 'light' },
      schema: {
        tags,
        summary: 'Selectors such as `acme/*`: new scopes that match are added at the next run',
        params: idParameter,
        response: answers(200, selectorList, 404),
      },
    },
    async ({ params }) => {
      await services.blueprints.get(params.id)
      return plain(list(await listSelectors(database, params.id)))
    },
  )
  api.post(
    BASE,
    {
      config: { least: 'admin', reach: 'everywhere', size: 'settings', cost: 'light' },
      schema: {
        tags,
        summary: 'Add a selector; scopes that match now are added at once',
        params: idParameter,
        body: newSelector,
        response: answers(201, addedSelector, 404, 409, ...REMOTE_FAILURES),
      },
    },
    async (request, reply) => {
      const { except = [], archived = false, topic, scopeConfigId = 0, allowEmpty = false, ...rest } = request.body
      const selector = { ...rest, except, archived, scopeConfigId, ...(topic && { topic }) }
      const asking = { allowsEmpty: allowEmpty, signal: patience(stopWith(reply)) }
      const added = await addSelector(contextOf(request), request.params.id, selector, asking)
      const scopes = added.chosen.map(({ id: scopeId, data, isNew }) => ({
        id: scopeId,
        name: String(data.fullName ?? data.name ?? scopeId),
        isNew,
      }))
      return reply.code(201).send(
        plain({
          selector: publicSelector(added.selector),
          count: scopes.length,
          newCount: scopes.filter(({ isNew }) => isNew).length,
          scopes: scopes.slice(0, MOST_CHOSEN),
        }),
      )
    },
  )
  api.delete(
    `${BASE}/:selectorId`,
    {
      config: { least: 'admin', reach: 'blueprint', size: 'small', cost: 'light' },
      schema: {
        tags,
        summary: 'Delete a selector; the scopes that it added stay',
        params: z.object({ id, selectorId: z.string().max(100) }),
        response: answers(200, selectorList, 404),
      },
    },
    async (request) =>
      plain(list(await removeSelector(contextOf(request), request.params.id, request.params.selectorId))),
  )
}
