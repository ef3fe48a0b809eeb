/** Fields of users that the runs of a blueprint fill. */
import { z } from 'zod'
import { UserError } from '../../errors.ts'
import type { Blueprint, BlueprintChanges } from '../../pipelines/records.ts'
import { marksOf } from '../../pipelines/scope-layers.ts'
import { isRawTable } from '../../plugin-kit/raw.ts'
import { allFields, domainTable, withFields } from '../../plugins/customize/fields.ts'
import { mappingsIn, requireMapping, withMapping, withoutMapping } from '../../plugins/customize/mappings.ts'
import type { Routes } from '../api.ts'
import { answers, idParameter, LARGEST_PAGE } from '../contract/common.ts'
import { bounded } from '../contract/lenient.ts'

const tags = ['customize']
const word = bounded(255).min(1)
const mapping = z
  .object({
    blueprintId: z.int(),
    projectName: z.string(),
    table: z.string(),
    field: z.string(),
    rawTable: z.string(),
    rawParams: z.string(),
    path: z.string(),
  })
  .meta({ id: 'Mapping', description: 'A field of a domain table, and where the runs of a blueprint find its values.' })
const listed = z.object({ count: z.int(), mappings: z.array(mapping) })
const filled = { table: word, field: word, rawTable: word, path: bounded(1000).min(1) }
const ofScope = z.strictObject({
  ...filled,
  plugin: word,
  connectionId: z.int().min(1),
  scopeId: word,
  reach: z.enum(['scope', 'connection']).meta({ description: 'Of this scope alone, or of all of its connection.' }),
})

const asListed = z
  .strictObject({ ...filled, rawParams: word })
  .meta({ description: 'As it was, to take back its end.' })

/** An ADVANCED plan is all that runs; of a NORMAL one the end can be added to. */
const fillingPlan = ({ mode, plan, afterPlan }: Blueprint) => (mode === 'ADVANCED' ? plan : (afterPlan ?? []))
const planField = ({ mode }: Blueprint) => (mode === 'ADVANCED' ? 'plan' : 'afterPlan')

const shown = (blueprint: Blueprint) =>
  mappingsIn(fillingPlan(blueprint)).map((each) => ({
    blueprintId: blueprint.id,
    projectName: blueprint.projectName,
    ...each,
  }))

/** All scopes of a connection are marked alike up to what names the scope. */
function patternOf(params: string): string {
  const [first] = Object.entries(JSON.parse(params))
  return `${JSON.stringify(Object.fromEntries([first as [string, unknown]])).slice(0, -1)},%`
}

export const mappingRoutes: Routes = (api, { database, plugins, services, servicesFor }) => {
  const ownField = z
    .object({
      table: z.string(),
      columnName: z.string(),
      displayName: z.string(),
      dataType: z.string(),
      description: z.string(),
      filledBy: z.array(mapping),
    })
    .meta({ id: 'OwnField', description: 'A field that somebody added to a domain table, and what fills it.' })
  api.get(
    '/v1/fields',
    {
      schema: {
        tags,
        summary: 'Fields that were added to domain tables, and what fills them',
        response: answers(200, z.object({ count: z.int(), fields: z.array(ownField) })),
      },
    },
    async () => {
      const { items } = await services.blueprints.list({ pageSize: LARGEST_PAGE })
      const mappings = items.flatMap(shown)
      const fields = (await allFields(database)).map(({ table, isCustomizedField: _, ...field }) => ({
        table,
        ...field,
        filledBy: mappings.filter((each) => each.table === table && each.field === field.columnName),
      }))
      return { count: fields.length, fields }
    },
  )
  const answer = (blueprint: Blueprint) => {
    const mappings = shown(blueprint)
    return { count: mappings.length, mappings }
  }
  async function rawParamsOf(body: z.infer<typeof ofScope> | z.infer<typeof asListed>): Promise<string> {
    if ('rawParams' in body) return body.rawParams
    const { params } = await marksOf({ database, plugins }, body)
    return body.reach === 'scope' ? params : patternOf(params)
  }
  api.post(
    '/v1/blueprints/:id/mappings',
    {
      schema: {
        tags,
        summary: 'Fill a field at the end of every run of a blueprint',
        params: idParameter,
        body: z.union([ofScope, asListed]),
        response: answers(200, listed, 404),
      },
    },
    async (request) => {
      const { table: name, field, rawTable, path } = request.body
      const rawParams = await rawParamsOf(request.body)
      const table = await withFields(database, domainTable(name))
      if (!field.startsWith('x_') || !table.names.includes(field)) {
        throw new UserError(`${name} has no field ${field} of your own: add it first.`)
      }
      if (!isRawTable(rawTable)) throw new UserError(`There is no table ${rawTable} of raw records.`)
      const add = (before: Blueprint): BlueprintChanges => ({
        [planField(before)]: withMapping(fillingPlan(before), { table: name, field, rawTable, rawParams, path }),
      })
      return answer(await servicesFor(request).blueprints.update(request.params.id, add))
    },
  )
  api.delete(
    '/v1/blueprints/:id/mappings',
    {
      schema: {
        tags,
        summary: 'Fill a field no longer; its values stay',
        params: idParameter,
        querystring: z.object({ table: word, field: word, rawTable: word, rawParams: word }),
        response: answers(200, listed, 404),
      },
    },
    async (request) => {
      const remove = (before: Blueprint): BlueprintChanges => {
        requireMapping(fillingPlan(before), request.query)
        return { [planField(before)]: withoutMapping(fillingPlan(before), request.query) }
      }
      return answer(await servicesFor(request).blueprints.update(request.params.id, remove))
    },
  )
}
