import { z } from 'zod'
import { LAYERS, readStorage, type Storage } from '../../control-plane/storage/storage.ts'
import { examineServer, FINDING_STATES } from '../../runner/health.ts'
import type { Routes } from '../api.ts'
import { answers, time } from '../contract/common.ts'

const tags = ['system']
const KEPT_MS = 60_000

const storage = z.object({
  countedAt: time.meta({ description: 'Updated at most once a minute.' }),
  bytes: z.int(),
  layers: z.array(z.object({ layer: z.enum(LAYERS), bytes: z.int(), tables: z.int() })),
  tables: z.array(
    z.object({
      name: z.string(),
      layer: z.enum(LAYERS),
      bytes: z.int(),
      records: z.int().meta({ description: 'An estimate.' }),
    }),
  ),
  scopes: z.array(
    z.object({
      plugin: z.string(),
      connectionId: z.int(),
      scopeId: z.string(),
      scopeName: z.string(),
      records: z.int(),
      bytes: z.int().meta({ description: 'Its share of the raw tables.' }),
    }),
  ),
  uncounted: z.array(z.string()).meta({ description: 'Raw tables that are too large to count by scope.' }),
})

/** The state of this installation. */
export const installationRoutes: Routes = (api, { config, control, standstill }) => {
  let counted: { readonly at: number; readonly storage: Promise<Storage> } | undefined
  /** Repeated and simultaneous requests get the same answer; a failure is not kept. */
  function storageNow(): Promise<Storage> {
    if (!counted || performance.now() - counted.at > KEPT_MS) {
      const own = { at: performance.now(), storage: readStorage(control.context) }
      counted = own
      own.storage.catch(() => {
        if (counted === own) counted = undefined
      })
    }
    return counted.storage
  }
  api.get(
    '/v1/storage',
    {
      config: { least: 'viewer', reach: 'everywhere', size: 'none', cost: 'light' },
      schema: {
        tags,
        summary: 'What the database holds: the largest tables, and the scopes with the most raw records',
        response: answers(200, storage),
      },
    },
    storageNow,
  )
  api.get(
    '/v1/health',
    {
      config: { least: 'viewer', reach: 'everywhere', size: 'none', cost: 'light' },
      schema: {
        tags,
        summary: 'The state of database, encryption key, runner and disk, with a sentence for each',
        response: answers(
          200,
          z.object({
            findings: z.array(z.object({ check: z.string(), state: z.enum(FINDING_STATES), message: z.string() })),
          }),
        ),
      },
    },
    async () => ({ findings: [...examineServer(config, await standstill.latest())] }),
  )
}
