import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type RawNode, sql } from 'kysely'
import { beforeAll, describe, expect, it } from 'vitest'
import { describeEachDatabase } from '../../tests/support/databases.ts'
import { migrate } from './migrate.ts'
import { among, inPieces, MOST_VALUES, onePiece, readByKeys } from './pieces.ts'
import { readAll, readRows } from './read.ts'
import { bigint, defineTable, key, string } from './table.ts'
import { write } from './write.ts'

const things = defineTable('_test_pieces', { id: key(bigint()), kind: key(string()) })

describe('pieces', () => {
  it('are as long as a statement takes, all in order', () => {
    const values = Array.from({ length: 2 * MOST_VALUES + 1 }, (_, index) => index)
    const pieces = [...inPieces(values)]
    expect(pieces.map(({ length }) => length)).toEqual([MOST_VALUES, MOST_VALUES, 1])
    expect(pieces.flat()).toEqual(values)
    expect([...inPieces(values, 3)][0]).toHaveLength(Math.floor(MOST_VALUES / 3))
    expect([...inPieces([])]).toEqual([])
  })

  it('are read once for each key, and an empty one finds nothing', async () => {
    expect(await readByKeys(['a', 'b', 'a'], async (piece) => piece)).toEqual(['a', 'b'])
    const { sqlFragments } = among(sql`id`, onePiece([])).toOperationNode() as RawNode
    expect(sqlFragments).toEqual(['1 = 0'])
  })

  /**
   * A list in a statement that was not split by `inPieces` may have any length. The files in `allowed` use lists that are
   * always short, or pages that were limited before.
   */
  it('are what every list in a statement is made of', () => {
    const root = join(import.meta.dirname, '..')
    const allowed = [
      /^(control-plane|runner|traffic)\//,
      /^database\/pieces\.ts$/,
      /^plugin-kit\/(raw\/raw-mirror|transform\/(extract|marked-rows|window))\.ts$/,
      /^plugin-kit\/task\/(family|forget-scope|name-records)\.ts$/,
      /^plugins\/gitextractor\/forget\.ts$/,
      /^metrics\/grades\/evidence\.ts$/,
      // One statement over all projects names them all.
      /^metrics\/calculate\/calculation\.ts$/,
      /^import-devlake\/recognise\.ts$/,
      /^telemetry\/prometheus\/database-measures\.ts$/,
    ]
    const files = readdirSync(root, { recursive: true, encoding: 'utf8' })
      .map((path) => path.replaceAll('\\', '/'))
      .filter((path) => path.endsWith('.ts') && !path.endsWith('.test.ts'))
      .filter((path) => !allowed.some((pattern) => pattern.test(path)))
    const found = files.flatMap((path) =>
      readFileSync(join(root, path), 'utf8')
        .split('\n')
        .flatMap((line, index) =>
          /\bin \(\$\{\s*sql\.join\(|\.where\([^,]+, 'in', (?!\(|[A-Z_]+\)|\w+\.selectFrom\()/.test(line)
            ? [`${path}:${index + 1}: ${line.trim()}`]
            : [],
        ),
    )
    expect(found).toEqual([])
  })
})

describeEachDatabase('lists longer than a statement takes', (test) => {
  const ids = Array.from({ length: 70_000 }, (_, index) => index + 1)
  beforeAll(async () => {
    await migrate(test.database, [things])
    await write(
      test.database,
      [1, 65_000, 70_000].flatMap((id) => ['a', 'b'].map((kind) => things.row({ id, kind }))),
    )
  })

  it('are read in pieces', async () => {
    const expected = [1, 1, 65_000, 65_000, 70_000, 70_000]
    const all = await readAll(test.database, { table: things, where: { id: [...ids, ...ids] } })
    expect(all.map(({ id }) => id)).toEqual(expected)
    const kinds = [...ids.slice(0, MOST_VALUES).map(String), 'b']
    const streamed: number[] = []
    for await (const { id } of readRows(test.database, { table: things, where: { id: ids, kind: kinds } }))
      streamed.push(id)
    expect(streamed).toEqual([1, 65_000, 70_000])
    const found = await readByKeys(ids, async (piece) => {
      const { rows } = await sql<{
        id: number
      }>`select id from _test_pieces where ${among(sql`id`, piece)} and kind = 'a'`.execute(test.database.kysely)
      return rows
    })
    expect(found.map(({ id }) => id)).toEqual([1, 65_000, 70_000])
  })
})
