import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import { type AlertSettings, alertService } from '../../alerts/alert-service.ts'
import { digestOf } from '../../alerts/digest.ts'
import { publicUrlOf } from '../../alerts/links.ts'
import { sendNow } from '../../alerts/send.ts'
import { idParameter } from '../../plugin-kit/spec/request-values.ts'
import { actorOf, visibleProjects } from '../access/gate.ts'
import type { Routes } from '../api.ts'
import { alertBody, alertChange, alertRecord, alertTest } from '../contract/alerts.ts'
import { answers, success } from '../contract/common.ts'
import { done } from '../envelope.ts'

const tags = ['alerts']

export const alertRoutes: Routes = (api, { config, database, secrets, plugins }) => {
  const context = { database, secrets }
  const alerts = alertService(context)
  api.get(
    '/v1/alerts',
    {
      config: { least: 'viewer', reach: 'somewhere', size: 'none', cost: 'light' },
      schema: {
        tags,
        summary: 'Alerts and weekly digests, with their state and last message',
        response: answers(200, z.object({ alerts: z.array(alertRecord) })),
      },
    },
    async (request) => ({ alerts: await alerts.list(visibleProjects(request)) }),
  )
  api.post(
    '/v1/alerts',
    {
      config: { least: 'admin', reach: 'everywhere', size: 'settings', cost: 'light' },
      schema: {
        tags,
        summary: 'Create an alert (kind threshold) or a weekly digest (kind digest)',
        body: alertBody,
        response: answers(201, alertRecord, 404),
      },
    },
    async (request, reply) => {
      const { kind, ...settings } = request.body
      return reply.code(201).send(await alerts.create(kind, settings as Partial<AlertSettings>, actorOf(request)))
    },
  )
  api.patch(
    '/v1/alerts/:id',
    {
      config: { least: 'admin', reach: 'everywhere', size: 'settings', cost: 'light' },
      schema: {
        tags,
        summary: 'Change an alert; what is left out stays as it is',
        params: idParameter,
        body: alertChange,
        response: answers(200, alertRecord, 404),
      },
    },
    (request) => alerts.update(request.params.id, request.body as Partial<AlertSettings>, actorOf(request)),
  )
  api.delete(
    '/v1/alerts/:id',
    {
      config: { least: 'admin', reach: 'everywhere', size: 'small', cost: 'light' },
      schema: {
        tags,
        summary: 'Delete an alert and its unsent messages',
        params: idParameter,
        response: answers(200, success, 404),
      },
    },
    async (request) => {
      await alerts.remove(request.params.id, actorOf(request))
      return done()
    },
  )
  api.post(
    '/v1/alerts/:id/test',
    {
      config: { least: 'admin', reach: 'everywhere', size: 'small', cost: 'light' },
      schema: {
        tags,
        summary: 'Send a test message, or the digest as it would be now',
        params: idParameter,
        response: answers(200, alertTest, 404),
      },
    },
    async ({ params }) => {
      const row = await alerts.stored(params.id)
      const text = `${row.name}: this is a test. Messages of this alert arrive here.`
      const message =
        row.kind === 'digest'
          ? await digestOf({ database, plugins, publicUrl: publicUrlOf(config) }, row.project_name, new Date())
          : { id: randomUUID(), type: 'alert.test' as const, text, at: new Date() }
      const { code, failure } = await sendNow(context, row.id, message)
      return { isTaken: failure === '', responseCode: code, failure }
    },
  )
}
