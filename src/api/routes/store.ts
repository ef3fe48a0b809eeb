import { z } from 'zod'
import { doRecorded } from '../../control-plane/audit/record.ts'
import { findRow, insertRow, updateRows } from '../../control-plane/store.ts'
import { oneAtATime } from '../../database/line.ts'
import { store } from '../../system/state.ts'
import { actorOf } from '../access/gate.ts'
import type { Routes } from '../api.ts'
import { answers } from '../contract/common.ts'

const tags = ['store']
const params = z.object({ key: z.string().min(1).max(255) })

/** Small values that the web page stores. */
export const storeRoutes: Routes = (api, { database }) => {
  api.get(
    '/store/:key',
    {
      config: { least: 'viewer', reach: 'somewhere', size: 'none', cost: 'light' },
      schema: { tags, summary: 'What was stored; null for nothing', params, response: answers(200, z.any()) },
    },
    async (request, reply) => {
      const row = await findRow(database.kysely, store, { store_key: request.params.key })
      return reply.type('application/json; charset=utf-8').send(JSON.stringify(row?.store_value ?? null))
    },
  )
  api.put(
    '/store/:key',
    {
      config: { least: 'operator', reach: 'everywhere', size: 'settings', cost: 'light' },
      schema: { tags, summary: 'Store any JSON', params, body: z.any(), response: answers(201, z.any()) },
    },
    async (request, reply) => {
      const { key } = request.params
      const value = request.body ?? null
      const change = { action: 'update', subject: 'store', key } as const
      await oneAtATime(database, 'store', () =>
        doRecorded(database, actorOf(request), change, async ({ kysely: inside }) => {
          const changed = await updateRows(inside, store, { store_key: key }, { store_value: value })
          if (changed === 0) await insertRow(inside, store, { store_key: key, store_value: value })
          return value
        }),
      )
      return reply.code(201).type('application/json; charset=utf-8').send(JSON.stringify(value))
    },
  )
}
