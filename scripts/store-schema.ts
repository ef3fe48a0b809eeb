/**
 * Keeps the schema of the version that is about to be released, with rows in every table that holds data, so that
 * tests/upgrade/ updates from it for ever after. It stores a backup, and the statements that make the schema on either engine.
 */
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import packageFile from '../package.json' with { type: 'json' }
import { writeBackup } from '../src/backup/write-backup.ts'
import type { Database } from '../src/database/database.ts'
import type { Dialect } from '../src/database/dialect.ts'
import { startEmbedded } from '../src/database/embedded/embedded.ts'
import { codeHash, codeVersion, schemaVersions, statementsFor } from '../src/database/migrate.ts'
import { mysql } from '../src/database/mysql/dialect.ts'
import { openDatabase } from '../src/database/open.ts'
import { postgres } from '../src/database/postgres/dialect.ts'
import type { AnyTable, Column, Kind } from '../src/database/table.ts'
import { write } from '../src/database/write.ts'
import { seedRows } from '../src/domain/seeds.ts'
import { createLog } from '../src/log.ts'
import { createField } from '../src/plugins/customize/fields.ts'
import { plugins } from '../src/plugins/index.ts'
import { openSecrets } from '../src/secrets/encryption-key.ts'
import type { Secrets } from '../src/secrets/secrets.ts'
import { createControlPlane } from '../src/start/create-control-plane.ts'
import { prepareDatabase } from '../src/start/prepare-database.ts'
import { systemTables } from '../src/system/index.ts'
import { allTables } from '../src/tables.ts'

export const releasedFolder = new URL('../tests/upgrade/released/', import.meta.url)
/** The texts in the rows, for which a test looks. */
export const RELEASED = {
  encryptionSecret: 'the passphrase of every stored release',
  connection: 'kept through updates',
  token: 'a token that must stay readable',
  project: 'shop',
  field: 'x_team',
} as const

/** The statements with which `migrate` makes an empty database. */
function statementsOf(dialect: Dialect): string {
  const tables = [schemaVersions, ...allTables]
  const made = [
    ...statementsFor({ dialect }, tables, new Map()),
    ...tables.filter(({ isAppendOnly }) => isAppendOnly).flatMap((table) => [...dialect.appendOnly.statements(table)]),
    `insert into ${dialect.quote(schemaVersions.name)} (version, hash) values (${codeVersion}, '${codeHash}')`,
  ]
  return JSON.stringify(made)
}

/** A value of each kind that differs from every default. */
const VALUES: Record<Kind, unknown> = {
  string: 'k',
  text: 'Größe 🐟',
  integer: 7,
  bigint: 9_007_199_254_740_991,
  double: 0.1,
  boolean: true,
  timestamp: new Date('2026-01-02T03:04:05.678Z'),
  date: new Date('2026-01-02T00:00:00.000Z'),
  json: { a: [1, null] },
  bytes: Buffer.from([0, 255, 10]),
}

function fullRow(table: AnyTable, { encrypt }: Secrets) {
  const value = (name: string) => {
    const { kind, isSealed } = table.columns[name] as Column
    return isSealed ? encrypt('k') : VALUES[kind]
  }
  const names = table.names.filter((name) => !(table.columns[name] as Column).isGenerated)
  return (table as Exclude<AnyTable, never>).row(Object.fromEntries(names.map((name) => [name, value(name)])) as never)
}

async function fill(database: Database, dataFolder: string): Promise<void> {
  await prepareDatabase(database)
  const secrets = await openSecrets(database, { dataFolder, encryptionSecret: RELEASED.encryptionSecret })
  // Rows that configure Weir are made as users make them, seeds are there already, and all others are made from their definitions.
  const others = new Set<AnyTable>([...systemTables, ...seedRows(new Date()).map(({ table }) => table)])
  const filled = allTables.filter((table) => !others.has(table) && !table.name.endsWith('_connections'))
  await write(
    database,
    filled.map((table) => fullRow(table, secrets)),
  )
  await createField(database, 'issues', { columnName: RELEASED.field, displayName: 'Team', dataType: 'varchar(255)' })
  const { services } = createControlPlane({ database, plugins, secrets, dataFolder, log: createLog('silent') })
  const endpoint = 'http://127.0.0.1:1/'
  await services.connections.create('github', { name: RELEASED.connection, endpoint, token: RELEASED.token })
  await services.projects.create({ name: RELEASED.project, description: 'Größe 🐟' })
  const plan = [[{ plugin: 'dora', subtasks: [], options: { projectName: RELEASED.project } }]]
  const { id } = await services.blueprints.create({ name: 'by hand', mode: 'ADVANCED', isManual: true, plan })
  const run = await services.blueprints.trigger(id)
  await services.pipelines.cancel(run.id)
}

async function storeSchema(version: string): Promise<void> {
  const folder = new URL(`${version}/`, releasedFolder)
  if (existsSync(folder)) {
    throw new Error(
      `The schema of ${version} is stored already, and what was released does not change. Raise the version in package.json first, or delete tests/upgrade/released/${version} if it was never released.`,
    )
  }
  const dataFolder = mkdtempSync(join(tmpdir(), 'weir-schema-'))
  const embedded = await startEmbedded(dataFolder)
  try {
    const database = await openDatabase(embedded.url)
    await fill(database, dataFolder)
    mkdirSync(folder, { recursive: true })
    for (const dialect of [postgres, mysql]) {
      writeFileSync(new URL(`${dialect.name}.json.gz`, folder), gzipSync(statementsOf(dialect)))
    }
    await writeBackup(database, new URL('rows.backup', folder).pathname, { version })
    await database.close()
  } finally {
    await embedded.stop()
    rmSync(dataFolder, { recursive: true, force: true })
  }
  console.log(`tests/upgrade/released/${version}: commit it with the release.`)
}

if (import.meta.main) await storeSchema(packageFile.version)
