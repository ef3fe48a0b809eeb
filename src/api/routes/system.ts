import { z } from 'zod'
import packageFile from '../../../package.json' with { type: 'json' }
import { UnavailableError } from '../../errors.ts'
import { pipelines } from '../../system/pipelines.ts'
import type { Routes } from '../api.ts'
import { answers, streams, success } from '../contract/common.ts'
import { done, envelope } from '../envelope.ts'

const tags = ['system']
/** A database that takes longer to answer is not in good health. */
const HEALTH_MS = 5000

export const systemRoutes: Routes = (api, { database: { kysely } }) => {
  async function requireDatabase(): Promise<void> {
    const read = kysely.selectFrom(pipelines.name).select('id').limit(1).execute()
    const late = new Promise<never>((_done, fail) => {
      setTimeout(() => fail(new UnavailableError('The database does not answer in time.')), HEALTH_MS).unref()
    })
    await Promise.race([read, late])
  }
  api.get(
    '/ping',
    {
      config: { least: 'probe', reach: 'everywhere', size: 'none', cost: 'light' },
      schema: { tags, summary: 'Does the server listen?', response: streams('text/plain', 'Nothing.') },
    },
    async (_request, reply) => reply.type('text/plain; charset=utf-8').send(''),
  )
  // The tables are brought up to date before the server listens, so only the database may be missing.
  api.get(
    '/ready',
    {
      config: { least: 'probe', reach: 'everywhere', size: 'none', cost: 'light' },
      schema: { tags, summary: 'Can it be used?', response: answers(200, success, 503) },
    },
    async () => {
      await requireDatabase()
      return envelope(true, 'ready')
    },
  )
  api.get(
    '/health',
    {
      config: { least: 'probe', reach: 'everywhere', size: 'none', cost: 'light' },
      schema: { tags, summary: 'Does its database answer?', response: answers(200, success) },
    },
    async () => {
      await requireDatabase()
      return envelope(true, 'good')
    },
  )
  api.get(
    '/version',
    {
      config: { least: 'anyone', reach: 'everywhere', size: 'none', cost: 'light' },
      schema: { tags, summary: 'Version', response: answers(200, z.object({ version: z.string() })) },
    },
    async () => ({ version: packageFile.version }),
  )
  api.get(
    '/proceed-db-migration',
    {
      config: { least: 'anyone', reach: 'everywhere', size: 'none', cost: 'light' },
      schema: {
        tags,
        summary: 'For older clients: the tables are always current before the server starts',
        response: answers(200, success),
      },
    },
    async () => done(),
  )
}
