/** Routes for users' fields that the runs of a blueprint fill, and for raw values that could fill them. */
import { z } from 'zod'
import { UserError } from '../../errors.ts'
import {
  bounded,
  idParameter,
  isRawTable,
  type LastTasks,
  type Route,
  type RouteServer,
  route,
  wholeNumber,
} from '../../plugin-kit/index.ts'
import { allFields, domainTable, FIELD_TYPES, type FieldType, withFields } from './fields.ts'
import { mappingsIn, requireMapping, withMapping, withoutMapping } from './mappings.ts'
import { pathsOf } from './paths.ts'
import { previewValues } from './preview-values.ts'

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

const mappingsOf = ({ blueprintId, projectName, plan }: LastTasks) =>
  mappingsIn(plan).map((each) => ({ blueprintId, projectName, ...each }))
const answerOf = (tasks: LastTasks) => {
  const mappings = mappingsOf(tasks)
  return { count: mappings.length, mappings }
}

/** Returns a pattern for all scopes of a connection. Their params begin alike, up to the part that names the scope. */
function patternOf(params: string): string {
  const [first] = Object.entries(JSON.parse(params))
  return `${JSON.stringify(Object.fromEntries([first as [string, unknown]])).slice(0, -1)},%`
}

async function rawParamsOf(
  server: RouteServer,
  body: z.infer<typeof ofScope> | z.infer<typeof asListed>,
): Promise<string> {
  if ('rawParams' in body) return body.rawParams
  const params = await server.paramsOf(body)
  return body.reach === 'scope' ? params : patternOf(params)
}

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

const place = {
  plugin: word,
  connectionId: wholeNumber(1, Number.MAX_SAFE_INTEGER),
  scopeId: word.optional().meta({ description: 'Left out: of a connection that has no scopes.' }),
}
const foundPath = z
  .object({
    path: z.string(),
    keys: z.array(z.string()),
    title: z.string().meta({ description: 'What people call it, where a key says nothing by itself.' }),
    count: z.int().meta({ description: 'Records of the sample that have a value there.' }),
    types: z.array(z.string()),
    samples: z.array(z.string()),
    suggestion: z.string(),
  })
  .meta({ id: 'FoundPath' })
const value = z.object({ key: z.string(), value: z.any(), problem: z.string().nullable() })

export const mappingRoutes: readonly Route[] = [
  route({
    method: 'GET',
    path: '/v1/fields',
    summary: 'Fields that were added to domain tables, and what fills them',
    least: 'viewer',
    size: 'none',
    cost: 'light',
    answer: z.object({ count: z.int(), fields: z.array(ownField) }),
    run: async (_request, server) => {
      const mappings = (await server.lastTasks()).flatMap(mappingsOf)
      const fields = (await allFields(server.database)).map(({ table, isCustomizedField: _, ...field }) => ({
        table,
        ...field,
        filledBy: mappings.filter((each) => each.table === table && each.field === field.columnName),
      }))
      return { count: fields.length, fields }
    },
  }),
  route({
    method: 'POST',
    path: '/v1/blueprints/:id/mappings',
    summary: 'Fill a field at the end of every run of a blueprint',
    least: 'admin',
    size: 'settings',
    cost: 'light',
    params: idParameter,
    body: z.union([ofScope, asListed]),
    answer: listed,
    failures: [404],
    run: async ({ params: { id }, body }, server) => {
      const { table: name, field, rawTable, path } = body
      const rawParams = await rawParamsOf(server, body)
      const table = await withFields(server.database, domainTable(name))
      if (!field.startsWith('x_') || !table.names.includes(field)) {
        throw new UserError(`${name} has no field ${field} of your own: add it first.`)
      }
      if (!isRawTable(rawTable)) throw new UserError(`There is no table ${rawTable} of raw records.`)
      const added = { table: name, field, rawTable, rawParams, path }
      return answerOf(await server.changeLastTasks(id, (plan) => withMapping(plan, added)))
    },
  }),
  route({
    method: 'DELETE',
    path: '/v1/blueprints/:id/mappings',
    summary: 'Stop filling a field; its values stay',
    least: 'admin',
    size: 'small',
    cost: 'light',
    reach: 'blueprint',
    params: idParameter,
    query: z.object({ table: word, field: word, rawTable: word, rawParams: word }),
    answer: listed,
    failures: [404],
    run: async ({ params: { id }, query }, server) =>
      answerOf(
        await server.changeLastTasks(id, (plan) => {
          requireMapping(plan, query)
          return withoutMapping(plan, query)
        }),
      ),
  }),
  route({
    method: 'GET',
    path: '/v1/data/paths',
    tag: 'data',
    summary: 'Paths that have values in the newest raw records of a scope',
    least: 'viewer',
    size: 'none',
    cost: 'light',
    query: z.object({ ...place, rawTable: word }),
    answer: z.object({ records: z.int(), paths: z.array(foundPath) }),
    failures: [404],
    run: async ({ query: { rawTable, ...scope } }, server) => {
      const { records, titles } = await server.sampleRecords(scope, rawTable)
      const paths = pathsOf(records.map(({ document }) => document)).map((each) => ({
        ...each,
        title: each.keys.flatMap((key) => titles.get(key) ?? []).join(' · '),
      }))
      return { records: records.length, paths }
    },
  }),
  route({
    method: 'GET',
    path: '/v1/data/values',
    tag: 'data',
    summary: 'The values that a path would give to a field of domain rows; nothing is written',
    least: 'viewer',
    size: 'none',
    cost: 'light',
    query: z.object({
      ...place,
      rawTable: word,
      table: word,
      path: bounded(1000).min(1),
      dataType: z.enum(Object.keys(FIELD_TYPES) as FieldType[]),
    }),
    answer: z.object({ rows: z.int(), filled: z.int(), refused: z.int(), samples: z.array(value) }),
    failures: [404],
    run: async ({ query: { rawTable, table, path, dataType, ...scope } }, server) => {
      const { records } = await server.sampleRecords(scope, rawTable)
      return previewValues(server.database, {
        table: domainTable(table),
        rawTable,
        path,
        dataType,
        params: await server.paramsOf(scope),
        documents: new Map(records.map(({ id, document }) => [id, document])),
      })
    },
  }),
]
