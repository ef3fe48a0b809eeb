import { z } from 'zod'
import { ROLES } from '../../config/config.ts'
import { UserError } from '../../errors.ts'
import {
  body,
  example,
  idParameter,
  moment,
  nullAsAbsent,
  pathPattern,
  text,
} from '../../plugin-kit/spec/request-values.ts'
import { apiKey, apiKeyService } from '../access/api-keys.ts'
import { actorOf } from '../access/gate.ts'
import type { Routes } from '../api.ts'
import { answers, paging, success } from '../contract/common.ts'
import { done } from '../envelope.ts'

const tags = ['API keys']

export const apiKeyRoutes: Routes = (api, { database, secrets }) => {
  const keys = apiKeyService(database, secrets)
  api.get(
    '/api-keys',
    {
      config: { least: 'admin', reach: 'everywhere', size: 'none', cost: 'light' },
      schema: {
        tags,
        summary: 'API keys, newest first, without the keys themselves',
        querystring: z.object(paging),
        response: answers(200, z.object({ count: z.int(), apikeys: z.array(apiKey) })),
      },
    },
    async ({ query }) => {
      const { count, items } = await keys.list(query)
      return { count, apikeys: items }
    },
  )
  const newKey = body(
    {
      name: text.pipe(z.string().trim().min(1, 'must not be empty').max(255)),
      type: text.pipe(z.string().min(1, 'must not be empty').max(40)),
      allowedPath: pathPattern.pipe(z.string().min(1, 'must not be empty').max(255)),
      expiredAt: nullAsAbsent(moment),
      role: nullAsAbsent(z.enum(ROLES)),
      projects: nullAsAbsent(z.array(text.pipe(z.string().min(1).max(100))).max(100)),
    },
    ['id', 'extra'],
  ).meta(example({ name: 'reports', type: 'devlake', allowedPath: '/v1/metrics/.*' }))
  api.post(
    '/api-keys',
    {
      config: { least: 'admin', reach: 'everywhere', size: 'small', cost: 'light' },
      schema: {
        tags,
        summary: 'Create an API key for paths under /rest; only this answer shows it',
        body: newKey,
        response: answers(201, apiKey),
      },
    },
    async (request, reply) => {
      const { expiredAt, ...key } = request.body
      if (key.projects && !key.role)
        throw new UserError('role is missing: it says what the key may do in its projects.')
      const created = await keys.create({ ...key, ...(expiredAt && { expiredAt }) }, actorOf(request))
      return reply.code(201).send(created)
    },
  )
  api.put(
    '/api-keys/:id',
    {
      config: { least: 'admin', reach: 'everywhere', size: 'small', cost: 'light' },
      schema: {
        tags,
        summary: 'Renew an API key; the old one stops working',
        params: idParameter,
        response: answers(200, apiKey, 404),
      },
    },
    (request) => keys.renew(request.params.id, actorOf(request)),
  )
  api.delete(
    '/api-keys/:id',
    {
      config: { least: 'admin', reach: 'everywhere', size: 'small', cost: 'light' },
      schema: { tags, summary: 'Delete an API key', params: idParameter, response: answers(200, success, 404) },
    },
    async (request) => {
      await keys.remove(request.params.id, actorOf(request))
      return done()
    },
  )
}
