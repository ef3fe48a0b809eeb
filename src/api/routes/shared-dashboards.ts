/** Public links to dashboards. Whoever has a link sees that dashboard with its values, and nothing else. */

import { didYouMean } from '../../basics/nearest.ts'
import { findDashboard } from '../../control-plane/dashboards/own-dashboards.ts'
import {
  listSharedDashboards,
  revokeSharedDashboard,
  type SharedDashboard,
  shareDashboard,
  sharedByToken,
  sharedDashboardRecord,
} from '../../control-plane/dashboards/shared-dashboards.ts'
import type { Dashboard } from '../../dashboards/dashboard.ts'
import { dora } from '../../dashboards/definitions/dora.ts'
import { rangeBefore, rangeOfText } from '../../dashboards/range.ts'
import { UserError } from '../../errors.ts'
import { example, idParameter } from '../../plugin-kit/spec/request-values.ts'
import { actorOf } from '../access/gate.ts'
import { inTurn, plain, type Routes } from '../api.ts'
import { answers, success } from '../contract/common.ts'
import {
  freshSharedDashboard,
  newSharedDashboard,
  panelName,
  publicDashboard,
  publicPanelQuery,
  rowsRecord,
  sharedToken,
} from '../contract/dashboards.ts'
import { answerPanel, choiceOf, choiceWith, recordOf } from '../dashboard-choice.ts'
import { done } from '../envelope.ts'

const tags = ['dashboards']
const BASE = '/v1/shared-dashboards'
const EXAMPLE = { dashboard: dora.name, values: { project: 'shop' }, from: 'now-6M', to: 'now' }

const linkRoutes: Routes = (api, { database, secrets }) => {
  api.get(
    BASE,
    {
      config: { least: 'operator', reach: 'everywhere', size: 'none', cost: 'light' },
      schema: {
        tags,
        summary: 'Public links, newest first, without their tokens',
        response: answers(200, sharedDashboardRecord.array()),
      },
    },
    async () => plain(await listSharedDashboards(database)),
  )
  api.post(
    BASE,
    {
      config: { least: 'operator', reach: 'everywhere', size: 'settings', cost: 'light' },
      schema: {
        tags,
        summary: 'Create a public link to a dashboard with these values; only this answer shows its token',
        body: newSharedDashboard.meta(example(EXAMPLE)),
        response: answers(201, freshSharedDashboard, 403, 404),
      },
    },
    async (request, reply) => {
      const { dashboard: name, values, from, to, expiresAt } = request.body
      const { dashboard } = await findDashboard(database, name)
      requireValues(dashboard, values)
      await choiceOf(database, request, dashboard, { values, from, to })
      const link = { dashboard: name, title: dashboard.title, values, from, to, expiresAt }
      return reply.code(201).send(plain(await shareDashboard(database, secrets, link, actorOf(request))))
    },
  )
  api.delete(
    `${BASE}/:id`,
    {
      config: { least: 'operator', reach: 'everywhere', size: 'small', cost: 'light' },
      schema: {
        tags,
        summary: 'Revoke a public link: it stops working at once',
        params: idParameter,
        response: answers(200, success, 404),
      },
    },
    async (request) => {
      await revokeSharedDashboard(database, request.params.id, actorOf(request))
      return done()
    },
  )
}

const viewRoutes: Routes = (api, { database, secrets }) => {
  const viewedBy = async (token: string) => {
    const link = await sharedByToken(database, secrets, token)
    return { link, viewed: await findDashboard(database, link.dashboard), range: rangeOfText(link) }
  }
  api.get(
    '/v1/shared/:token',
    {
      config: { least: 'anyone', reach: 'everywhere', size: 'none', cost: 'light' },
      schema: {
        tags,
        summary: 'The dashboard that a public link leads to',
        params: sharedToken,
        response: answers(200, publicDashboard, 404),
      },
    },
    async ({ params }) => {
      const { link, viewed, range } = await viewedBy(params.token)
      return plain({ ...(await recordOf(database, viewed, range)), values: link.values, expiresAt: link.expiresAt })
    },
  )
  api.get(
    '/v1/shared/:token/panels/:panel',
    {
      config: { least: 'anyone', reach: 'everywhere', size: 'none', cost: 'light' },
      schema: {
        tags,
        summary: 'The rows of a panel of it, with the values of the link',
        params: sharedToken.extend({ panel: panelName.shape.panel }),
        querystring: publicPanelQuery,
        response: answers(200, rowsRecord, 404),
      },
    },
    async ({ params, query }, reply) => {
      const { link, viewed, range } = await viewedBy(params.token)
      const placed = viewed.placed(params.panel)
      const period = query.period === 'before' ? rangeBefore(range) : range
      const choice = await choiceWith(database, placed.dashboard, period, ownValues(link, placed.dashboard))
      return answerPanel(database, placed, choice, 'json', reply)
    },
  )
}

export const sharedDashboardRoutes = inTurn(linkRoutes, viewRoutes)

/** A link does not ask for values, so every variable without an initial value needs a chosen one. */
function requireValues({ variables }: Dashboard, values: SharedDashboard['values']): void {
  const names = variables.map(({ name }) => name)
  const unknown = Object.keys(values).find((name) => !names.includes(name))
  if (unknown !== undefined) {
    throw new UserError(`The dashboard has no variable ${unknown}${didYouMean(unknown, names) || '.'}`)
  }
  const chosen = new Map(Object.entries(values))
  const open = variables.find(({ name, isList, options }) => !isList && !options && !chosen.has(name))
  if (open) throw new UserError(`${open.name} is missing: choose one before the dashboard is shared.`)
}

/** For a panel on a dashboard of a user: those values that the panel's original dashboard has as variables. */
const ownValues = ({ values }: SharedDashboard, { variables }: Dashboard): SharedDashboard['values'] =>
  Object.fromEntries(Object.entries(values).filter(([name]) => variables.some((each) => each.name === name)))
