import {
  createOwnDashboard,
  getOwnDashboard,
  listOwnDashboards,
  removeOwnDashboard,
  updateOwnDashboard,
} from '../../pipelines/own-dashboards.ts'
import { actorOf } from '../access/gate.ts'
import type { Routes } from '../api.ts'
import { answers, example, idParameter, success } from '../contract/common.ts'
import { newOwnDashboard, ownDashboardChanges, ownDashboardRecord } from '../contract/dashboards.ts'
import { present } from '../contract/lenient.ts'
import { unlessChanged } from '../contract/seen.ts'
import { done } from '../envelope.ts'

const tags = ['dashboards']
const BASE = '/v1/own-dashboards'
const EXAMPLE = { title: 'Monday meeting', panels: [{ dashboard: 'dora', panel: 'change-lead-time', width: 12 }] }

export const ownDashboardRoutes: Routes = (api, { database }) => {
  api.get(
    BASE,
    {
      schema: {
        tags,
        summary: 'Dashboards that people arranged from panels of others',
        response: answers(200, ownDashboardRecord.array()),
      },
    },
    () => listOwnDashboards(database) as any,
  )
  api.post(
    BASE,
    {
      schema: {
        tags,
        summary: 'Arrange a dashboard from panels of others',
        body: newOwnDashboard.meta(example(EXAMPLE)),
        response: answers(201, ownDashboardRecord, 404),
      },
    },
    async (request, reply) => {
      const { title, ...rest } = request.body
      const created = await createOwnDashboard(database, { title, ...present(rest) }, actorOf(request))
      return reply.code(201).send(created as any)
    },
  )
  api.get(
    `${BASE}/:id`,
    {
      schema: {
        tags,
        summary: 'One of them',
        params: idParameter,
        response: answers(200, ownDashboardRecord, 404),
      },
    },
    ({ params }) => getOwnDashboard(database, params.id) as any,
  )
  api.patch(
    `${BASE}/:id`,
    {
      schema: {
        tags,
        summary: 'Rename it, or put its panels in another order, width or number',
        params: idParameter,
        headers: unlessChanged,
        body: ownDashboardChanges,
        response: answers(200, ownDashboardRecord, 404, 412),
      },
    },
    (request) =>
      updateOwnDashboard(
        database,
        request.params.id,
        present(request.body),
        request.headers['if-match'],
        actorOf(request),
      ) as any,
  )
  api.delete(
    `${BASE}/:id`,
    {
      schema: {
        tags,
        summary: 'Delete it, and public links to it; the panels stay where they come from',
        params: idParameter,
        response: answers(200, success, 404),
      },
    },
    async (request) => {
      await removeOwnDashboard(database, request.params.id, actorOf(request))
      return done()
    },
  )
}
