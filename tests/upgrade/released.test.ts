/** Databases of every released version are filled and updated to this version. A database of a future version is tested too. */

import { mkdtempSync, readdirSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { RELEASED, releasedFolder } from '../../scripts/store-schema.ts'
import { decodeCell, isKind, type TableLine } from '../../src/backup/format.ts'
import { addedColumns, rowLines, withAdded } from '../../src/backup/stored-tables.ts'
import type { Database } from '../../src/database/database.ts'
import type { LiveTable } from '../../src/database/dialect.ts'
import { codeVersion, schemaVersions, statementsFor } from '../../src/database/migrate.ts'
import { openDatabase } from '../../src/database/open.ts'
import { seedRows } from '../../src/domain/seeds.ts'
import { createLog } from '../../src/log.ts'
import { plugins } from '../../src/plugins/index.ts'
import { openSecrets } from '../../src/secrets/encryption-key.ts'
import { createControlPlane } from '../../src/start/create-control-plane.ts'
import { allTables } from '../../src/tables.ts'
import { wholeOf } from '../import-devlake/support/devlake-database.ts'
import { anyTable } from '../support/any-table.ts'
import { runCli } from '../support/cli.ts'
import { describeEachDatabase } from '../support/databases.ts'
import { freePort } from '../support/servers.ts'

const versions = readdirSync(releasedFolder).sort()
const place = { dataFolder: mkdtempSync(join(tmpdir(), 'weir-upgrade-')), encryptionSecret: RELEASED.encryptionSecret }
const unpacked = (version: string, name: string) =>
  gunzipSync(readFileSync(new URL(`${version}/${name}`, releasedFolder))).toString()

type StoredRow = Readonly<Record<string, unknown>>
interface StoredTable {
  readonly line: TableLine
  readonly rows: readonly StoredRow[]
}

/** Reads the tables of a backup, without using their present definitions. */
function storedTables(version: string): StoredTable[] {
  const tables: { line: TableLine; rows: StoredRow[] }[] = []
  for (const text of unpacked(version, 'rows.backup').trimEnd().split('\n')) {
    const line = JSON.parse(text)
    const current = tables.at(-1)
    if ('table' in line) tables.push({ line, rows: [] })
    else if (Array.isArray(line) && current)
      current.rows.push(Object.fromEntries(current.line.columns.map((name, position) => [name, line[position]])))
  }
  return tables
}

/** Creates the database as the released version left it. */
async function makeReleased(database: Database, version: string): Promise<void> {
  for (const statement of JSON.parse(unpacked(version, `${database.dialect.name}.json.gz`)) as string[]) {
    await sql.raw(statement).execute(database.kysely)
  }
  const { quote } = database.dialect
  const tables = storedTables(version)
  for (const { line } of tables) {
    for (const { name, kind, size } of line.added) {
      const type = database.dialect.columnType({ kind, missing: 'null', ...(size && { size }) })
      await sql.raw(`alter table ${quote(line.table)} add column ${quote(name)} ${type}`).execute(database.kysely)
    }
  }
  const live = await database.describe()
  for (const { line, rows } of tables) {
    const kindOf = (name: string) => {
      const type = live.get(line.table)?.columns.get(name)?.type ?? ''
      return isKind(type) ? type : 'text'
    }
    const decoded = rows.map((row) =>
      Object.fromEntries(Object.entries(row).map(([name, cell]) => [name, decodeCell(kindOf(name), cell)])),
    )
    if (decoded.length > 0) await anyTable(database.kysely).insertInto(line.table).values(decoded).execute()
  }
}

/** Returns the present rows, in the form of a backup. */
async function rowsOf(database: Database, live: LiveTable | undefined, name: string): Promise<StoredRow[]> {
  const defined = allTables.find((table) => table.name === name)
  if (!defined) return []
  const table = withAdded(defined, addedColumns(defined, live))
  const rows: StoredRow[] = []
  for await (const line of rowLines(database, table)) {
    const cells = JSON.parse(line) as unknown[]
    rows.push(Object.fromEntries(table.names.map((column, position) => [column, cells[position]])))
  }
  return rows
}

it('every version of the changelog is among them', () => {
  const changelog = readFileSync(new URL('../../CHANGELOG.md', import.meta.url), 'utf8')
  const released = [...changelog.matchAll(/^## (\d+\.\d+\.\d+)/gm)].map(([, version]) => version as string)
  expect(released).not.toHaveLength(0)
  expect(versions, 'run npm run store-schema').toEqual(expect.arrayContaining(released))
})

describe.each(versions)('a database of %s', (version) => {
  describeEachDatabase('is updated', (test) => {
    let database: Database
    let url: string
    const environment = () => ({
      DB_URL: url,
      DATA_FOLDER: place.dataFolder,
      ENCRYPTION_SECRET: RELEASED.encryptionSecret,
      LOGGING_FILE: 'stderr',
    })
    beforeAll(async () => {
      url = await test.createDatabase()
      database = await openDatabase(url)
      await makeReleased(database, version)
    })
    afterAll(() => database?.close())

    it('by the first command that uses it, and then has the tables of today', async () => {
      const { code, output, errors } = await runCli(['config', 'export'], environment())
      expect([code, errors]).toEqual([0, ''])
      expect(output).toContain(RELEASED.connection)
      expect(output).toContain(RELEASED.project)
      expect(statementsFor(database, [schemaVersions, ...allTables], await database.describe())).toEqual([])
      const { rows } = await sql`select max(version) as version from ${sql.table(schemaVersions.name)}`.execute(
        database.kysely,
      )
      expect(rows).toEqual([{ version: codeVersion }])
    })

    it('with every row, and every value of it', async () => {
      const seeds = new Set(seedRows(new Date()).map(({ table }) => table.name))
      const live = await database.describe()
      let compared = 0
      for (const { line, rows } of storedTables(version)) {
        // Seeded tables are left out: the calendar is extended over time, and the benchmarks are Weir's own.
        if (seeds.has(line.table) || rows.length === 0) continue
        const now = await rowsOf(database, live.get(line.table), line.table)
        for (const row of rows) expect(now, line.table).toContainEqual(expect.objectContaining(row))
        compared++
      }
      expect(compared).toBeGreaterThan(300)
    })

    it('with secrets and plans that can be read', async () => {
      const secrets = await openSecrets(database, place)
      const log = createLog('silent')
      const { services } = createControlPlane({ database, plugins, secrets, dataFolder: place.dataFolder, log })
      expect(await services.connections.reveal('github', 1)).toMatchObject({ token: RELEASED.token })
      const { items } = await services.blueprints.list({ pageSize: 100 })
      const byHand = items.find(({ name }) => name === 'by hand')
      expect(byHand).toMatchObject({ plan: [[{ plugin: 'dora', options: { projectName: RELEASED.project } }]] })
      expect(await services.pipelines.tasks(1)).toMatchObject([{ options: { projectName: RELEASED.project } }])
    })

    it('and never by an older program: that is refused, and nothing is changed', async () => {
      await anyTable(database.kysely)
        .insertInto(schemaVersions.name)
        .values({ version: codeVersion + 1, created_at: new Date() })
        .execute()
      await sql`drop table repos`.execute(database.kysely)
      const before = await wholeOf(database)
      for (const command of [['up'], ['config', 'export'], ['backup', join(place.dataFolder, 'never')]]) {
        const { code, errors } = await runCli(command, { ...environment(), PORT: String(await freePort()) })
        expect([code, errors]).toEqual([
          1,
          expect.stringMatching(/made by a newer Weir; this one knows \d+ \(\w+\)\. Install the newer Weir again/),
        ])
      }
      expect(await wholeOf(database)).toEqual(before)
    })
  })
})
