/** `weir backup` and `weir restore` killed at any moment leave the old state, the complete new state, or one that is refused. */

import { existsSync, mkdtempSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sql } from 'kysely'
import { beforeAll, expect, it } from 'vitest'
import { checkBackup } from '../../src/backup/restore.ts'
import { writeBackup } from '../../src/backup/write-backup.ts'
import type { Database } from '../../src/database/database.ts'
import { openDatabase } from '../../src/database/open.ts'
import { write } from '../../src/database/write.ts'
import { accounts } from '../../src/domain/people.ts'
import { issues } from '../../src/domain/ticket.ts'
import { createField } from '../../src/plugins/customize/fields.ts'
import { openSecrets } from '../../src/secrets/encryption-key.ts'
import { prepareDatabase } from '../../src/start/prepare-database.ts'
import { restores } from '../../src/system/state.ts'
import { anyTable } from '../support/any-table.ts'
import { runCli } from '../support/cli.ts'
import { describeEachDatabase } from '../support/databases.ts'
import { chooseSteps, countSteps, killAt } from '../support/killed-cli.ts'

const KEY = 'the passphrase of this installation'
const MADE = { version: '0.1.0', madeAt: new Date('2026-01-31T10:00:00.000Z') }
const ROWS = 3000
const KILLS = 4
const ENOUGH_MS = 900_000

const newFolder = () => mkdtempSync(join(tmpdir(), 'weir-killed-'))
const newFile = () => join(newFolder(), 'weir.backup')
const place = { dataFolder: newFolder(), encryptionSecret: KEY }
const environmentOf = (url: string) => ({ DB_URL: url, DATA_FOLDER: place.dataFolder, ENCRYPTION_SECRET: KEY })

async function fill(database: Database): Promise<void> {
  await prepareDatabase(database)
  await openSecrets(database, place)
  await createField(database, 'issues', { columnName: 'x_team', displayName: 'Team', dataType: 'varchar(255)' })
  const numbers = Array.from({ length: ROWS }, (_, index) => index)
  await write(
    database,
    numbers.map((number) => accounts.row({ id: `a:${number}`, full_name: `Ada ${number}` })),
  )
  await write(
    database,
    numbers.map((number) => issues.row({ id: `i:${number}`, title: `Größe ${number}` })),
  )
}

async function bytesOf(database: Database): Promise<Buffer> {
  const file = newFile()
  await writeBackup(database, file, MADE)
  return readFileSync(file)
}

describeEachDatabase('killed in the middle', (test) => {
  const file = newFile()
  let before: Buffer
  beforeAll(async () => {
    await fill(test.database)
    await writeBackup(test.database, file, MADE)
    before = readFileSync(file)
  })

  it('a backup leaves no file of its name, or a whole one, and is made by the next command', {
    timeout: ENOUGH_MS,
  }, async () => {
    const environment = environmentOf(test.url)
    const steps = await countSteps(['backup', newFile()], environment)
    for (const step of chooseSteps(steps, KILLS)) {
      const copy = newFile()
      await killAt(step, ['backup', copy], environment)
      if (!existsSync(copy)) expect((await runCli(['backup', copy], environment)).errors).toBe('')
      expect(await checkBackup(copy, place)).toMatchObject({ rows: expect.any(Number), file: copy })
    }
  })

  it('a restore keeps every server out, and is repeated to its end', { timeout: ENOUGH_MS }, async () => {
    const steps = await countSteps(['restore', file], environmentOf(await test.createDatabase()))
    const url = await test.createDatabase()
    const database = await openDatabase(url)
    // All kills hit the same database one after the other, so repetitions are killed too.
    for (const step of chooseSteps(steps, KILLS)) {
      await killAt(step, ['restore', file], environmentOf(url))
      const live = await database.describe()
      const count = async (table: string) =>
        live.has(table)
          ? (await anyTable(database.kysely).selectFrom(table).select(sql`1`.as('one')).execute()).length
          : 0
      if ((await count(restores.name)) > 0) {
        // Every server and command does this first.
        await expect(prepareDatabase(database)).rejects.toThrow(/begun and not finished.*`npx weir restore FILE`/)
      } else {
        // Either nothing had begun, or everything was done.
        const [first, ...others] = await Promise.all(['accounts', 'issues'].map(count))
        expect([0, ROWS]).toContain(first)
        expect(others).toEqual([first])
      }
    }
    const { code, errors } = await runCli(['restore', file], environmentOf(url))
    if (code !== 0) expect(errors).toMatch(/not empty/)
    expect((await bytesOf(database)).equals(before)).toBe(true)
    await database.close()
  })
})
