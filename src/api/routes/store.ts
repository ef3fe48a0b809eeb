import { z } from 'zod'
import { findRow, insertRow, updateRows } from '../../pipelines/store.ts'
import { store } from '../../system/state.ts'
import type { Routes } from '../api.ts'
import { answers } from '../contract/common.ts'

const tags = ['store']
const params = z.object({ key: z.string().min(1).max(255) })

/** Small things that the web page remembers. */
export const storeRoutes: Routes = (api, { database: { kysely } }) => {
  api.get(
    '/store/:key',
    { schema: { tags, summary: 'What was stored; null for nothing', params, response: answers(200, z.any()) } },
    async (request, reply) => {
      const row = await findRow(kysely, store, { store_key: request.params.key })
      return reply.type('application/json; charset=utf-8').send(JSON.stringify(row?.store_value ?? null))
    },
  )
  api.put(
    '/store/:key',
    { schema: { tags, summary: 'Store any JSON', params, body: z.any(), response: answers(201, z.any()) } },
    async (request, reply) => {
      const { key } = request.params
      const value = request.body ?? null
      await kysely.transaction().execute(async (transaction) => {
        const changed = await updateRows(transaction, store, { store_key: key }, { store_value: value })
        if (changed === 0) await insertRow(transaction, store, { store_key: key, store_value: value })
      })
      return reply.code(201).type('application/json; charset=utf-8').send(JSON.stringify(value))
    },
  )
}
