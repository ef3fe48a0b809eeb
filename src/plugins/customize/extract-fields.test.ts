import { sql } from 'kysely'
import { beforeAll, beforeEach, expect, it } from 'vitest'
import { describeEachWithTables } from '../../../tests/support/databases.ts'
import { runSubtask } from '../../../tests/support/run-subtask.ts'
import { migrate } from '../../database/migrate.ts'
import { readAll } from '../../database/read.ts'
import { write } from '../../database/write.ts'
import { pullRequests } from '../../domain/pull-requests.ts'
import { issueCustomArrayFields, issues } from '../../domain/ticket.ts'
import { quarantine } from '../../plugin-kit/raw/quarantine.ts'
import { rawTable } from '../../plugin-kit/raw/raw-table.ts'
import { createField, customizedFields, type FieldType, withFields } from './fields.ts'
import { customize } from './plugin.ts'

const raw = rawTable('test_things')
const otherRaw = rawTable('test_others')
const PARAMS = '{"ConnectionId":1,"Name":"a\\"b\\\\c_d"}'
const FIELDS: Record<string, FieldType> = {
  x_text: 'text',
  x_short: 'varchar(255)',
  x_whole: 'bigint',
  x_float: 'float',
  x_time: 'timestamp',
}

describeEachWithTables('extractCustomizedFields', (test) => {
  beforeAll(async () => {
    await migrate(test.database, [
      issues,
      pullRequests,
      issueCustomArrayFields,
      raw,
      otherRaw,
      quarantine,
      customizedFields,
    ])
    for (const [columnName, dataType] of Object.entries(FIELDS)) {
      for (const table of ['issues', 'pull_requests']) {
        await createField(test.database, table, { columnName, displayName: columnName, dataType })
      }
    }
  })
  beforeEach(async () => {
    for (const { name } of [issues, pullRequests, issueCustomArrayFields, raw, otherRaw, quarantine]) {
      await sql`delete from ${sql.table(name)}`.execute(test.database.kysely)
    }
  })

  /** Writes each record, and a row of each table that was made from it. */
  async function plant(records: readonly unknown[], { params = PARAMS, table = raw, from = 1 } = {}) {
    const ids = records.map((_, index) => from + index)
    const text = (record: unknown) => (typeof record === 'string' ? record : JSON.stringify(record))
    await write(
      test.database,
      ids.map((id, index) => table.row({ id: id as never, params, data: Buffer.from(text(records[index])) })),
    )
    const origin = (id: number) => ({ _raw_data_params: params, _raw_data_table: table.name, _raw_data_id: id })
    await write(test.database, [
      ...ids.map((id) => issues.row({ id: `i${String(id).padStart(6, '0')}`, title: 'kept', ...origin(id) })),
      ...ids.map((id) => pullRequests.row({ id: `p${id}`, ...origin(id) })),
    ])
  }
  const rule = (mapping: Record<string, string>, more = {}) => ({
    table: 'issues',
    rawDataTable: raw.name,
    rawDataParams: PARAMS,
    mapping,
    ...more,
  })
  const run = (rules: unknown, options = {}) =>
    runSubtask(test.database, customize, 'extractCustomizedFields', { transformationRules: rules }, options)
  const filled = async (table: typeof issues | typeof pullRequests = issues): Promise<any[]> =>
    readAll(test.database, { table: await withFields(test.database, table), isLiteral: true })

  it('stores values as the type of their field, and null where there is none', async () => {
    await plant([
      {
        text: `it's 🌊\n"`,
        whole: 7,
        float: 0.1,
        time: '2020-06-12T08:13:13.360+0800',
        big: '9007199254740993',
        n: 1e300,
      },
      { text: { b: [1, 'x'], a: null }, whole: '-5', float: '2.5', time: '2020-06-12', flag: true },
      { text: null, whole: null, time: '' },
      '{"text":9007199254740993,"whole":9007199254740993,"float":3}',
    ])
    const mapping = { x_text: 'text', x_whole: 'whole', x_float: 'float', x_time: 'time' }
    expect(await run([rule(mapping)])).toEqual({ records: 4, rows: 4, quarantined: 0 })
    expect(await filled()).toMatchObject([
      { title: 'kept', x_text: `it's 🌊\n"`, x_whole: 7, x_float: 0.1, x_time: new Date('2020-06-12T00:13:13.360Z') },
      { x_text: '{"b":[1,"x"],"a":null}', x_whole: -5, x_float: 2.5, x_time: new Date('2020-06-12T00:00:00Z') },
      { x_text: null, x_whole: null, x_float: null, x_time: null },
      { x_text: '9007199254740993', x_whole: '9007199254740993', x_float: 3, x_time: null },
    ])
    // Fields without a mapping are not touched, and neither are the times of writing.
    const [before] = await filled()
    await run([rule({ x_short: 'text' })])
    expect((await filled())[0]).toEqual({ ...before, x_short: before?.x_text })
    // If a value is gone from the raw record, the field is emptied.
    await sql`update ${sql.table(raw.name)} set data = ${Buffer.from('{}')}`.execute(test.database.kysely)
    await run([rule(mapping)])
    expect((await filled()).map(({ x_text, x_short }) => [x_text, x_short])[0]).toEqual([null, `it's 🌊\n"`])
  })

  it('keeps values when a row is written again, and ends as a first run would', async () => {
    await plant([
      { text: 'old', tags: ['a', 'b'] },
      { text: 'stays', tags: ['c'] },
      { whole: 1, tags: ['d'] },
      { tags: ['e'] },
    ])
    const rules = [rule({ x_text: 'text', x_short: 'tags', x_whole: 'whole' })]
    await run(rules)
    const fresh = await filled()
    // A conversion writes the same rows again. Two records get newer versions: one without the fields, and one that cannot be read.
    await plant(['{}', { text: 'stays', tags: ['c'] }, { whole: 'many', tags: ['d'] }, { tags: ['e'] }], { from: 11 })
    const origins = [
      ['i000001', 11],
      ['i000002', 12],
      ['i000003', 13],
    ] as const
    for (const [id, rawId] of origins) {
      await write(test.database, [
        issues.row({ id, title: 'kept', _raw_data_params: PARAMS, _raw_data_table: raw.name, _raw_data_id: rawId }),
      ])
    }
    await sql`delete from issues where id > 'i000010' or id = 'i000004'`.execute(test.database.kysely)
    const values = async () => (await filled()).map(({ id, x_text, x_whole }) => [id, x_text, x_whole])
    expect((await values()).map(([, text]) => text)).toEqual(fresh.slice(0, 3).map(({ x_text }) => x_text))
    expect(await run(rules)).toMatchObject({ quarantined: 1 })
    expect(await values()).toEqual([
      ['i000001', null, null],
      ['i000002', 'stays', null],
      ['i000003', null, null],
    ])
    const lists = await readAll(test.database, { table: issueCustomArrayFields })
    expect(lists.map(({ issue_id, field_value }) => [issue_id, field_value])).toEqual([['i000002', 'c']])
  })

  it('keeps lists of an issue as values of their own, replaced each time; elsewhere as JSON', async () => {
    await plant([{ tags: ['b', 'a', 'b', null, 3, { x: 1 }] }, { tags: 'one' }, { tags: [] }])
    const values = async () =>
      (await readAll(test.database, { table: issueCustomArrayFields })).map(
        ({ issue_id, field_id, field_value }) => `${issue_id} ${field_id} ${field_value}`,
      )
    await run([rule({ x_text: 'tags' }), rule({ x_text: 'tags', x_whole: 'tags.#' }, { table: 'pull_requests' })])
    expect(await values()).toEqual(['3', 'a', 'b', '{"x":1}'].map((value) => `i000001 x_text ${value}`))
    expect((await filled()).map(({ x_text }) => x_text)).toEqual([null, 'one', null])
    expect((await filled(pullRequests)).map(({ x_text, x_whole }) => [x_text, x_whole])).toEqual([
      ['["b","a","b",null,3,{"x":1}]', 6],
      ['one', null],
      ['[]', 0],
    ])
    await write(test.database, [
      issueCustomArrayFields.row({ issue_id: 'i000001', field_id: 'other', field_value: 'stays' }),
    ])
    await sql`update ${sql.table(raw.name)} set data = ${Buffer.from('{"tags":["c"]}')} where id = 1`.execute(
      test.database.kysely,
    )
    await run([rule({ x_text: 'tags' })])
    expect(await values()).toEqual(['i000001 other stays', 'i000001 x_text c'])
  })

  it('takes rows by their raw table and a pattern of their parameters', async () => {
    await plant([{ v: 1 }], { params: '{"ConnectionId":1,"BoardId":8}' })
    await plant([{ v: 2 }], { params: '{"ConnectionId":1,"BoardId":9}', from: 2 })
    await plant([{ v: 3 }], { params: '{"ConnectionId":2,"BoardId":8}', from: 3 })
    await plant([{ v: 4 }], { params: '{"ConnectionId":1,"BoardId":8}', table: otherRaw, from: 4 })
    await plant([{ v: 5 }], { from: 5 })
    const found = async (rawDataParams: string) => {
      await sql`update issues set x_whole = null`.execute(test.database.kysely)
      await run([rule({ x_whole: 'v' }, { rawDataParams })])
      return (await filled()).flatMap(({ x_whole }) => (x_whole === null ? [] : [x_whole]))
    }
    expect(await found('{"ConnectionId":1,"BoardId":8}')).toEqual([1])
    expect(await found('{"ConnectionId":1,%}')).toEqual([1, 2, 5])
    expect(await found('%"BoardId":_}')).toEqual([1, 2, 3])
    expect(await found('{"CONNECTIONID":1,%}')).toEqual([])
    expect(await found(PARAMS)).toEqual([5])
    expect(await found('%')).toEqual([1, 2, 3, 5])
  })

  it('puts aside what cannot be stored, says why, and drives it again', async () => {
    await plant([{ v: 'many' }, { v: 2 }, 'no JSON', { v: { deep: 1 } }])
    expect(await run([rule({ x_whole: 'v' })])).toEqual({ records: 4, rows: 1, quarantined: 3 })
    expect((await filled()).map(({ x_whole }) => x_whole)).toEqual([null, 2, null, null])
    const reasons = async () =>
      (await readAll(test.database, { table: quarantine })).map(({ raw_id, reason }) => `${raw_id} ${reason}`)
    expect(await reasons()).toEqual([
      '1 issues.x_whole: "many" is not a whole number',
      expect.stringMatching(/^3 not JSON/),
      '4 issues.x_whole: "{\\"deep\\":1}" is not a whole number',
    ])
    await sql`update ${sql.table(raw.name)} set data = ${Buffer.from('{"v":1}')} where id <> 4`.execute(
      test.database.kysely,
    )
    expect(await run([rule({ x_whole: 'v' })], { redrive: true })).toEqual({ records: 3, rows: 2, quarantined: 1 })
    expect((await filled()).map(({ x_whole }) => x_whole)).toEqual([1, 2, 1, null])
    expect(await reasons()).toHaveLength(1)
    await run([rule({ x_short: 'v' })])
    expect(await reasons()).toEqual([])
  })

  it('gives after a stop and another run what an undisturbed run gives', async () => {
    await plant(Array.from({ length: 2500 }, (_, index) => ({ v: index, tags: [`t${index % 7}`] })))
    const stop = new AbortController()
    const rules = [rule({ x_whole: 'v', x_text: 'tags' })]
    const stopped = run(rules, { signal: stop.signal, progress: () => stop.abort() })
    await expect(stopped).rejects.toThrow(/abort/i)
    const some = (await filled()).filter(({ x_whole }) => x_whole !== null).length
    expect(some).toBeGreaterThan(0)
    expect(some).toBeLessThan(2500)
    expect(await run(rules)).toEqual({ records: 2500, rows: 2500, quarantined: 0 })
    expect((await filled()).map(({ x_whole }) => x_whole)).toEqual(Array.from({ length: 2500 }, (_, index) => index))
    expect(await readAll(test.database, { table: issueCustomArrayFields })).toHaveLength(2500)
  })

  it('refuses rules that cannot be followed, before it changes anything', async () => {
    await plant([{ v: 1 }])
    for (const [rules, message] of [
      ['all', /transformationRules must be a list/],
      [['all'], /rule 1 must be an object/],
      [[rule({ x_whole: 'v' }), rule({ x_whole: 'v' }, { table: 'nothing' })], /nothing is not a domain table/],
      [[rule({ x_whole: 'v' }, { table: undefined })], /rule 1: table is missing/],
      [[rule({ x_whole: 'v' }, { rawDataTable: '_raw_nothing' })], /there is no table _raw_nothing/],
      [[rule({ x_whole: 'v' }, { rawDataTable: 'issues' })], /there is no table issues of raw records/],
      [[rule({ x_whole: 'v' }, { rawDataParams: '' })], /rawDataParams is missing/],
      [[rule({ x_whole: 'v' }, { table: 'calendar_months' })], /not made from raw records/],
      [[rule({})], /mapping must be an object/],
      [[rule({ x_new: 'v' })], /issues has no field x_new: create it first/],
      [[rule({ title: 'v' })], /issues has no field title/],
      [[rule({ x_whole: 'v.*' })], /The path "v\.\*" has "\*"/],
      [[rule({ x_whole: 5 as never })], /the path of x_whole must be text/],
    ] as const) {
      await expect(run(rules), String(message)).rejects.toThrow(message)
    }
    expect((await filled()).map(({ x_whole }) => x_whole)).toEqual([null])
    expect(await run(undefined)).toEqual({ records: 0, rows: 0, quarantined: 0 })
  })
})
