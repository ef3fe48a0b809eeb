import {
  createOwnDashboard,
  getOwnDashboard,
  listOwnDashboards,
  ownDashboardRecord,
  removeOwnDashboard,
  updateOwnDashboard,
} from '../../control-plane/dashboards/own-dashboards.ts'
import { dora } from '../../dashboards/definitions/dora.ts'
import { example, idParameter, present } from '../../plugin-kit/spec/request-values.ts'
import { actorOf } from '../access/gate.ts'
import { requireMaker } from '../access/own-parts.ts'
import type { Routes } from '../api.ts'
import { plain } from '../api.ts'
import { answers, success } from '../contract/common.ts'
import { newOwnDashboard, ownDashboardChanges } from '../contract/dashboards.ts'
import { unlessChanged } from '../contract/seen.ts'
import { done } from '../envelope.ts'

const tags = ['dashboards']
const BASE = '/v1/own-dashboards'
const EXAMPLE = { title: 'Monday meeting', panels: [{ dashboard: dora.name, panel: 'change-lead-time', width: 12 }] }

export const ownDashboardRoutes: Routes = (api, { database }) => {
  api.get(
    BASE,
    {
      config: { least: 'viewer', reach: 'somewhere', size: 'none', cost: 'light' },
      schema: {
        tags,
        summary: 'Dashboards that users built from existing panels',
        response: answers(200, ownDashboardRecord.array()),
      },
    },
    async () => plain(await listOwnDashboards(database)),
  )
  api.post(
    BASE,
    {
      config: { least: 'operator', reach: 'somewhere', size: 'settings', cost: 'light' },
      schema: {
        tags,
        summary: 'Create a dashboard from existing panels',
        body: newOwnDashboard.meta(example(EXAMPLE)),
        response: answers(201, ownDashboardRecord, 404),
      },
    },
    async (request, reply) => {
      const { title, ...rest } = request.body
      const created = await createOwnDashboard(database, { title, ...present(rest) }, actorOf(request))
      return reply.code(201).send(plain(created))
    },
  )
  api.get(
    `${BASE}/:id`,
    {
      config: { least: 'viewer', reach: 'somewhere', size: 'none', cost: 'light' },
      schema: {
        tags,
        summary: 'One dashboard that a user built',
        params: idParameter,
        response: answers(200, ownDashboardRecord, 404),
      },
    },
    async ({ params }) => plain(await getOwnDashboard(database, params.id)),
  )
  api.patch(
    `${BASE}/:id`,
    {
      config: { least: 'operator', reach: 'somewhere', size: 'settings', cost: 'light' },
      schema: {
        tags,
        summary: 'Change the name or the panels of such a dashboard',
        params: idParameter,
        headers: unlessChanged,
        body: ownDashboardChanges,
        response: answers(200, ownDashboardRecord, 404, 412),
      },
    },
    async (request) => {
      const { params, body, headers } = request
      const allow = (makerId: string) => requireMaker(request, makerId)
      const changes = present(body)
      return plain(await updateOwnDashboard(database, params.id, changes, headers['if-match'], actorOf(request), allow))
    },
  )
  api.delete(
    `${BASE}/:id`,
    {
      config: { least: 'operator', reach: 'somewhere', size: 'small', cost: 'light' },
      schema: {
        tags,
        summary: 'Delete such a dashboard and the public links to it; its panels stay in their own dashboards',
        params: idParameter,
        response: answers(200, success, 404),
      },
    },
    async (request) => {
      await removeOwnDashboard(database, request.params.id, actorOf(request), (makerId) =>
        requireMaker(request, makerId),
      )
      return done()
    },
  )
}
