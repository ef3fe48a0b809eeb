/** Backup, wipe, restore: the same bytes again, on each engine and between them. Nothing is written from an incomplete file. */
import { copyFileSync, existsSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'
import { sql } from 'kysely'
import { beforeAll, expect, inject, it } from 'vitest'
import { checkBackup, prepareForRestore, restoreBackup } from '../../src/backup/restore.ts'
import { writeBackup } from '../../src/backup/write-backup.ts'
import type { Database } from '../../src/database/database.ts'
import { openDatabase } from '../../src/database/open.ts'
import { write } from '../../src/database/write.ts'
import { rawTable } from '../../src/plugin-kit/raw/raw-table.ts'
import { openSecrets } from '../../src/secrets/encryption-key.ts'
import { rotateKey } from '../../src/secrets/rotate-key.ts'
import { prepareDatabase } from '../../src/start/prepare-database.ts'
import { runCli } from '../support/cli.ts'
import { describeEachDatabase } from '../support/databases.ts'
import { databasesOf, type Engine } from '../support/servers.ts'
import { control, fill, KEY, newFolder, place, TOKEN } from './support/varied-rows.ts'

const OTHER_KEY = 'the passphrase of another installation'
const MADE = new Date('2026-01-31T10:00:00.000Z')
const DAY_LATER = new Date('2026-02-01T10:00:00.000Z')

const newFile = () => join(newFolder(), 'weir.backup')
/** Returns all lines of a backup. The first line contains the date. */
const linesOf = (file: string) => gunzipSync(readFileSync(file)).toString().split('\n')
const withoutDate = (file: string) => {
  const [head = '', ...rest] = linesOf(file)
  const { madeAt: _, ...header } = JSON.parse(head)
  // The last line contains a checksum that includes the first line.
  return [JSON.stringify(header), ...rest.slice(0, -2)]
}

async function opened<Result>(url: string, body: (database: Database) => Promise<Result>): Promise<Result> {
  const database = await openDatabase(url)
  try {
    return await body(database)
  } finally {
    await database.close()
  }
}

const restored = async (database: Database, file: string, own = place()) => {
  const checked = await checkBackup(file, own)
  await prepareForRestore(database)
  await restoreBackup(database, checked, own)
}

const countRows = async ({ kysely }: Database, table: string) => {
  const { rows } = await sql<{ count: number }>`select count(*) as count from ${sql.table(table)}`.execute(kysely)
  return Number(rows[0]?.count)
}

describeEachDatabase('a backup', (test) => {
  const file = newFile()
  beforeAll(async () => {
    await fill(test.database)
    await writeBackup(test.database, file, { version: '0.1.0', madeAt: MADE })
  })

  it('holds no secret in clear, and only its owner may read it', () => {
    const text = linesOf(file).join('\n')
    expect(text).toContain('"main"')
    expect(text).not.toContain(TOKEN)
    expect(text).not.toContain(KEY)
    expect(statSync(file).mode & 0o777).toBe(0o600)
    expect(Number((JSON.parse(linesOf(file).at(-2) ?? '{}') as { rows: number }).rows)).toBeGreaterThan(10)
  })

  it('gives the same bytes after a restore into an empty database, and what it holds can be used', async () => {
    const again = newFile()
    await opened(await test.createDatabase(), async (database) => {
      await restored(database, file)
      await writeBackup(database, again, { version: '0.1.0', madeAt: MADE })
      const services = control(database, await openSecrets(database, place()))
      expect((await services.connections.reveal('github', 1)).token).toBe(TOKEN)
      const raw = rawTable('github_api_pull_requests')
      await write(database, [
        raw.row({ params: 'x', data: Buffer.from('{}'), url: '', input_key: '', record_key: '9' }),
      ])
      const { rows } = await sql<{ id: number }>`select max(id) as id from ${sql.table(raw.name)}`.execute(
        database.kysely,
      )
      expect(rows[0]?.id).toBe(5)
    })
    expect(readFileSync(again).equals(readFileSync(file))).toBe(true)
  })

  it('differs in its date alone when it is made again later', async () => {
    const later = newFile()
    await writeBackup(test.database, later, { version: '0.1.0', madeAt: DAY_LATER })
    expect(withoutDate(later)).toEqual(withoutDate(file))
    expect(linesOf(later)[0]).not.toBe(linesOf(file)[0])
  })

  it('is the same on the other engine', async (context) => {
    const other: Engine = test.engine === 'postgres' ? 'mysql' : 'postgres'
    const server = inject('databaseServers')[other]
    if (!server) return context.skip('the other engine is missing')
    const { createDatabase, dropDatabase } = databasesOf(other, server)
    const url = await createDatabase()
    const there = newFile()
    const back = newFile()
    await opened(url, async (database) => {
      await restored(database, file)
      await writeBackup(database, there, { version: '0.1.0', madeAt: MADE })
    })
    await dropDatabase(url)
    expect(withoutDate(there)).toEqual(withoutDate(file))
    await opened(await test.createDatabase(), async (database) => {
      await restored(database, there)
      await writeBackup(database, back, { version: '0.1.0', madeAt: MADE })
    })
    expect(readFileSync(back).equals(readFileSync(file))).toBe(true)
  })

  it('is never written over another file', async () => {
    const before = readFileSync(file)
    await expect(writeBackup(test.database, file, { version: '0.1.0' })).rejects.toThrow('exists already')
    expect(readFileSync(file).equals(before)).toBe(true)
    const nowhere = join(newFolder(), 'no', 'such', 'folder')
    await expect(writeBackup(test.database, nowhere, { version: '0.1.0' })).rejects.toThrow(
      /There is no folder.*another place/,
    )
    expect(existsSync(`${nowhere}.part`)).toBe(false)
  })

  it('is refused by a database that is not empty, which keeps what it has', async () => {
    const before = newFile()
    const after = newFile()
    await writeBackup(test.database, before, { version: '0.1.0', madeAt: MADE })
    await expect(restored(test.database, file)).rejects.toThrow(/not empty.*Nothing was changed/)
    await writeBackup(test.database, after, { version: '0.1.0', madeAt: MADE })
    expect(readFileSync(after).equals(readFileSync(before))).toBe(true)
  })

  it('is repeated after it broke off, and no server starts in between', async () => {
    await opened(await test.createDatabase(), async (database) => {
      let batches = 0
      const breaking: Database = {
        ...database,
        transaction: (body) => {
          if (++batches === 4) throw new Error('killed')
          return database.transaction(body)
        },
      }
      await expect(restored(breaking, file)).rejects.toThrow('killed')
      await expect(prepareDatabase(database)).rejects.toThrow('weir restore')
      await restored(database, file)
      const again = newFile()
      await writeBackup(database, again, { version: '0.1.0', madeAt: MADE })
      expect(readFileSync(again).equals(readFileSync(file))).toBe(true)
      await prepareDatabase(database)
    })
  })

  it('made with a key that was replaced since is restored with the old key, and encrypted with the new one', async () => {
    await expect(checkBackup(file, place(OTHER_KEY))).rejects.toThrow(/another encryption key.*OLD_ENCRYPTION_SECRET/)
    await expect(checkBackup(file, place(''))).rejects.toThrow(
      /^There is no encryption key here, and the backup cannot/,
    )
    await opened(await test.createDatabase(), async (database) => {
      await restored(database, file, { ...place(OTHER_KEY), oldEncryptionSecret: KEY })
      const services = control(database, await openSecrets(database, place(OTHER_KEY)))
      expect((await services.connections.reveal('github', 1)).token).toBe(TOKEN)
    })
  })

  it('under way, and not while the key is being replaced', async () => {
    await sql`update _weir_encryption_keys set next_fingerprint = 'next'`.execute(test.database.kysely)
    await expect(writeBackup(test.database, newFile(), { version: '0.1.0' })).rejects.toThrow('secrets rotate')
    await sql`update _weir_encryption_keys set next_fingerprint = ''`.execute(test.database.kysely)
    await rotateKey(test.database, place(), OTHER_KEY)
    await rotateKey(test.database, place(OTHER_KEY), KEY)
  })

  it('that is cut, damaged, longer, of another version or none at all leaves a database untouched', async () => {
    const url = await test.createDatabase()
    const environment = { DB_URL: url, DATA_FOLDER: newFolder(), ENCRYPTION_SECRET: KEY }
    const broken = (change: (lines: string[]) => string[]) => {
      const copy = newFile()
      writeFileSync(copy, gzipSync(change(linesOf(file)).join('\n')))
      return copy
    }
    const cut = newFile()
    copyFileSync(file, cut)
    truncateSync(cut, Math.floor(readFileSync(file).length / 2))
    const text = newFile()
    writeFileSync(text, 'not a backup')
    const cases: [string, RegExp][] = [
      [cut, /ends in the middle/],
      [text, /is not a backup/],
      [join(newFolder(), 'missing'), /does not exist/],
      [broken((lines) => lines.slice(0, -2)), /ends in the middle/],
      [broken((lines) => lines.slice(0, 40)), /ends in the middle|missing or damaged/],
      [broken((lines) => lines.map((line) => line.replace("it's", 'it is'))), /checksum of cicd_pipelines/],
      [broken((lines) => [...lines, '[]']), /follows its end/],
      [
        broken(([head = '', ...rest]) => [head.replace(/"schema":"./, '"schema":"f'), ...rest]),
        /another version of Weir/,
      ],
      [
        broken(([head = '', ...rest]) => [head.replace('"format":1', '"format":2'), ...rest]),
        /another version of Weir/,
      ],
      [broken(([, ...rest]) => rest), /first line is missing/],
    ]
    for (const [name, message] of cases) {
      await expect(checkBackup(name, place()), String(message)).rejects.toThrow(message)
    }
    const { code, errors } = await runCli(['restore', cut], environment)
    expect(errors).toMatch(/ends in the middle: it was cut/)
    expect(code).toBe(1)
    await opened(url, async (database) => expect((await database.describe()).size).toBe(0))
  })

  it('is made and restored by commands', async () => {
    const copy = newFile()
    const folder = newFolder()
    const made = await runCli(['backup', copy], { DB_URL: test.url, DATA_FOLDER: folder, ENCRYPTION_SECRET: KEY })
    expect(made).toMatchObject({ code: 0, errors: '' })
    expect(made.output).toMatch(/rows of \d+ tables.*Keep a copy of the encryption key/)
    const url = await test.createDatabase()
    const filled = { DB_URL: url, DATA_FOLDER: folder, ENCRYPTION_SECRET: KEY }
    expect(await runCli(['restore', copy], filled)).toMatchObject({ code: 0, errors: '' })
    await opened(url, async (database) => expect(await countRows(database, 'cicd_pipelines')).toBe(7))
    const twice = await runCli(['restore', copy], filled)
    expect(twice.code).toBe(1)
    expect(twice.errors).toMatch(/not empty/)
  })

  it('is restored beside the old installation, into a new folder that has its key', async () => {
    const [old, restored] = [newFolder(), newFolder()]
    writeFileSync(join(old, 'encryption-key'), KEY, { mode: 0o600 })
    const copy = newFile()
    expect(await runCli(['backup', copy], { DB_URL: test.url, DATA_FOLDER: old })).toMatchObject({ code: 0 })
    const target = { DB_URL: await test.createDatabase(), DATA_FOLDER: restored }
    const early = await runCli(['restore', copy], target)
    expect([early.code, early.errors]).toEqual([1, expect.stringMatching(/encryption key/)])
    copyFileSync(join(old, 'encryption-key'), join(restored, 'encryption-key'))
    expect(await runCli(['restore', copy], target)).toMatchObject({ code: 0, errors: '' })
  })
})
