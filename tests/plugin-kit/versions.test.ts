/** Only the newest version of every record counts, and only once. */
import { beforeEach, expect, it } from 'vitest'
import { migrate } from '../../src/database/migrate.ts'
import { readAll } from '../../src/database/read.ts'
import { write } from '../../src/database/write.ts'
import { issues as domainIssues, issueLabels as domainLabels } from '../../src/domain/ticket.ts'
import { quarantine } from '../../src/plugin-kit/raw/quarantine.ts'
import { systemTables } from '../../src/system/index.ts'
import { describeEachDatabase } from '../support/databases.ts'
import { emptyTables } from '../support/empty-tables.ts'
import { runSubtask } from '../support/run-subtask.ts'
import { boards, issues, params, rawIssues, sample } from '../support/sample-plugin.ts'

describeEachDatabase('versions of a record', (test) => {
  const tables = [...systemTables, quarantine, domainIssues, domainLabels, ...sample.tables]
  beforeEach(async () => {
    await migrate(test.database, tables)
    await emptyTables(test.database, tables)
    await write(test.database, [boards.row({ connection_id: 1, id: 7, name: 'b' })])
  })

  const arrive = (...records: object[]) =>
    write(
      test.database,
      records.map((record) =>
        rawIssues.row({
          id: null as never,
          params: params(7),
          data: Buffer.from(JSON.stringify({ opened_at: '2024-01-01T00:00:00Z', ...record })),
        }),
      ),
    )
  const run = async ({ redrive = false, fullSync = false, prefix = '' } = {}) => {
    const options = { connectionId: 1, boardId: 7, scopeConfig: { prefix } }
    for (const name of ['extractIssues', 'convertIssues', 'convertLabels']) {
      if (redrive && name === 'convertLabels') continue
      await runSubtask(test.database, sample, name, options, { redrive, fullSync })
    }
  }
  const stored = async () => ({
    issues: (await readAll(test.database, { table: issues })).map(({ id, title }) => [id, title]),
    domain: (await readAll(test.database, { table: domainIssues })).map(({ title }) => title),
    labels: (await readAll(test.database, { table: domainLabels })).map(({ label_name }) => label_name),
    raw: (await readAll(test.database, { table: rawIssues })).length,
  })

  it('replace each other: what the newer one lacks does not come back with a changed rule', async () => {
    await arrive({ id: 1, title: 'one', labels: ['a', 'b'] })
    await run()
    await arrive({ id: 1, title: 'one', labels: ['b'] })
    await run()
    expect(await stored()).toEqual({ issues: [[1, 'one']], domain: ['one'], labels: ['b'], raw: 1 })
    await run({ prefix: 'P ' })
    expect(await stored()).toEqual({ issues: [[1, 'one']], domain: ['P one'], labels: ['b'], raw: 1 })
    await run({ fullSync: true })
    expect(await stored()).toEqual({ issues: [[1, 'one']], domain: ['one'], labels: ['b'], raw: 1 })
  })

  it('that arrive before one extraction count as the newest alone', async () => {
    await arrive(
      { id: 1, title: 'old', labels: ['a'] },
      { id: 2, title: 'other' },
      { id: 1, title: 'new', labels: ['b'] },
    )
    await run()
    expect(await stored()).toEqual({
      issues: [
        [1, 'new'],
        [2, 'other'],
      ],
      domain: ['new', 'other'],
      labels: ['b'],
      raw: 2,
    })
  })

  it('leave nothing behind when the last label of a scope is gone', async () => {
    await arrive({ id: 1, title: 'one', labels: ['a'] })
    await run()
    await arrive({ id: 1, title: 'one', labels: [] })
    await run()
    expect((await stored()).labels).toEqual([])
  })

  it('that were put aside are not driven again over newer ones, and leave the quarantine', async () => {
    await arrive({ id: 1, title: 'old', points: 'many' }, { id: 2, title: 'other' })
    await run()
    expect(await readAll(test.database, { table: quarantine })).toHaveLength(1)
    await arrive({ id: 1, title: 'new' })
    await run()
    expect(await readAll(test.database, { table: quarantine })).toEqual([])
    await run({ redrive: true })
    expect((await stored()).issues).toEqual([
      [1, 'new'],
      [2, 'other'],
    ])
  })

  it('are looked at in the order in which they came, whatever the clock said', async () => {
    await arrive({ id: 1, title: 'one' })
    await run()
    const hour = new Date(Date.now() - 3_600_000)
    await write(test.database, [
      rawIssues.row({
        id: null as never,
        params: params(7),
        data: Buffer.from(JSON.stringify({ id: 1, title: 'two', opened_at: '2024-01-01T00:00:00Z' })),
        created_at: hour,
      }),
    ])
    await run()
    expect(await stored()).toMatchObject({ issues: [[1, 'two']], domain: ['two'] })
  })
})
