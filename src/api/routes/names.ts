/** For people who write rules: the names that rules can match, and which names a pattern matches. */
import { z } from 'zod'
import { sourceNamed } from '../../control-plane/sources.ts'
import { selectRows } from '../../control-plane/store.ts'
import { sampledNames, storedNames } from '../../plugin-kit/define/found-names.ts'
import { suggestRules } from '../../plugin-kit/define/suggest-rules.ts'
import { exactly } from '../../plugin-kit/spec/patterns.ts'
import { bounded, example, wholeNumber } from '../../plugin-kit/spec/request-values.ts'
import type { FoundNames } from '../../plugin-kit/spec/rule-names.ts'
import { scopeKey } from '../../plugin-kit/task/source-task.ts'
import type { Routes } from '../api.ts'
import { askSource } from '../ask-source.ts'
import { answers, REMOTE_FAILURES } from '../contract/common.ts'
import { stopWith } from '../stream.ts'

const tags = ['rules']

/** A user waits for the answer, and more scopes would add little. */
const MOST_SAMPLED = 6
const SAMPLE_MS = 12_000

const word = bounded(255).min(1)
const id = wholeNumber(1, Number.MAX_SAFE_INTEGER)
const query = z.object({
  plugin: word,
  connectionId: id,
  scopeConfigId: id.optional().meta({ description: 'Only of the scopes that use it.' }),
})
const name = z.object({
  name: z.string(),
  count: z.int().nullable().meta({ description: 'How many records have it; null if unknown.' }),
  label: z.string().meta({ description: 'What people call it, where the name is an id.' }),
  group: z.string().meta({ description: 'What it belongs to, such as the category of a status.' }),
  pattern: z.string().meta({ description: 'Matches exactly this name.' }),
})
const namesRecord = z.object({
  basis: z.enum(['stored', 'sample', 'nothing']).meta({
    description: 'stored: all that was collected; sample: the newest that the source itself tells; nothing: neither',
  }),
  scopes: z.int().meta({ description: 'How many scopes were looked at.' }),
  problem: z.string().nullable().meta({ description: 'Why the sample is incomplete.' }),
  kinds: z.array(z.object({ kind: z.string(), title: z.string(), names: z.array(name) })),
  suggestions: z
    .array(z.object({ field: z.string(), value: z.any(), reason: z.string(), isFound: z.boolean() }))
    .meta({ description: 'Rules for a scope config, from these names, and why.' }),
})
const isEmpty = (found: FoundNames) => [...found.values()].every(({ length }) => length === 0)

export const nameRoutes: Routes = (api, { database, plugins, services, heavy }) => {
  api.get(
    '/v1/names',
    {
      config: { least: 'admin', reach: 'everywhere', size: 'none', cost: 'light' },
      schema: {
        tags,
        summary: 'Names that the rules of a source can match, with suggested rules',
        querystring: query,
        response: answers(200, namesRecord, 404, ...REMOTE_FAILURES),
      },
    },
    async ({ query: { plugin, connectionId, scopeConfigId } }, reply) => {
      const source = sourceNamed(plugins, plugin)
      await services.connections.get(plugin, connectionId)
      const scopesOf = (configId?: number) =>
        selectRows(database.kysely, source.scope.table, (rows) => {
          const own = rows.where('connection_id', '=', connectionId).orderBy(scopeKey(source))
          return (configId === undefined ? own : own.where('scope_config_id', '=', configId)).limit(MOST_SAMPLED)
        })
      const users = scopeConfigId === undefined ? [] : await scopesOf(scopeConfigId)
      // If no scope uses the config yet, the scopes of the connection are used instead.
      const configId = users.length > 0 ? scopeConfigId : undefined
      const scopes = users.length > 0 ? users : await scopesOf()
      const stored = await storedNames(database, source, connectionId, configId)
      const isSample = isEmpty(stored) && scopes.length > 0 && (source.scopeConfig.samples ?? []).length > 0
      const { found, problem } = isSample
        ? await askSource(source, services, connectionId, (client) => {
            const signal = AbortSignal.any([stopWith(reply), AbortSignal.timeout(SAMPLE_MS)])
            return sampledNames(client, source, scopes, signal)
          })
        : { found: stored, problem: null }
      return {
        basis: isEmpty(found) ? ('nothing' as const) : isSample ? ('sample' as const) : ('stored' as const),
        scopes: scopes.length,
        problem,
        kinds: Object.entries(source.scopeConfig.names ?? {}).map(([kind, { title }]) => ({
          kind,
          title,
          names: (found.get(kind) ?? []).map((each) => ({ ...each, pattern: exactly(each.name) })),
        })),
        suggestions: suggestRules(source, found),
      }
    },
  )

  api.post(
    '/v1/patterns/match',
    {
      config: { least: 'viewer', reach: 'everywhere', size: 'list', cost: 'heavy' },
      schema: {
        tags,
        summary: 'Which names a pattern matches, as rules do it, or what is wrong with it',
        body: z
          .strictObject({ pattern: bounded(10_000), names: z.array(bounded(1000)).max(1000) })
          .meta(example({ pattern: '(?i)prod', names: ['production', 'staging'] })),
        response: answers(
          200,
          z.object({
            matches: z.array(z.boolean()).meta({ description: 'In the order of the names.' }),
            problem: z
              .object({ message: z.string(), at: z.int().meta({ description: 'The character, from 0.' }) })
              .nullable(),
          }),
          413,
        ),
      },
    },
    async ({ body: { pattern, names } }) => {
      const { matches, problem } = await heavy.run('matchPattern', pattern, names)
      return { matches: [...matches], problem }
    },
  )
}
