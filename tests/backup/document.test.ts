/** Follows docs/backup.md literally: from one kind of database to the other and back, with equal tables. */

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, expect, inject, it } from 'vitest'
import { writeBackup } from '../../src/backup/write-backup.ts'
import { openDatabase } from '../../src/database/open.ts'
import { blocksOf } from '../documents/blocks.ts'
import { openShell, type Shell } from '../documents/shell.ts'
import { type FakeS3, startFakeS3 } from '../fake-s3/fake-s3.ts'
import { describeOneDatabase } from '../support/databases.ts'
import { databasesOf, type Engine } from '../support/servers.ts'
import { fill, KEY, newFolder } from './support/varied-rows.ts'

const EXAMPLE = 'weir-backup-20260131T020000Z.backup'
const mine = blocksOf('docs/backup.md')
  .filter(({ runBy }) => runBy === 'tests/backup/document.test.ts')
  .map(({ text }) => text)
const inFolder = mine.filter((text) => !text.includes('s3://'))
const inBucket = mine.filter((text) => text.includes('s3://'))

/** Returns everything that a database contains, with a fixed date instead of the time of the backup. */
async function contentOf(url: string): Promise<string[]> {
  const file = join(newFolder(), 'weir.backup')
  const database = await openDatabase(url)
  await writeBackup(database, file, { version: '0.1.0', madeAt: new Date(0) })
  await database.close()
  return gunzipSync(readFileSync(file)).toString().split('\n')
}

describeOneDatabase('the page about backups', (test) => {
  let store: FakeS3
  let shell: Shell
  let other: { url: string; drop(): Promise<void> } | undefined
  beforeAll(async () => {
    store = await startFakeS3('backups')
    await fill(test.database)
    const engine: Engine = test.engine === 'postgres' ? 'mysql' : 'postgres'
    const server = inject('databaseServers')[engine]
    if (server) {
      const { createDatabase, dropDatabase } = databasesOf(engine, server)
      const url = await createDatabase()
      other = { url, drop: () => dropDatabase(url) }
    }
    const data = { DATA_FOLDER: newFolder(), ENCRYPTION_SECRET: KEY, TMPDIR: newFolder() }
    shell = openShell({ ...store.environment, ...data })
  })
  afterAll(async () => {
    shell?.remove()
    await store?.stop()
    await other?.drop()
  })
  const typed = async (text: string, from: string, to: string, name: string) => {
    const { code, output } = await shell.run(
      `export DB_URL='${from}' NEW_DATABASE='${to}'\n${text.replaceAll(EXAMPLE, name)}`,
    )
    expect([text, code, output]).toEqual([text, 0, expect.any(String)])
    return output
  }
  const nameIn = (text: string) => /weir-backup-\d{8}T\d{6}Z\.backup/.exec(text)?.[0] ?? ''

  it('moves a database to the other kind by a folder, and back by a bucket', { timeout: 480_000 }, async (context) => {
    if (!other) return context.skip('the other engine is missing')
    expect([inFolder.length, inBucket.length]).toEqual([3, 2])
    const [make = '', restore = '', rehearse = ''] = inFolder
    const name = nameIn(await typed(make, test.url, '', ''))
    // A command renews the rows that every database holds, so the content is read after the command.
    const before = await contentOf(test.url)
    expect(before.length).toBeGreaterThan(800)
    expect(await typed(rehearse, test.url, '', name)).toContain('checksums of all tables are equal')
    await typed(restore, test.url, other.url, name)
    expect(await contentOf(other.url)).toEqual(before)

    const back = await test.createDatabase()
    const [makeThere = '', restoreThere = ''] = inBucket
    const nameThere = nameIn(await typed(makeThere, other.url, '', ''))
    await typed(restoreThere, other.url, back, nameThere)
    expect(await contentOf(back)).toEqual(await contentOf(other.url))
  })
})
