/** Stored data for people to look at: the rows of a scope in each layer, and one record through all layers. */

import { z } from 'zod'
import { domainRow } from '../../control-plane/scopes/domain-row.ts'
import { findScopes } from '../../control-plane/scopes/find-scopes.ts'
import { LARGEST_PAGE, marksOf, rowsOfScope, tablesOfScope } from '../../control-plane/scopes/scope-layers.ts'
import { followRecord } from '../../control-plane/scopes/scope-records.ts'
import { bounded, wholeNumber } from '../../plugin-kit/spec/request-values.ts'
import { inTurn, plain, type Routes } from '../api.ts'
import { answers, paging, time } from '../contract/common.ts'

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
  isMore: z.boolean().meta({ description: 'There are more than `count`: counting stops at a limit.' }),
}

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

const table = z
  .object({
    name: z.string(),
    layer,
    meaning: z.string(),
    ...counted,
    origins: z
      .array(z.string())
      .meta({ description: 'Raw tables that its rows were made from, the one of most rows first.' }),
  })
  .meta({ id: 'StoredTable' })

const record = z
  .object({
    raw: recordPlace.extend({
      url: z.string(),
      input: z.any(),
      createdAt: time,
      bytes: z.int(),
      data: z.any(),
      text: z.string().nullable().meta({ description: 'Instead of `data`, if the record is too long or not JSON.' }),
    }),
    made: z.array(z.object({ layer, table: z.string(), columns: z.array(column), rows: z.array(row) })),
  })
  .meta({ id: 'FollowedRecord' })

const domain = z
  .object({
    table: z.string(),
    meaning: z.string(),
    columns: z.array(column),
    row: row.meta({ description: '`record` is null where the record of the source is not stored any more.' }),
    place: z
      .object({ plugin: z.string(), connectionId: z.int(), scopeId: z.string().optional() })
      .nullable()
      .meta({ description: 'The scope that it was collected for. Null: nothing tells.' }),
  })
  .meta({ id: 'DomainRow' })

const id = wholeNumber(1, Number.MAX_SAFE_INTEGER)

const tableRoutes: Routes = (api, { database, plugins }) => {
  const context = { database, plugins }
  api.get(
    '/v1/data/scopes',
    {
      config: { least: 'viewer', reach: 'everywhere', size: 'none', cost: 'light' },
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
  api.get(
    '/v1/data/tables',
    {
      config: { least: 'viewer', reach: 'everywhere', size: 'none', cost: 'light' },
      schema: {
        tags,
        summary: 'Tables that have rows of a scope',
        querystring: z.object(place),
        response: answers(200, z.object({ tables: z.array(table) }), 404),
      },
    },
    async ({ query }) => ({ tables: plain(await tablesOfScope(context, await marksOf(context, query))) }),
  )
  api.get(
    '/v1/data/rows',
    {
      config: { least: 'viewer', reach: 'everywhere', size: 'none', cost: 'light' },
      schema: {
        tags,
        summary: `Rows of a scope in one table, ${LARGEST_PAGE} at most; long texts are cut, secrets left out`,
        querystring: z.object({ ...place, ...paging, table: word, search: bounded(255).optional() }),
        response: answers(200, z.object({ columns: z.array(column), ...counted, rows: z.array(row) }), 404),
      },
    },
    async ({ query: { table: name, search = '', page, pageSize, ...of } }) =>
      plain(await rowsOfScope(context, await marksOf(context, of), { table: name, search, page, pageSize })),
  )
}

const recordRoutes: Routes = (api, { database, plugins }) => {
  const context = { database, plugins }
  api.get(
    '/v1/data/record',
    {
      config: { least: 'viewer', reach: 'everywhere', size: 'none', cost: 'light' },
      schema: {
        tags,
        summary: 'A raw record, and the tool and domain rows that were made from it',
        querystring: z.object({ ...place, table: word, id }),
        response: answers(200, record, 404),
      },
    },
    async ({ query: { table: name, id: recordId, ...of } }) =>
      plain(await followRecord(context, await marksOf(context, of), { table: name, id: recordId })),
  )
}

const domainRoutes: Routes = (api, { database, plugins }) => {
  api.get(
    '/v1/data/domain-row',
    {
      config: { least: 'viewer', reach: 'everywhere', size: 'none', cost: 'light' },
      schema: {
        tags,
        summary: 'A row of a domain table by its id, such as an item of a metric, and the scope that it came from',
        querystring: z.object({ table: word, id: bounded(1000).min(1) }),
        response: answers(200, domain, 404),
      },
    },
    async ({ query }) => plain(await domainRow({ database, plugins }, query)),
  )
}

export const dataRoutes = inTurn(tableRoutes, recordRoutes, domainRoutes)
