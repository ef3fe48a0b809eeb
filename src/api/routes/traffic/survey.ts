import { stringify } from 'yaml'
import { z } from 'zod'
import { engineOn } from '../../../../traffic/engine/connect.ts'
import { describeSwitch, getSwitch } from '../../../../traffic/engine/store.ts'
import { planOf } from '../../../../traffic/engine/stored-plan.ts'
import { initialPlan, PLACEHOLDERS, PRESETS } from '../../../../traffic/model/init.ts'
import { importPlaces } from '../../../../traffic/survey/import-places.ts'
import { importPlan } from '../../../../traffic/survey/import-plan.ts'
import type { Imported } from '../../../../traffic/survey/import-types.ts'
import { preflightReport } from '../../../../traffic/survey/preflight-report.ts'
import { contextNames } from '../../../../traffic/vendors/cluster.ts'
import type { Routes } from '../../api.ts'
import { answers } from '../../contract/common.ts'
import { checkRecord, importBody, importRecord, yamlText } from './records.ts'
import { BASE, idParameter, tags } from './switches.ts'

const describeImport = ({ plan, questions, findings }: Imported) => ({
  plan: plan ?? null,
  yaml: plan === undefined ? null : stringify(plan, { lineWidth: 0 }),
  questions: questions.map(({ choices, hints, ...rest }) => ({ ...rest, choices: [...choices], hints: [...hints] })),
  findings: [...findings],
})

/** Routes that examine clusters and AWS before a switch begins. */
export const trafficSurveyRoutes: Routes = (api, { database, heavy }) => {
  const engine = engineOn(database)
  api.get(
    '/v1/traffic-contexts',
    {
      config: { least: 'operator', reach: 'everywhere', size: 'none', cost: 'light' },
      schema: {
        tags,
        summary: 'Names of the contexts in the kubeconfig of this server',
        response: answers(200, z.array(z.string()), 400),
      },
    },
    async () => [...(await contextNames())],
  )
  api.get(
    '/v1/traffic-plans/new',
    {
      config: { least: 'viewer', reach: 'everywhere', size: 'none', cost: 'light' },
      schema: {
        tags,
        summary: 'A plan to start from, with the placeholders that have to be filled in',
        querystring: z.object({
          name: z.string().default('shop'),
          preset: z.enum(Object.keys(PRESETS) as [string, ...string[]]).default('standard'),
        }),
        response: answers(200, z.object({ yaml: z.string() }), 422),
      },
    },
    async ({ query }) => ({ yaml: initialPlan(query.name, query.preset, PLACEHOLDERS) }),
  )
  api.get(
    `${BASE}/:id/plan`,
    {
      config: { least: 'viewer', reach: 'everywhere', size: 'none', cost: 'light' },
      schema: {
        tags,
        summary: 'The plan of a switch as YAML',
        params: idParameter,
        response: answers(200, z.object({ yaml: z.string() }), 404),
      },
    },
    async ({ params }) => ({
      yaml: stringify(describeSwitch(await getSwitch(database, params.id)).plan, { lineWidth: 0 }),
    }),
  )
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
    async ({ body }) => describeImport(await importPlan(body, await importPlaces(body, {}))),
  )
  api.post(
    '/v1/traffic-imports/manifests',
    {
      config: { least: 'operator', reach: 'everywhere', size: 'list', cost: 'heavy' },
      schema: {
        tags,
        summary: 'The same of manifests instead of clusters',
        body: importBody.extend({ currentManifests: yamlText, targetManifests: yamlText }),
        response: answers(200, importRecord, 400, 422, 502, 503),
      },
    },
    async ({ body: { currentManifests, targetManifests, ...request } }) => {
      const pasted = { current: currentManifests, target: targetManifests }
      const read = (cluster: string, text: string) => heavy.run('manifestsIn', cluster, text)
      return describeImport(await importPlan(request, await importPlaces(request, pasted, read)))
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
