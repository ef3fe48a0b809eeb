import { z } from 'zod'
import { engineOn } from '../../traffic/engine/connect.ts'
import { getSwitch } from '../../traffic/engine/store.ts'
import { planOf } from '../../traffic/engine/stored-plan.ts'
import { importPlan } from '../../traffic/survey/import-plan.ts'
import { preflightReport } from '../../traffic/survey/preflight-report.ts'
import { openBalancer } from '../../traffic/vendors/balancer.ts'
import { openCluster } from '../../traffic/vendors/cluster.ts'
import type { Routes } from '../api.ts'
import { answers } from '../contract/common.ts'
import { checkRecord, importBody, importRecord } from '../contract/traffic.ts'
import { BASE, idParameter, tags } from './traffic.ts'

/** What looks at clusters and AWS before a switch begins. */
export const trafficSurveyRoutes: Routes = (api, { database }) => {
  const engine = engineOn(database)
  api.post(
    '/v1/traffic-imports',
    {
      config: { least: 'operator', reach: 'everywhere', size: 'list', cost: 'light' },
      schema: {
        tags,
        summary: 'A plan made of what is live, or what has to be decided first; nothing is stored',
        body: importBody,
        response: answers(200, importRecord, 400, 422, 502, 503),
      },
    },
    async ({ body }) => {
      const [current, target] = await Promise.all(
        [body.currentContext, body.targetContext].map((context) => openCluster(context, context)),
      )
      const { plan, questions, findings } = await importPlan(body, { current: current!, target: target!, openBalancer })
      const asked = questions.map(({ choices, hints, ...rest }) => ({
        ...{ ...rest, choices: [...choices], hints: [...hints] },
      }))
      return { plan: plan ?? null, questions: asked, findings: [...findings] }
    },
  )
  api.post(
    `${BASE}/:id/preflight`,
    {
      config: { least: 'operator', reach: 'everywhere', size: 'small', cost: 'light' },
      schema: {
        tags,
        summary: 'What stands in the way of a switch, before anything changes',
        params: idParameter,
        response: answers(200, z.array(checkRecord), 404, 409, 502, 503),
      },
    },
    async ({ params }) => {
      const row = await getSwitch(database, params.id)
      const plan = planOf(row)
      return [...(await preflightReport(plan, await engine.connect(plan), row, engine.now()))]
    },
  )
}
