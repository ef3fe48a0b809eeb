/** Checks whether the secret is DevLake's: tries it on stored values, before anything is written. */

import { allConnected } from '../control-plane/sources.ts'
import type { Database } from '../database/database.ts'
import { knowing } from '../database/kysely.ts'
import { UserError } from '../errors.ts'
import { columnName } from '../plugin-kit/spec/fields.ts'
import type { Plugin } from '../plugin-kit/spec/plugin.ts'
import { tasks } from '../system/pipelines.ts'
import { blueprints } from '../system/projects.ts'
import { type OldKey, oldKey } from './old-key.ts'
import type { Live } from './recognise.ts'
import { isOurs } from './rules.ts'

const SAMPLES = 50

export interface SecretChoice {
  /** DevLake's ENCRYPTION_SECRET. */
  readonly secret: string | undefined
  /** The variable through which the user passes it, for messages. */
  readonly variable: string
  readonly withoutSecrets: boolean
}

/** Undefined if the user wants to leave secrets behind. */
export async function openOldSecrets(
  database: Database,
  live: Live,
  plugins: readonly Plugin[],
  { secret, variable, withoutSecrets }: SecretChoice,
): Promise<OldKey | undefined> {
  if (withoutSecrets) return undefined
  const samples = await ciphertexts(database, live, plugins)
  if (secret === undefined || secret === '') {
    throw new UserError(
      `Tokens, passwords and plans of DevLake are encrypted: set ${variable} to DevLake's ENCRYPTION_SECRET, or use --without-secrets and enter them again afterwards. Nothing was changed.`,
    )
  }
  const open = oldKey(secret)
  if (samples.length > 0 && !samples.some((sample) => open(sample) !== undefined)) {
    throw new UserError(
      `${variable} is not the secret that this DevLake database was encrypted with: set it to DevLake's ENCRYPTION_SECRET, or name a variable that holds it with --encryption-secret-env, or use --without-secrets and enter tokens and passwords again afterwards. Nothing was changed.`,
    )
  }
  return open
}

async function ciphertexts({ kysely }: Database, live: Live, plugins: readonly Plugin[]): Promise<string[]> {
  const places = [
    ...allConnected(plugins).map(({ table, fields }) => ({
      table,
      columns: Object.entries(fields).flatMap(([name, { kind }]) => (kind === 'secret' ? [columnName(name)] : [])),
    })),
    { table: blueprints, columns: ['plan'] },
    { table: tasks, columns: ['options'] },
  ]
  const found: string[] = []
  for (const { table, columns } of places) {
    const existing = columns.filter((column) => live.get(table.name)?.columns.has(column))
    if (existing.length === 0) continue
    const rows = await knowing(kysely, table)
      .selectFrom(table.name)
      .select(existing)
      .orderBy('id', 'desc')
      .limit(SAMPLES)
      .execute()
    found.push(...rows.flatMap((row) => Object.values(row)).map((value) => String(value ?? '')))
  }
  return found.filter((value) => value !== '' && !isOurs(value) && !/^[[{]/.test(value))
}
