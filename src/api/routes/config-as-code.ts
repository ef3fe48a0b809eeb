import type { FastifyRequest } from 'fastify'
import { z } from 'zod'
import type { ConfigContext } from '../../config-as-code/context.ts'
import { checkConfig } from '../../config-as-code/document.ts'
import { storedConfig } from '../../config-as-code/export.ts'
import { applyConfig, planConfig } from '../../config-as-code/reconcile.ts'
import { actorOf } from '../access/gate.ts'
import type { Routes } from '../api.ts'
import { answers, REMOTE_FAILURES } from '../contract/common.ts'

const LONGEST_FILE = 500_000
const NAME = 'config'

const configBody = z.object({
  config: z.string().max(LONGEST_FILE).meta({ description: 'The file, in YAML.' }),
  /** Never the variables of the server, which are private. */
  variables: z
    .record(z.string(), z.string())
    .default({})
    .meta({ description: 'The values of the variables in the file, by name.' }),
  allowEmpty: z.boolean().default(false).meta({ description: 'Selectors and rules may match nothing.' }),
})
const changes = z.object({
  changes: z.array(
    z.object({
      action: z.enum(['create', 'update']),
      subject: z.string(),
      fields: z.array(z.object({ name: z.string(), before: z.any(), after: z.any() })),
      notes: z.array(z.string()).optional().meta({ description: 'What else the change means.' }),
    }),
  ),
})
const tags = ['configuration']

/** Does the same as `weir config`. */
export const configAsCodeRoutes: Routes = (api, { config: { hidesTestFailures }, control, heavy, servicesFor }) => {
  const contextOf = (request: FastifyRequest, allowsEmpty = false): ConfigContext => ({
    control: control.context,
    services: control.services,
    actor: actorOf(request),
    servicesOn: (database) => servicesFor(request, database),
    allowsEmpty,
    hidesReasons: hidesTestFailures,
    match: (...asked) => heavy.run('matchPattern', ...asked),
  })
  api.get(
    '/v1/config',
    {
      config: { least: 'admin', reach: 'everywhere', size: 'none', cost: 'heavy' },
      schema: {
        tags,
        summary: 'The stored configuration as a file; secrets become variables',
        response: answers(200, z.object({ config: z.string() })),
      },
    },
    async (request) => ({ config: await heavy.run('writeConfigText', await storedConfig(contextOf(request))) }),
  )
  for (const [path, summary, reconcile] of [
    ['plan', 'What a configuration file would change', planConfig],
    ['apply', 'Apply a configuration file: all of it, or nothing', applyConfig],
  ] as const) {
    api.post(
      `/v1/config/${path}`,
      {
        config: { least: 'admin', reach: 'everywhere', size: 'list', cost: 'heavy' },
        schema: {
          tags,
          summary,
          body: configBody,
          response: answers(200, changes, 403, 404, 409, 413, ...REMOTE_FAILURES),
        },
      },
      async (request) => {
        const { config, variables, allowEmpty } = request.body
        const text = await heavy.run('readConfigText', config, NAME)
        return { changes: await reconcile(checkConfig(text, NAME, variables), contextOf(request, allowEmpty)) }
      },
    )
  }
}
