/** Every older program refuses a database that a newer one has used. This is also tested with the real program of an earlier commit. */
import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, globSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import launched from '../../scripts/launch.json' with { type: 'json' }
import { outdated } from '../../scripts/schema-version.ts'
import { codeHash, codeVersion, schemaVersions } from '../../src/database/migrate.ts'
import { MIGRATIONS } from '../../src/database/migrations.ts'
import { schemaHash } from '../../src/database/schema-hash.ts'
import { FIRST_LISTED, HASHES } from '../../src/database/schema-versions.ts'
import { defineTable, indexed, key, string } from '../../src/database/table.ts'
import { prepareDatabase } from '../../src/start/prepare-database.ts'
import { allTables } from '../../src/tables.ts'
import { wholeOf } from '../import-devlake/support/devlake-database.ts'
import { describeEachDatabase } from '../support/databases.ts'
import { root } from '../support/programs.ts'
import { freePort } from '../support/servers.ts'

const LIST = 'src/database/schema-versions.ts'
const REFUSAL = /schema version \d+ \(\w+\), made by a newer Weir.*Install the newer Weir again, or restore a backup/

describe('the list of schema versions', () => {
  it('ends with the tables and migrations of today', () => {
    expect(outdated()).toBe(undefined)
    expect(HASHES.every((hash) => /^[0-9a-f]{64}$/.test(hash))).toBe(true)
    expect(MIGRATIONS.at(-1)?.version).toBeLessThanOrEqual(codeVersion)
    expect(codeVersion).toBe(FIRST_LISTED + HASHES.length - 1)
  })

  it('is outdated by another table, column, size, key or index, and says which command adds a version', () => {
    const columns = { id: key(string(20)), name: string(20) }
    const base = schemaHash([defineTable('things', columns)])
    const others = [
      [],
      [defineTable('others', columns)],
      [defineTable('things', { ...columns, note: string() })],
      [defineTable('things', { ...columns, name: string(21) })],
      [defineTable('things', { ...columns, name: key(string(20)) })],
      [defineTable('things', { ...columns, name: indexed(string(20)) })],
    ].map(schemaHash)
    expect(new Set([base, ...others]).size).toBe(others.length + 1)
    expect(schemaHash([defineTable('things', columns, { meaning: 'said in other words' })])).toBe(base)
    expect(outdated([codeHash], base)).toContain('npm run schema-version')
  })

  it('counts every table that the sources define', () => {
    // 'preview' fits values for a page, and is not a table.
    const known = new Set([...[schemaVersions, ...allTables].map(({ name }) => name), 'preview'])
    const defined = globSync('src/**/*.ts', { cwd: root })
      .filter((path) => !/\.test\.ts$|test-support/.test(path))
      .flatMap((path) => [...readFileSync(join(root, path), 'utf8').matchAll(/defineTable\(\s*'([^']+)'/g)])
      .map(([, name]) => name as string)
    expect(defined.length).toBeGreaterThan(50)
    expect(defined.filter((name) => !known.has(name))).toEqual([])
  })
})

// The checkout may belong to another user than the one who runs the tests.
const git = (...parameters: string[]) =>
  spawnSync('git', ['-c', 'safe.directory=*', ...parameters], { cwd: root, maxBuffer: 1 << 28 })

const versionAt = (commit: string) =>
  (
    git('show', `${commit}:${LIST}`)
      .stdout.toString()
      .match(/^[0-9a-f]{64}$/gm) ?? []
  ).length

/** The last commit with fewer versions, or undefined if the history is too short. */
const older = git('log', '--first-parent', '-m', '--format=%P', '--', LIST)
  .stdout.toString()
  .split('\n')
  .map((parents) => parents.split(' ')[0])
  .find((parent) => parent && git('cat-file', '-e', parent).status === 0 && versionAt(parent) < HASHES.length)
if (!older)
  it('is only tried with the whole history, which this clone lacks (git fetch --unshallow)', () =>
    expect(git('rev-parse', '--is-shallow-repository').stdout.toString().trim()).not.toBe('false'))

describeEachDatabase('a database of today', (test) => {
  const folder = mkdtempSync(join(tmpdir(), 'weir-older-'))
  beforeAll(async () => {
    await prepareDatabase(test.database)
    if (!older) return
    const paths = ['package.json', 'tsconfig.json', 'CHANGELOG.md', 'src', 'scripts']
    execFileSync('tar', ['-x', '-C', folder], { input: git('archive', older, ...paths).stdout })
    symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
  })
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  it('is stored with its version and hash', async () => {
    const { rows } = await sql`select version, hash from ${sql.table(schemaVersions.name)}`.execute(
      test.database.kysely,
    )
    expect(rows).toEqual([{ version: codeVersion, hash: codeHash }])
    await prepareDatabase(test.database)
  })

  if (older)
    it('is refused by the program of the commit before the last change, which changes nothing', {
      timeout: 240_000,
    }, async () => {
      const before = await wholeOf(test.database)
      const port = String(await freePort())
      for (const command of [['up'], ['backup', join(folder, 'never')]]) {
        const { status, stderr } = spawnSync(process.execPath, [...launched.flags, 'src/main.ts', ...command], {
          cwd: folder,
          encoding: 'utf8',
          timeout: 60_000,
          env: {
            PATH: process.env.PATH,
            ...launched.environment,
            DB_URL: test.url,
            DATA_FOLDER: join(folder, 'data'),
            PORT: port,
            LOGGING_FILE: 'stderr',
          },
        })
        expect([status, stderr]).toEqual([
          1,
          expect.stringMatching(/schema version \d+( \(\w+\))?, made by a newer Weir.*Install the newer Weir again/),
        ])
      }
      expect(existsSync(join(folder, 'never'))).toBe(false)
      expect(await wholeOf(test.database)).toEqual(before)
    })

  it('with the same number and other tables, or a number without a hash, is refused as well', async () => {
    const { kysely } = test.database
    const stored = sql.table(schemaVersions.name)
    for (const hash of ['f'.repeat(64), '', null]) {
      await sql`update ${stored} set hash = ${hash}`.execute(kysely)
      await sql`drop table if exists repos`.execute(kysely)
      await expect(prepareDatabase(test.database), String(hash)).rejects.toThrow(
        hash ? REFUSAL : /schema version \d+, made by a newer Weir; this one knows \d+ \(\w+\)/,
      )
      expect((await test.database.describe()).has('repos')).toBe(false)
    }
    await sql`update ${stored} set version = 4, hash = null`.execute(kysely)
    await prepareDatabase(test.database)
    expect((await test.database.describe()).has('repos')).toBe(true)
  })
})
