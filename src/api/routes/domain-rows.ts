import { z } from 'zod'
import { doRecorded } from '../../control-plane/audit/record.ts'
import { selectRows } from '../../control-plane/store.ts'
import { type RowOf, requireWholeText } from '../../database/table.ts'
import { write } from '../../database/write.ts'
import { repos } from '../../domain/code.ts'
import { domainTables } from '../../domain/index.ts'
import { RecordError, UserError } from '../../errors.ts'
import { example } from '../../plugin-kit/spec/request-values.ts'
import { withBareAddresses } from '../../secrets/address-secrets.ts'
import { actorOf } from '../access/gate.ts'
import type { Routes } from '../api.ts'
import { answers } from '../contract/common.ts'

const tags = ['domain layer']

/** Rows that other programs write directly into the domain layer. */
export const domainRowRoutes: Routes = (api, { config, database }) => {
  const params = z.object({ tableName: z.string().regex(/^[A-Za-z0-9_]+$/, 'must consist of letters, digits and _') })
  const rows = z
    .array(z.record(z.string(), z.any()))
    .meta(example([{ id: 'github:GithubRepo:1:1', name: 'acme/shop', url: 'https://github.com/acme/shop' }]))
  api.post(
    '/push/:tableName',
    {
      config: { least: 'operator', reach: 'everywhere', size: 'list', cost: 'light' },
      schema: {
        tags,
        summary: 'Write rows into a table; a row whose key exists is replaced',
        params,
        body: rows,
        response: answers(200, z.object({ rowsAffected: z.int() }), 403),
      },
    },
    async (request) => {
      const { tableName } = request.params
      const allowed = config.pushApiAllowedTables
      if (allowed.length > 0 && !allowed.includes(tableName)) {
        throw new UserError(`${tableName} does not accept pushes: add it to PUSH_API_ALLOWED_TABLES.`, { status: 403 })
      }
      const table = domainTables.find(({ name }) => name === tableName)
      if (!table) throw new UserError(`${tableName} is not a domain table.`, { status: 403 })
      const made = withBareAddresses(request.body).map((values, index) => {
        const unknown = Object.keys(values).find((name) => !table.names.includes(name))
        if (unknown) throw new UserError(`Row ${index + 1}: ${tableName} has no column ${unknown}.`)
        try {
          requireWholeText(table, values)
          return table.row(values as Parameters<typeof table.row>[0])
        } catch (error) {
          if (!(error instanceof RecordError)) throw error
          throw new UserError(`Row ${index + 1}: ${error.message}.`, { cause: error })
        }
      })
      const change = { action: 'push', subject: 'domain rows', key: tableName } as const
      return doRecorded(database, actorOf(request), change, async (inside) => {
        await write(inside, made)
        return { rowsAffected: made.length }
      })
    },
  )
  api.get(
    '/domainlayer/repos',
    {
      config: { least: 'viewer', reach: 'everywhere', size: 'none', cost: 'light' },
      schema: {
        tags,
        summary: 'Repositories',
        response: answers(200, z.object({ repos: z.array(z.looseObject({ id: z.string() })), count: z.int() })),
      },
    },
    async () => {
      const found = await selectRows(database.kysely, repos, (query) => query.orderBy('id'))
      return { repos: found.map(publicRepo), count: found.length }
    },
  )
}

/** The columns keep their names; only the times of writing are spelt as elsewhere in the API. */
function publicRepo({ created_at, updated_at, ...repo }: RowOf<typeof repos>) {
  return { ...repo, createdAt: created_at, updatedAt: updated_at }
}
