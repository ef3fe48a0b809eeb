/** Custom fields on domain tables, imports of CSV files into domain tables, and a plan that fills the fields. */
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { readAll } from '../../src/database/read.ts'
import { write } from '../../src/database/write.ts'
import { domainTables } from '../../src/domain/index.ts'
import { issues } from '../../src/domain/ticket.ts'
import { rawTable } from '../../src/plugin-kit/raw/raw-table.ts'
import { csvFiles } from '../../src/plugins/customize/csv-files.ts'
import { withFields } from '../../src/plugins/customize/fields.ts'
import { startRunner } from '../../src/runner/runner.ts'
import { createTaskThreads } from '../../src/runner/task-threads.ts'
import { prepareDatabase } from '../../src/start/prepare-database.ts'
import { untilFinished } from '../pipelines/support/test-control.ts'
import { describeEachWithTables } from '../support/databases.ts'
import { SECRET_KEY, startTestApi, type TestApi } from './support/test-api.ts'
import { lines, upload } from './support/upload.ts'

const DONE = { code: 0, success: true, message: 'success', causes: null, data: null }
const FAILED = { code: 0, success: false, causes: null, data: null, message: expect.any(String) }
const failed = (message: RegExp) => ({ ...FAILED, message: expect.stringMatching(message) })
const FIELDS = '/plugins/customize/issues/fields'
const csv = (name: string) => `/plugins/customize/csvfiles/${name}.csv`
const ODD_NAME = `Robert'); drop table issues; -- 🌊 "x", \\`

describeEachWithTables('customize', (test) => {
  let api: TestApi
  beforeAll(async () => {
    api = await startTestApi(test.database)
  })
  afterAll(() => api.close())

  const rowsOf = async (name: string): Promise<any[]> => {
    const table = domainTables.find((each) => each.name === name)
    if (!table) throw new Error(name)
    return readAll(test.database, { table: await withFields(test.database, table), isLiteral: true })
  }
  /** Returns every row of every table that imports write. */
  const everything = async () => {
    const names = ['issues', 'issue_labels', 'board_issues', 'boards', 'accounts', 'sprints', 'board_sprints']
    const all = [...names, 'sprint_issues', 'issue_commits', 'issue_repo_commits', 'issue_changelogs', 'qa_apis']
    return Object.fromEntries(await Promise.all(all.map(async (name) => [name, await rowsOf(name)])))
  }
  const field = (columnName: string, dataType: string, more = {}) =>
    api.ask('POST', FIELDS, { columnName, displayName: columnName, dataType, ...more })
  const send = (name: string, file: string | Buffer | undefined, fields: Record<string, string> = {}) =>
    upload(api, 'POST', csv(name), file, fields)

  it('adds fields of each type, lists them beside the others, and deletes them', async () => {
    const created = await api.ask('POST', FIELDS, {
      ColumnName: 'x_odd',
      displayName: ODD_NAME,
      dataType: 'varchar(255)',
      description: ODD_NAME,
      isCustomizedField: true,
    })
    const odd = {
      columnName: 'x_odd',
      displayName: ODD_NAME,
      dataType: 'varchar(255)',
      description: ODD_NAME,
      isCustomizedField: true,
    }
    expect(created).toMatchObject({ status: 200, body: odd })
    for (const type of ['text', 'bigint', 'float', 'timestamp']) {
      expect((await field(`x_${type}`, type)).body).toMatchObject({ dataType: type, description: '' })
    }
    const { body: listed } = await api.ask('GET', FIELDS)
    expect(listed.filter((each: any) => each.isCustomizedField)).toEqual([
      expect.objectContaining({ columnName: 'x_bigint', dataType: 'bigint' }),
      expect.objectContaining({ columnName: 'x_float', dataType: 'float' }),
      odd,
      expect.objectContaining({ columnName: 'x_text', dataType: 'text' }),
      expect.objectContaining({ columnName: 'x_timestamp', dataType: 'timestamp' }),
    ])
    const own = listed.filter((each: any) => !each.isCustomizedField)
    expect(own.map(({ columnName }: any) => columnName)).toEqual(issues.names)
    expect(own.slice(0, 3).map(({ dataType }: any) => dataType)).toEqual(['varchar(255)', 'varchar(255)', 'text'])

    expect(await api.ask('DELETE', `${FIELDS}/x_text`)).toMatchObject({ status: 200, body: DONE })
    expect(await api.ask('DELETE', `${FIELDS}/x_text`)).toMatchObject({ status: 200, body: DONE })
    const left = (await api.ask('GET', FIELDS)).body.map(({ columnName }: any) => columnName)
    expect(left).not.toContain('x_text')

    const { body: audit } = await api.ask('GET', '/v1/audit')
    expect(JSON.stringify(audit)).toContain('issues.x_odd')
    for (const name of ['x_odd', 'x_bigint', 'x_float', 'x_timestamp']) await api.ask('DELETE', `${FIELDS}/${name}`)
  })

  it('refuses fields that cannot be', async () => {
    await field('x_once', 'text')
    const before = (await api.ask('GET', FIELDS)).body
    for (const [name, type, message] of [
      ['x_once', 'text', /already has x_once/],
      ['X_ONCE', 'text', /must be x_/],
      ['x_Once', 'bigint', /already has x_once/],
      ['once', 'text', /must be x_/],
      ['x_a b', 'text', /must be x_/],
      [`x_${'a'.repeat(51)}`, 'text', /must be x_/],
      ['x_a"; drop table issues; --', 'text', /must be x_/],
      ['x_é', 'text', /must be x_/],
      ['x_new', 'int', /dataType must be varchar\(255\) or text/],
    ] as const) {
      expect(await field(name, type), name).toMatchObject({ status: 400, body: failed(message) })
    }
    for (const body of [
      { columnName: 'x_new', dataType: 'text' },
      { columnName: 'x_new', dataType: 'text', displayName: ' ' },
      { columnName: 'x_new', displayName: 'new' },
      { displayName: 'new', dataType: 'text' },
      { columnName: 'x_new', displayName: 'new', dataType: 'text', colour: 'red' },
      '{"columnName":',
    ]) {
      expect(await api.ask('POST', FIELDS, body), JSON.stringify(body)).toMatchObject({ status: 400, body: FAILED })
    }
    for (const [method, url, status] of [
      ['GET', '/plugins/customize/nothing/fields', 404],
      ['GET', '/plugins/customize/_tool_jira_issues/fields', 404],
      ['DELETE', '/plugins/customize/nothing/fields/x_a', 404],
      ['DELETE', `${FIELDS}/title`, 400],
      ['DELETE', `${FIELDS}/x_a%22%3B`, 400],
    ] as const) {
      expect(await api.ask(method, url), url).toMatchObject({ status, body: FAILED })
    }
    const body = { columnName: 'x_a', displayName: 'a', dataType: 'text' }
    expect(await api.ask('POST', '/plugins/customize/nothing/fields', body)).toMatchObject({
      status: 404,
      body: FAILED,
    })
    expect((await api.ask('GET', FIELDS)).body).toEqual(before)
    await api.ask('DELETE', `${FIELDS}/x_once`)
  })

  it('lets only one of many add a field', async () => {
    const answers = await Promise.all(Array.from({ length: 5 }, () => field('x_race', 'text')))
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 400, 400, 400, 400])
    await api.ask('DELETE', `${FIELDS}/x_race`)
  })

  it('keeps fields and their values when the database is made to match the code', async () => {
    await field('x_kept', 'text')
    await send('issues', lines('id,x_kept', 'k:1,value'), { boardId: 'kept', boardName: 'Kept' })
    await prepareDatabase(test.database)
    expect(await rowsOf('issues')).toMatchObject([{ id: 'k:1', x_kept: 'value' }])
    await send('issues', lines('id'), { boardId: 'kept', boardName: 'Kept' })
    await api.ask('DELETE', `${FIELDS}/x_kept`)
  })

  it('stores values in a field that was deleted and added as another type', async () => {
    const board = { boardId: 'again', boardName: 'Again' }
    for (const [type, value, stored] of [
      ['varchar(255)', 'word', 'word'],
      ['bigint', '41534568464351', 41534568464351],
      ['timestamp', '2022-09-15 15:27:56', new Date('2022-09-15T15:27:56Z')],
      ['float', '0.00014', 0.00014],
    ] as const) {
      await field('x_any', type)
      // Imported twice, because existing rows are written in another way than new ones.
      for (let time = 0; time < 2; time++) {
        const sent = await send('issues', lines('id,x_any', `a:1,${value}`), { ...board, incremental: 'true' })
        expect(sent, type).toMatchObject({ status: 200, body: DONE })
      }
      expect(await rowsOf('issues')).toMatchObject([{ id: 'a:1', x_any: stored }])
      await api.ask('DELETE', `${FIELDS}/x_any`)
    }
    await send('issues', lines('id'), board)
  })

  it('imports issues with people, labels, sprints and custom fields', async () => {
    await field('x_points', 'bigint')
    const file = `\ufeffid,title,story_point,created_date,is_subtask,creator_name,assignee_name,labels,sprint_ids,x_points\r
i:1,"A ""quoted"", long\r\ntitle",1.5,2024-01-02T03:04:05Z,TRUE,ada,${'"Robert\'); drop table issues; -- 🌊"'},"one, two,one,,",s:1,7\r
i:2,NULL,,NULL,,,,NULL,"s:1,s:2",\r
`
    const board = { boardId: 'b:1', boardName: 'Board 🌊' }
    expect(await send('issues', file, board)).toMatchObject({ status: 200, body: DONE })
    expect(await rowsOf('issues')).toMatchObject([
      {
        id: 'i:1',
        title: 'A "quoted", long\r\ntitle',
        story_point: 1.5,
        created_date: new Date('2024-01-02T03:04:05Z'),
        is_subtask: true,
        creator_id: 'csv:CsvAccount:0:ada',
        creator_name: 'ada',
        assignee_id: `csv:CsvAccount:0:Robert'); drop table issues; -- 🌊`,
        x_points: 7,
        _raw_data_params: 'b:1',
        _raw_data_id: null,
      },
      {
        id: 'i:2',
        title: null,
        story_point: null,
        created_date: null,
        is_subtask: null,
        creator_id: null,
        x_points: null,
      },
    ])
    expect(await rowsOf('boards')).toMatchObject([
      { id: 'again' },
      { id: 'b:1', name: 'Board 🌊', type: 'csv' },
      { id: 'kept' },
    ])
    expect(await rowsOf('accounts')).toMatchObject([
      { id: `csv:CsvAccount:0:Robert'); drop table issues; -- 🌊`, _raw_data_id: 0 },
      { full_name: 'ada', user_name: 'ada', _raw_data_params: 'b:1' },
    ])
    expect((await rowsOf('issue_labels')).map((each) => [each.issue_id, each.label_name])).toEqual([
      ['i:1', 'one'],
      ['i:1', 'two'],
    ])
    expect((await rowsOf('sprint_issues')).map((each) => [each.sprint_id, each.issue_id])).toEqual([
      ['s:1', 'i:1'],
      ['s:1', 'i:2'],
      ['s:2', 'i:2'],
    ])
    expect((await rowsOf('board_issues')).map(({ issue_id }) => issue_id)).toEqual(['i:1', 'i:2'])

    // Columns that are not in the file keep their values. A list that is in the file is replaced.
    const more = { ...board, incremental: 'true' }
    expect((await send('issues', lines('id,title,labels', 'i:1,new,three', 'i:3,third,'), more)).status).toBe(200)
    expect(await rowsOf('issues')).toMatchObject([
      { id: 'i:1', title: 'new', story_point: 1.5, x_points: 7, creator_name: 'ada' },
      { id: 'i:2' },
      { id: 'i:3', title: 'third' },
    ])
    expect((await rowsOf('issue_labels')).map(({ label_name }) => label_name)).toEqual(['three'])
    expect(await rowsOf('sprint_issues')).toHaveLength(3)

    // A full import does not touch issues that are also on another board.
    await send('issues', lines('id', 'i:2'), { boardId: 'b:2', boardName: 'Other' })
    expect((await send('issues', lines('id,title', 'i:4,fourth'), board)).status).toBe(200)
    expect((await rowsOf('issues')).map(({ id }) => id)).toEqual(['i:2', 'i:4'])
    expect((await rowsOf('board_issues')).map((each) => [each.board_id, each.issue_id])).toEqual([
      ['b:1', 'i:4'],
      ['b:2', 'i:2'],
    ])
    expect(await rowsOf('issue_labels')).toEqual([])
    expect((await rowsOf('sprint_issues')).map(({ issue_id }) => issue_id)).toEqual(['i:2', 'i:2'])
    const { body: audit } = await api.ask('GET', '/v1/audit')
    expect(JSON.stringify(audit)).toContain('issues.csv')
  })

  it('lets the later of two lines win, with its labels', async () => {
    const board = { boardId: 'twice', boardName: 'Twice' }
    await send('issues', lines('id,title,labels', 't:1,first,"a,b"', 't:1,last,c'), board)
    expect((await rowsOf('issues')).find(({ id }) => id === 't:1')).toMatchObject({ title: 'last' })
    const labels = (await rowsOf('issue_labels')).filter(({ issue_id }) => issue_id === 't:1')
    expect(labels.map(({ label_name }) => label_name)).toEqual(['c'])
    await send('issues', lines('id'), board)
  })

  it('imports what belongs to issues', async () => {
    const board = { boardId: 'b:1' }
    const commits = lines('issue_id,commit_sha', 'i:4,aaa', 'i:2,bbb', 'gone,ccc')
    expect(await send('issue_commits', commits, board)).toMatchObject({ status: 200, body: DONE })
    // Commits of i:2 stay, because it is on another board. Commits of issues on no board are removed with the import that brought them.
    expect((await send('issue_commits', lines('issue_id,commit_sha', 'i:4,ddd'), board)).status).toBe(200)
    expect((await rowsOf('issue_commits')).map(({ commit_sha }) => commit_sha)).toEqual(['bbb', 'ddd'])

    const header = 'issue_id,repo_url,commit_sha,host,namespace,repo_name'
    await send('issue_repo_commits', lines(header, 'i:4,https://h/n/r,eee,h,n,r'), board)
    expect(await rowsOf('issue_repo_commits')).toMatchObject([
      { issue_id: 'i:4', repo_url: 'https://h/n/r', commit_sha: 'eee', host: 'h', namespace: 'n', repo_name: 'r' },
    ])
    expect((await rowsOf('issue_commits')).map(({ commit_sha }) => commit_sha)).toEqual(['bbb', 'eee'])
    await send('issue_repo_commits', lines(header, 'i:4,https://h/n/r,fff,h,n,r'), { ...board, incremental: 'true' })
    expect((await rowsOf('issue_repo_commits')).map(({ commit_sha }) => commit_sha)).toEqual(['eee', 'fff'])

    const sprint = 'id,name,status,started_date'
    await send('sprints', lines(sprint, 's:1,One,ACTIVE,2024-01-01', 's:2,Two,,'), board)
    await send('sprints', lines('id,name', 's:2,Two'), { boardId: 'b:2' })
    await send('sprints', lines('id,name', 's:3,Three'), board)
    expect(await rowsOf('sprints')).toMatchObject([
      { id: 's:2', original_board_id: 'b:2' },
      { id: 's:3', original_board_id: 'b:1', name: 'Three' },
    ])
    expect((await rowsOf('board_sprints')).map((each) => [each.board_id, each.sprint_id])).toEqual([
      ['b:1', 's:3'],
      ['b:2', 's:2'],
    ])

    const change = 'id,issue_id,author_name,field_name,original_from_value,original_to_value,created_date'
    await send(
      'issue_changelogs',
      lines(change, 'c:1,i:4,eve,status,a,b,2024-01-01', 'c:2,i:4,,assignee,bob,,2024-01-02'),
      board,
    )
    expect(await rowsOf('issue_changelogs')).toMatchObject([
      {
        id: 'c:1',
        author_id: 'csv:CsvAccount:0:eve',
        author_name: 'eve',
        field_id: 'status',
        original_from_value: 'a',
      },
      { id: 'c:2', field_id: 'assignee', original_from_value: 'csv:CsvAccount:0:bob', original_to_value: '' },
    ])
    await send('issue_changelogs', lines(change, 'c:3,i:4,,status,a,b,'), board)
    expect((await rowsOf('issue_changelogs')).map(({ id }) => id)).toEqual(['c:3'])

    const worklog = 'id,issue_id,author_name,time_spent_minutes,started_date,comment'
    await send('issue_worklogs', lines(worklog, 'w:1,i:4,mallory,90,2024-01-01,=1+1'), board)
    expect(await rowsOf('issue_worklogs')).toMatchObject([
      { id: 'w:1', author_id: 'csv:CsvAccount:0:mallory', time_spent_minutes: 90, comment: '=1+1' },
    ])
    const people = (await rowsOf('accounts')).map(({ user_name }) => user_name)
    expect(people).toEqual(expect.arrayContaining(['eve', 'bob', 'mallory']))
  })

  it('imports what tests are about', async () => {
    const project = { qaProjectId: 'q:1' }
    await send(
      'qa_apis',
      lines('id,name,path,method,create_time,creator_name', 'a:1,Get,/x,GET,2024-01-01,ada'),
      project,
    )
    await send('qa_apis', lines('id,name', 'a:2,Other'), { qaProjectId: 'q:2' })
    await send('qa_apis', lines('id,name', 'a:3,New'), project)
    expect(await rowsOf('qa_apis')).toMatchObject([
      { id: 'a:2', qa_project_id: 'q:2' },
      { id: 'a:3', qa_project_id: 'q:1', creator_id: null },
    ])
    const named = { ...project, qaProjectName: ODD_NAME }
    await send('qa_test_cases', lines('id,name,type,qa_api_id,creator_name', 't:1,Case,api,a:3,ada'), named)
    expect(await rowsOf('qa_test_cases')).toMatchObject([
      { id: 't:1', qa_project_id: 'q:1', creator_id: 'csv:CsvAccount:0:ada' },
    ])
    expect(await rowsOf('qa_projects')).toMatchObject([
      { id: 'q:1', name: ODD_NAME, _raw_data_id: 0, _raw_data_params: '' },
    ])
    const run = 'id,qa_test_case_id,status,is_invalid,start_time'
    await send('qa_test_case_executions', lines(run, 'e:1,t:1,SUCCESS,,2024-01-01'), project)
    const more = { ...project, incremental: 'true' }
    await send('qa_test_case_executions', lines(run, 'e:2,t:1,FAILED,true,2024-01-01'), more)
    expect(await rowsOf('qa_test_case_executions')).toMatchObject([
      { id: 'e:1', is_invalid: false, qa_project_id: 'q:1' },
      { id: 'e:2', is_invalid: true },
    ])
    // A full import of test cases resets its project, and an incremental one removes nothing.
    await send('qa_apis', lines('id,name', 'a:3,New'), project)
    await send('qa_test_cases', lines('id,name', 't:2,More'), { ...named, incremental: 'true' })
    const left = async () =>
      Promise.all(['qa_apis', 'qa_test_cases', 'qa_test_case_executions'].map(rowsOf)).then((tables) =>
        tables.map((rows) => rows.map(({ id }) => id)),
      )
    expect(await left()).toEqual([
      ['a:2', 'a:3'],
      ['t:1', 't:2'],
      ['e:1', 'e:2'],
    ])
    await send('qa_test_cases', lines('id,name', 't:3,Only'), named)
    expect(await left()).toEqual([['a:2'], ['t:3'], []])
  })

  it('changes nothing when a line is wrong, and names it', async () => {
    const before = await everything()
    const board = { boardId: 'b:1', boardName: 'Board' }
    const good = Array.from({ length: 1500 }, (_, index) => `n:${index},good`)
    for (const [file, message] of [
      [
        lines('id,story_point', 'n:1,1', '', 'n:2,many'),
        /^issues.csv, line 4: column story_point: "many" is not a number/,
      ],
      [lines('id,title', ...good, ',no id'), /^issues.csv, line 1502: column id: is empty/],
      [lines('id,title', ...good, 'n:1'), /line 1502: it has 1 cell, the first line has 2/],
      [lines('id,title', 'n:1,"a\nb"', 'n:2,"open'), /line 4: a quote is opened and never closed/],
      [lines('id,title', 'n:1,a"b'), /line 2: a quote stands inside/],
      [lines('id,created_date', 'n:1,yesterday'), /line 2: column created_date: "yesterday" is not a date/],
      [lines('id,x_points', 'n:1,1.5'), /line 2: column x_points: "1.5" is not a whole number/],
      [lines('id,title', `${'n'.repeat(256)},long`), /line 2: column id: longer than 255/],
      [lines('id,creator_name', `n:1,${'n'.repeat(250)}`), /line 2: column creator_name: longer than 255/],
      [lines('id,labels', `n:1,${'n'.repeat(256)}`), /line 2: column labels: longer than 255/],
      [lines('id,nothing', 'n:1,1'), /unknown column "nothing". It may have: id, /],
      [lines('title', 'no key'), /lacks the column id/],
      [lines('id,title,id', 'n:1,a,n:2'), /column "id" twice/],
      [lines('id;title', 'n:1;a'), /separate columns by commas/],
      ['', /is empty: its first line must name the columns/],
      [Buffer.from([0x69, 0x64, 0x0a, 0xff, 0xfe]), /is not UTF-8/],
    ] as const) {
      expect(await send('issues', file, board), String(message)).toMatchObject({ status: 400, body: failed(message) })
    }
    const change = lines('id,issue_id,field_name', 'c:9,i:4,status', 'c:10,i:4,')
    expect(await send('issue_changelogs', change, board)).toMatchObject({
      status: 400,
      body: failed(/line 3: column field_name: is empty/),
    })
    expect(await everything()).toEqual(before)
  })

  it('refuses uploads that are no such form', async () => {
    const before = await everything()
    for (const { name, owner, isNamed } of csvFiles) {
      const url = `/plugins/customize/csvfiles/${name}`
      const post = (file: string | undefined, fields: Record<string, string>) => upload(api, 'POST', url, file, fields)
      const id = { [owner.idField]: 'x' }
      const form = { ...id, ...(isNamed && { [owner.nameField]: 'y' }) }
      const missing = new RegExp(`${owner.idField}`)
      expect(await post(undefined, form), name).toMatchObject({ status: 400, body: failed(/file: must be a file/) })
      expect(await post('id\n', { ...form, [owner.idField]: '' }), name).toMatchObject({
        status: 400,
        body: failed(missing),
      })
      const { [owner.idField]: _, ...without } = form
      expect(await post('id\n', without), name).toMatchObject({ status: 400, body: failed(missing) })
      if (isNamed)
        expect(await post('id\n', id), name).toMatchObject({ status: 400, body: failed(new RegExp(owner.nameField)) })
      expect(await api.ask('POST', url, { ...form, file: 'id' }), name).toMatchObject({
        status: 400,
        body: failed(/Send multipart\/form-data/),
      })
      const headers = { 'content-type': 'multipart/form-data; boundary=x' }
      for (const broken of [
        '--x\r\nnonsense',
        '--x\r\nContent-Disposition: form-data; name="file"; filename="f"\r\n\r\nid',
      ]) {
        expect(await api.ask('POST', url, broken, { headers }), name).toMatchObject({ status: 400, body: FAILED })
      }
      expect((await api.ask('POST', url, '', { headers: { 'content-type': 'multipart/form-data' } })).status).toBe(400)
    }
    const large = await send('issues', `id,title\n1,${'x'.repeat(20 << 20)}\n`, { boardId: 'b:1', boardName: 'b' })
    expect(large).toMatchObject({ status: 413, body: failed(/larger than 20 MB/) })
    expect(await send('issues', lines('id'), { boardId: 'b:1', boardName: 'b', incremental: 'perhaps' })).toMatchObject(
      {
        status: 400,
      },
    )
    expect(await everything()).toEqual(before)
  })

  it('fills fields from raw records in a plan that users wrote', async () => {
    const raw = rawTable('jira_api_issues')
    const params = '{"ConnectionId":1,"BoardId":8}'
    const record = (points: number) => Buffer.from(JSON.stringify({ fields: { points, tags: ['a', 'b'] } }))
    await write(
      test.database,
      [1, 2].map((points) => raw.row({ id: points as never, params, data: record(points) })),
    )
    await write(
      test.database,
      [1, 2].map((id) =>
        issues.row({ id: `j:${id}`, _raw_data_params: params, _raw_data_table: raw.name, _raw_data_id: id }),
      ),
    )
    await field('x_tags', 'text')
    const rule = {
      table: 'issues',
      rawDataTable: raw.name,
      rawDataParams: '{"ConnectionId":1,%',
      mapping: { x_points: 'fields.points', x_tags: 'fields.tags' },
    }
    const plan = [[{ plugin: 'customize', options: { transformationRules: [rule] } }]]
    const { body: blueprint } = await api.ask('POST', '/blueprints', {
      name: 'own',
      mode: 'ADVANCED',
      plan,
      isManual: true,
    })
    const runner = await startRunner(api.control, {
      dispatch: createTaskThreads({
        databaseUrl: test.url,
        secretKey: SECRET_KEY,
        dataFolder: api.dataFolder,
        pluginModule: new URL('../../src/plugins/index.ts', import.meta.url).href,
      }),
      consume: true,
      maxParallel: 1,
      resume: true,
    })
    try {
      const { body: pipeline } = await api.ask('POST', `/blueprints/${blueprint.id}/trigger`)
      expect(await untilFinished(api.control, pipeline.id)).toMatchObject({ status: 'TASK_COMPLETED', message: '' })
      const filled = (await rowsOf('issues')).filter(({ id }) => id.startsWith('j:'))
      expect(filled.map(({ x_points }) => x_points)).toEqual([1, 2])
      const { rows } = await sql<{ value: string }>`select field_value as value from issue_custom_array_fields
        where issue_id = 'j:1' and field_id = 'x_tags' order by field_value`.execute(test.database.kysely)
      expect(rows.map(({ value }) => value)).toEqual(['a', 'b'])

      const wrong = [[{ plugin: 'customize', options: { transformationRules: [{ ...rule, table: 'nothing' }] } }]]
      const { body: second } = await api.ask('POST', '/pipelines', { name: 'wrong', plan: wrong })
      expect(await untilFinished(api.control, second.id)).toMatchObject({
        status: 'TASK_FAILED',
        message: expect.stringContaining('nothing is not a domain table'),
      })
    } finally {
      await runner.stop()
    }
  })
})
