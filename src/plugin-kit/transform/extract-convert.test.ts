import { sql } from 'kysely'
import { beforeEach, expect, it } from 'vitest'
import { describeEachDatabase } from '../../../tests/support/databases.ts'
import { emptyTables } from '../../../tests/support/empty-tables.ts'
import { runSubtask } from '../../../tests/support/run-subtask.ts'
import {
  boardEntity,
  issues,
  labels,
  params,
  rawIssues,
  sample,
  sampleSpec,
} from '../../../tests/support/sample-plugin.ts'
import { migrate } from '../../database/migrate.ts'
import { readAll } from '../../database/read.ts'
import { write } from '../../database/write.ts'
import { issues as domainIssues, issueLabels as domainLabels } from '../../domain/ticket.ts'
import { systemTables } from '../../system/index.ts'
import { definePlugin } from '../define/define-plugin.ts'
import { quarantine } from '../raw/quarantine.ts'
import { pluginKit } from '../spec/entity.ts'

const BOARD = { connectionId: 1, boardId: 7 }

describeEachDatabase('extract and convert', (test) => {
  const tables = [...systemTables, quarantine, domainIssues, domainLabels, ...sample.tables]
  beforeEach(async () => {
    await migrate(test.database, tables)
    await emptyTables(test.database, tables)
  })

  const store = (records: readonly unknown[], board = 7, at = new Date()) =>
    write(
      test.database,
      records.map((record) =>
        rawIssues.row({
          id: null as never,
          params: params(board),
          data: Buffer.from(typeof record === 'string' ? record : JSON.stringify(record)),
          created_at: at,
        }),
      ),
    )
  const run = (name: string, options: Parameters<typeof runSubtask>[4] = {}, more = {}) =>
    runSubtask(test.database, sample, name, { ...BOARD, ...more }, options)
  const all = (table: typeof domainIssues | typeof issues | typeof labels | typeof domainLabels | typeof quarantine) =>
    readAll(test.database, { table: table as typeof issues }) as Promise<any[]>

  it('reads columns by their sources, and marks rows with their origin', async () => {
    await store([
      { id: 1, title: 'one', body: 'b', points: 2.5, opened_at: '2024-02-03T04:05:06Z', labels: ['x', 'y'] },
    ])
    await store([{ id: 9, title: 'of another board' }], 8)
    expect(await run('extractIssues')).toEqual({ records: 1, rows: 3, quarantined: 0 })
    const [issue, ...others] = await all(issues)
    expect(others).toEqual([])
    expect(issue).toMatchObject({
      connection_id: 1,
      id: 1,
      board_id: 7,
      title: 'one',
      points: 2.5,
      opened_at: new Date('2024-02-03T04:05:06Z'),
      _raw_data_params: params(7),
      _raw_data_table: '_raw_sample_issues',
    })
    expect(await run('convertIssues')).toEqual({ records: 1, rows: 1, quarantined: 0 })
    expect(await run('convertLabels')).toEqual({ records: 2, rows: 2, quarantined: 0 })
    expect(await all(domainIssues)).toMatchObject([
      {
        id: 'sample:SampleIssue:1:1',
        title: 'one',
        _raw_data_id: issue._raw_data_id,
        _raw_data_table: '_raw_sample_issues',
      },
    ])
    expect((await all(domainLabels)).map(({ label_name }) => label_name).sort()).toEqual(['x', 'y'])
  })

  it('takes the later of two records with one key, and replaces what an earlier full run made', async () => {
    await store([
      { id: 1, title: 'old', labels: ['a'] },
      { id: 2, title: 'gone' },
      { id: 1, title: 'new', labels: ['b'] },
    ])
    await run('extractIssues', { fullSync: true })
    await run('convertIssues', { fullSync: true })
    await run('convertLabels', { fullSync: true })
    expect((await all(issues)).map(({ title }) => title)).toEqual(['new', 'gone'])
    await sql`delete from ${sql.table(rawIssues.name)}`.execute(test.database.kysely)
    await store([{ id: 1, title: 'newest', labels: ['c'] }])
    await run('extractIssues', { fullSync: true })
    await run('convertIssues', { fullSync: true })
    await run('convertLabels', { fullSync: true })
    expect((await all(issues)).map(({ title }) => title)).toEqual(['newest'])
    expect((await all(labels)).map(({ name }) => name)).toEqual(['c'])
    expect((await all(domainIssues)).map(({ title }) => title)).toEqual(['newest'])
    expect((await all(domainLabels)).map(({ label_name }) => label_name)).toEqual(['c'])
  })

  it('looks only at new records in an incremental run, and replaces owned rows with their owner', async () => {
    await store(
      [
        { id: 1, title: 'one', labels: ['a', 'b'] },
        { id: 2, title: 'two', labels: ['a'] },
      ],
      7,
      new Date(Date.now() - 60_000),
    )
    await run('extractIssues')
    await run('convertIssues')
    await store([{ id: 1, title: 'one again', labels: ['b'] }], 7, new Date(Date.now() + 1000))
    expect(await run('extractIssues')).toEqual({ records: 1, rows: 2, quarantined: 0 })
    expect((await all(labels)).map(({ issue_id, name }) => `${issue_id}${name}`).sort()).toEqual(['1b', '2a'])
    expect(await run('convertIssues')).toMatchObject({ records: 1 })
    expect((await all(domainIssues)).map(({ title }) => title).sort()).toEqual(['one again', 'two'])
  })

  it('does everything again when a setting it depends on has changed', async () => {
    await store([{ id: 1, title: 'one' }], 7, new Date(Date.now() - 60_000))
    await run('extractIssues')
    await store([{ id: 2, title: 'two' }], 7, new Date(Date.now() + 1000))
    const changed = await run('extractIssues', {}, { scopeConfig: { prefix: 'P ' } })
    expect(changed).toMatchObject({ records: 2 })
  })

  it('puts bad records aside, alike on both engines, and continues', async () => {
    const long = 'é'.repeat(5 << 20)
    await store([
      '{"id": 1, "title": ',
      { title: 'no key' },
      { id: 3, opened_at: 'the day after' },
      { id: 1e300, title: 'too big' },
      { id: 5, title: 'a title of more than twenty characters', body: long, labels: [] },
      { id: 6, title: 'nul\u0000nul', body: 'half \ud800 pair' },
      { id: 7, points: -1 },
      null,
    ])
    expect(await run('extractIssues')).toEqual({ records: 8, rows: 3, quarantined: 5 })
    const reasons = (await all(quarantine)).map(({ reason }) => reason)
    expect(reasons[0]).toMatch(/^not JSON: /)
    expect(reasons.slice(1, 4)).toEqual([
      '_tool_sample_issues.id: missing',
      '_tool_sample_issues.opened_at: "the day after" is not a date',
      '_tool_sample_issues.id: 1e+300 is too big',
    ])
    const [five, six] = await all(issues)
    expect([...five.title].length).toBe(20)
    expect(five.body.length).toBe(1_000_000)
    expect(six).toMatchObject({ title: 'nulnul', body: 'half \ufffd pair' })
    expect(await run('convertIssues')).toEqual({ records: 3, rows: 2, quarantined: 1 })
    expect(
      (await all(quarantine)).map(({ subtask, reason, record_key }) => [subtask, reason, record_key]),
    ).toContainEqual(['convertIssues', 'points below zero', '1:7'])
  })

  it('drives quarantined records again, and forgets those that pass', async () => {
    await store([
      { id: 1, opened_at: 'never' },
      { id: 2, opened_at: 'never' },
    ])
    expect(await run('extractIssues')).toMatchObject({ quarantined: 2 })
    await test.database.kysely
      .updateTable(rawIssues.name)
      .set({ data: Buffer.from('{"id":1,"title":"mended"}') })
      .where('id', '=', (await all(quarantine))[0].raw_id)
      .execute()
    expect(await run('extractIssues', { redrive: true })).toEqual({ records: 2, rows: 1, quarantined: 1 })
    expect(await all(quarantine)).toHaveLength(1)
    expect((await all(issues)).map(({ title }) => title)).toEqual(['mended'])
  })

  it('stops between batches when asked to, and reports how far it is', async () => {
    await store(Array.from({ length: 3500 }, (_, index) => ({ id: index + 1, title: 'many' })))
    const controller = new AbortController()
    const seen: number[] = []
    const stopped = run('extractIssues', {
      signal: controller.signal,
      progress: ({ done }) => {
        seen.push(done ?? 0)
        controller.abort(new Error('stopped by the test'))
      },
    })
    await expect(stopped).rejects.toThrow('stopped by the test')
    expect(seen[0]).toBe(1000)
    expect((await all(issues)).length).toBeLessThan(3500)
    await run('extractIssues')
    expect(await all(issues)).toHaveLength(3500)
  })

  it('refuses to write a table that was not declared', async () => {
    await store([{ id: 1, title: 'one' }])
    const careless = definePlugin({
      ...sampleSpec,
      entities: [
        pluginKit('sample').entityMaker<{ id: number }, unknown>({ scopeColumn: null })(issues, {
          label: 'Issues',
          domainTypes: ['TICKET'],
          raw: 'sample_issues',
          extract: { rows: ({ id }) => [labels.row({ connection_id: 1, issue_id: id, name: 'undeclared' })] },
        }),
        boardEntity,
      ],
    })
    await expect(runSubtask(test.database, careless, 'extractIssues', BOARD)).rejects.toThrow(
      '_tool_sample_issue_labels is written but not declared',
    )
    expect(await all(labels)).toEqual([])
  })
})
