/** Makes scopes from the records of a source, as the scope picker would store them. */

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'csv-parse/sync'
import { publicName } from '../../src/control-plane/store.ts'
import type { Database } from '../../src/database/database.ts'
import { write } from '../../src/database/write.ts'
import { repos } from '../../src/plugins/bitbucket/kit.ts'
import { scopeOf } from '../../src/plugins/bitbucket/remote-scopes.ts'
import { anyTable } from '../support/any-table.ts'

/** Inserts the scope of one record of a file. A scope that exists already is kept. */
export async function insertBitbucketScope(database: Database, data: string, args: Record<string, any>): Promise<void> {
  const records: Record<string, string>[] = parse(readFileSync(join(data, args.csv)), {
    columns: true,
    skip_empty_lines: true,
    bom: true,
  })
  const told: Record<string, unknown> = scopeOf(JSON.parse(records[args.row]?.[args.column] ?? ''))
  const values = Object.fromEntries(repos.names.map((name) => [name, told[publicName(name)]]))
  const row = { ...values, connection_id: args.connectionId, bitbucket_id: String(told.bitbucketId) }
  const { connection_id, bitbucket_id } = row
  const known = anyTable(database.kysely).selectFrom(repos.name).where('connection_id', '=', connection_id)
  if (await known.where('bitbucket_id', '=', bitbucket_id).select('bitbucket_id').executeTakeFirst()) return
  await write(database, [repos.row(row)])
}
