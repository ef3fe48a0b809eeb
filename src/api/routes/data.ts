/** What is stored, for people who look at it: the rows of a scope in each layer, and one record through all of them. */
import { z } from 'zod'
import { findScopes } from '../../pipelines/find-scopes.ts'
import { LARGEST_PAGE, marksOf, rowsOfScope, tablesOfScope } from '../../pipelines/scope-layers.ts'
import { followRecord, keyTitles, sampleRecords } from '../../pipelines/scope-records.ts'
import { domainTable, FIELD_TYPES, type FieldType } from '../../plugins/customize/fields.ts'
import { pathsOf } from '../../plugins/customize/paths.ts'
import { previewValues } from '../../plugins/customize/preview-values.ts'
import type { Routes } from '../api.ts'
import { answers, paging, time, wholeNumber } from '../contract/common.ts'
import { bounded } from '../contract/lenient.ts'

const tags = ['data']
const word = bounded(255).min(1)
const place = {
  plugin: word,
  connectionId: wholeNumber(1, Number.MAX_SAFE_INTEGER),
  scopeId: word.optional().meta({ description: 'Left out: of a connection that has no scopes.' }),
}
const layer = z.enum(['raw', 'tool', 'domain'])
const column = z.object({ name: z.string(), kind: z.string(), isKey: z.boolean() })
const recordPlace = z.object({ table: z.string(), id: z.int() })
const row = z
  .object({
    cells: z.record(z.string(), z.any()),
    record: recordPlace.nullable().meta({ description: 'The raw record that it was made from.' }),
  })
  .meta({ id: 'StoredRow' })
const counted = {
  count: z.int(),
  isMore: z.boolean().meta({ description: 'There are more than `count`, which ends at a bound.' }),
}

export const dataRoutes: Routes = (api, { database, plugins }) => {
  const context = { database, plugins }
  const scope = z
    .object({
      plugin: z.string(),
      pluginTitle: z.string(),
      connectionId: z.int(),
      connectionName: z.string(),
      scopeId: z.string().nullable().meta({ description: 'Null: of a connection without scopes.' }),
      scopeName: z.string(),
    })
    .meta({ id: 'FoundScope' })
  api.get(
    '/v1/data/scopes',
    {
      schema: {
        tags,
        summary: 'Scopes of all connections by a part of their name, the first of them',
        querystring: z.object({
          keyword: bounded(255).optional(),
          plugin: word.optional(),
          connectionId: place.connectionId.optional(),
          scopeId: word.optional(),
        }),
        response: answers(200, z.object({ scopes: z.array(scope) })),
      },
    },
    async ({ query }) => ({ scopes: await findScopes(context, query) }),
  )
  const table = z
    .object({
      name: z.string(),
      layer,
      meaning: z.string(),
      ...counted,
      origins: z.array(z.string()).meta({ description: 'Raw tables that its rows were made from.' }),
    })
    .meta({ id: 'StoredTable' })
  api.get(
    '/v1/data/tables',
    {
      schema: {
        tags,
        summary: 'Tables that have rows of a scope',
        querystring: z.object(place),
        response: answers(200, z.object({ tables: z.array(table) }), 404),
      },
    },
    async ({ query }) => ({ tables: (await tablesOfScope(context, await marksOf(context, query))) as any }),
  )
  api.get(
    '/v1/data/rows',
    {
      schema: {
        tags,
        summary: `Rows of a scope in one table, ${LARGEST_PAGE} at most; long texts are cut, secrets left out`,
        querystring: z.object({ ...place, ...paging, table: word, search: bounded(255).optional() }),
        response: answers(200, z.object({ columns: z.array(column), ...counted, rows: z.array(row) }), 404),
      },
    },
    async ({ query: { table: name, search = '', page, pageSize, ...of } }) =>
      (await rowsOfScope(context, await marksOf(context, of), { table: name, search, page, pageSize })) as any,
  )
  const record = z
    .object({
      raw: recordPlace.extend({
        url: z.string(),
        input: z.any(),
        createdAt: time,
        bytes: z.int(),
        data: z.any(),
        text: z.string().nullable().meta({ description: 'Instead of `data`, where it is too long or no JSON.' }),
      }),
      made: z.array(z.object({ layer, table: z.string(), columns: z.array(column), rows: z.array(row) })),
    })
    .meta({ id: 'FollowedRecord' })
  const id = wholeNumber(1, Number.MAX_SAFE_INTEGER)
  api.get(
    '/v1/data/record',
    {
      schema: {
        tags,
        summary: 'A raw record, and the tool and domain rows that were made from it',
        querystring: z.object({ ...place, table: word, id }),
        response: answers(200, record, 404),
      },
    },
    async ({ query: { table: name, id: recordId, ...of } }) =>
      (await followRecord(context, await marksOf(context, of), { table: name, id: recordId })) as any,
  )
  const found = z
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
  api.get(
    '/v1/data/paths',
    {
      schema: {
        tags,
        summary: 'Paths that the newest raw records of a scope have values at',
        querystring: z.object({ ...place, rawTable: word }),
        response: answers(200, z.object({ records: z.int(), paths: z.array(found) }), 404),
      },
    },
    async ({ query: { rawTable, ...of } }) => {
      const marks = await marksOf(context, of)
      const records = await sampleRecords(context, marks, rawTable)
      const titles = await keyTitles(context, marks)
      const paths = pathsOf(records.map(({ document }) => document)).map((each) => ({
        ...each,
        keys: [...each.keys],
        types: [...each.types],
        samples: [...each.samples],
        title: each.keys.flatMap((key) => titles.get(key) ?? []).join(' · '),
      }))
      return { records: records.length, paths }
    },
  )
  const dataType = z.enum(Object.keys(FIELD_TYPES) as FieldType[])
  const value = z.object({ key: z.string(), value: z.any(), problem: z.string().nullable() })
  api.get(
    '/v1/data/values',
    {
      schema: {
        tags,
        summary: 'What a path would bring into a field of domain rows; nothing is written',
        querystring: z.object({ ...place, rawTable: word, table: word, path: bounded(1000).min(1), dataType }),
        response: answers(
          200,
          z.object({ rows: z.int(), filled: z.int(), refused: z.int(), samples: z.array(value) }),
          404,
        ),
      },
    },
    async ({ query: { rawTable, table: name, path, dataType: type, ...of } }) => {
      const marks = await marksOf(context, of)
      const records = await sampleRecords(context, marks, rawTable)
      return (await previewValues(database, {
        table: domainTable(name),
        ...{ rawTable, path, params: marks.params, dataType: type },
        documents: new Map(records.map(({ id: recordId, document }) => [recordId, document])),
      })) as any
    },
  )
}
