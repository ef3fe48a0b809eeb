/** The organisation's CSV files: downloaded, changed in a spreadsheet, and uploaded again. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { readAll } from '../../src/database/read.ts'
import { write } from '../../src/database/write.ts'
import { projectMapping } from '../../src/domain/crossdomain.ts'
import { accounts, teams, teamUsers, userAccounts, users } from '../../src/domain/people.ts'
import { describeEachWithTables } from '../support/databases.ts'
import { startTestApi, type TestApi } from './support/test-api.ts'
import { lines, upload } from './support/upload.ts'

const DONE = { code: 0, success: true, message: 'success', causes: null, data: null }
const failed = (message: RegExp) => ({
  code: 0,
  success: false,
  causes: null,
  data: null,
  message: expect.stringMatching(message),
})
const NAMES = ['teams', 'users', 'user_account_mapping', 'project_mapping']
const HEADERS: Record<string, string> = {
  teams: 'Id,Name,Alias,ParentId,SortingIndex',
  users: 'Id,Name,Email,TeamIds',
  user_account_mapping: 'Id,Email,FullName,UserName,AvatarUrl,Organization,CreatedDate,Status,UserId',
  project_mapping: 'ProjectName,Table,RowId',
}
const ODD = [
  `Robert'); drop table users; -- 🌊`,
  'a "quote", a\r\nline',
  '=1+1',
  `'=1+1`,
  '-5',
  '+49 1',
  ' padded ',
  '@x',
]

describeEachWithTables('files of the organisation', (test) => {
  let api: TestApi
  beforeAll(async () => {
    api = await startTestApi(test.database)
  })
  afterAll(() => api.close())

  const url = (name: string) => `/plugins/org/${name}.csv`
  const get = async (name: string) => (await api.ask('GET', url(name))).text
  const put = (name: string, file: string | Buffer | undefined) => upload(api, 'PUT', url(name), file)
  const TABLES = [teams, users, teamUsers, accounts, userAccounts, projectMapping]
  /** Returns all rows without their times of writing. */
  const everything = async () =>
    Object.fromEntries(
      await Promise.all(
        TABLES.map(async (table) => [
          table.name,
          (await readAll(test.database, { table: table as typeof users })).map(
            ({ created_at, updated_at, ...row }) => row,
          ),
        ]),
      ),
    )

  it('are headers only at first; samples show what they look like', async () => {
    for (const name of NAMES) {
      const { status, headers, text } = await api.ask('GET', url(name))
      expect([status, text]).toEqual([200, `${HEADERS[name]}\r\n`])
      expect(headers['content-type']).toContain('text/csv')
      expect(headers['content-disposition']).toContain(`${name}.csv`)
    }
    for (const name of ['teams', 'users', 'project_mapping']) {
      const { text } = await api.ask('GET', `${url(name)}?fake_data=true`)
      expect(text.split('\r\n')).toHaveLength(5)
      expect(text.startsWith(`${HEADERS[name]}\r\n`)).toBe(true)
      expect((await api.ask('GET', `${url(name)}?fake_data=false`)).text).toBe(`${HEADERS[name]}\r\n`)
      expect((await api.ask('GET', `${url(name)}?fake_data=perhaps`)).status).toBe(400)
      // A downloaded sample can be uploaded again.
      expect(await put(name, text)).toMatchObject({ status: 200, body: DONE })
      expect(await get(name)).toBe(text)
    }
  })

  it('come back as they went, with quotes, emoji, formulas and what looks like SQL', async () => {
    await write(test.database, [
      ...ODD.map((name, index) =>
        teams.row({ id: `t${index}`, name, alias: name, parent_id: name, sorting_index: -index }),
      ),
      ...ODD.map((name, index) => users.row({ id: `u${index}`, name, email: name })),
      ...['t0', 't1', 't;2'].map((team_id) => teamUsers.row({ team_id: team_id.replace(';', ''), user_id: 'u1' })),
      ...ODD.map((name, index) =>
        accounts.row({
          id: `a${index}`,
          full_name: name,
          created_date: new Date('2024-02-29T23:59:59Z'),
          status: index,
        }),
      ),
      userAccounts.row({ account_id: 'a3', user_id: 'u1' }),
      ...ODD.map((name) => projectMapping.row({ project_name: name, table: 'repos', row_id: name })),
    ])
    const before = await everything()
    for (const name of NAMES) {
      const file = await get(name)
      expect(await put(name, file), name).toMatchObject({ status: 200, body: DONE })
      expect(await get(name)).toBe(file)
      // The same file as another program would write it.
      expect(
        (await put(name, `\ufeff${file.replaceAll('\r\n', '\n').replaceAll('a\nline', 'a\r\nline')}`)).status,
      ).toBe(200)
      expect(await get(name)).toBe(file)
    }
    expect(await everything()).toEqual(before)
    expect(await get('teams')).toContain(`'=1+1`)
    expect(await get('user_account_mapping')).toContain('2024-02-29,3,u1')
    expect(await get('users')).toContain('t0;t1;t2')
  })

  it('replace what was there, or add to it', async () => {
    expect(await put('teams', lines('Id,Name,SortingIndex', '1,One,', '2,Two,7'))).toMatchObject({
      status: 200,
      body: DONE,
    })
    expect(await readAll(test.database, { table: teams })).toMatchObject([
      { id: '1', name: 'One', alias: '', sorting_index: 0 },
      { id: '2', sorting_index: 7 },
    ])
    // Columns may be in any order, and missing ones are left empty.
    await put('users', lines('TeamIds,Id', '1; 2;;1,x', ',y'))
    expect((await readAll(test.database, { table: users })).map(({ id }) => id)).toEqual(['x', 'y'])
    expect((await readAll(test.database, { table: teamUsers })).map((each) => [each.team_id, each.user_id])).toEqual([
      ['1', 'x'],
      ['2', 'x'],
    ])
    // Only lines with both ids count.
    await put('user_account_mapping', lines('Id,UserId', 'a1,x', 'a2,', ',y'))
    expect(await readAll(test.database, { table: userAccounts })).toMatchObject([{ account_id: 'a1', user_id: 'x' }])
    const count = (await readAll(test.database, { table: projectMapping })).length
    await put('project_mapping', lines('ProjectName,Table,RowId', 'shop,repos,github:GithubRepo:1:1'))
    expect(await readAll(test.database, { table: projectMapping })).toHaveLength(count + 1)
    const { body: audit } = await api.ask('GET', '/v1/audit')
    expect(JSON.stringify(audit)).toContain('project_mapping.csv')
  })

  it('change nothing when a line is wrong, and name it', async () => {
    const before = await everything()
    for (const [name, file, message] of [
      ['teams', lines('Id,Name', '1,One', ',Nameless'), /^teams.csv, line 3: column Id: is empty/],
      ['teams', lines('Id,SortingIndex', '1,first'), /line 2: column SortingIndex: "first" is not a whole number/],
      ['teams', lines('Id,Name', '1,One', '2,Two', '1,Other'), /line 4: it is about the same as line 2/],
      ['teams', lines('Id,Colour', '1,red'), /unknown column "Colour". It may have: Id, Name, Alias/],
      ['teams', lines('Name', 'One'), /lacks the column Id/],
      ['teams', '', /is empty/],
      ['users', lines('Id,Name', '1,"open'), /line 2: a quote is opened/],
      ['users', lines('Id,TeamIds', `1,${'t'.repeat(256)}`), /line 2: column TeamIds: longer than 255/],
      ['users', lines('Id,Name', '1'), /line 2: it has 1 cell,/],
      ['user_account_mapping', lines('Id,UserId', 'a1,x', 'a1,y'), /line 3: it is about the same as line 2/],
      ['project_mapping', lines('ProjectName,Table,RowId', 'shop,repos,'), /line 2: column RowId: is empty/],
      ['project_mapping', lines('ProjectName;Table;RowId', 'shop;repos;1'), /separate columns by commas/],
      ['users', Buffer.from([0x49, 0x64, 0x0a, 0xff]), /is not UTF-8/],
      ['users', undefined, /file: must be a file/],
    ] as const) {
      expect(await put(name, file), String(message)).toMatchObject({ status: 400, body: failed(message) })
    }
    for (const name of NAMES) {
      expect(await api.ask('PUT', url(name), { file: 'Id' })).toMatchObject({
        status: 400,
        body: failed(/Send multipart/),
      })
      expect(await put(name, 'x'.repeat((20 << 20) + 1))).toMatchObject({
        status: 413,
        body: failed(/larger than 20 MB/),
      })
    }
    expect(await everything()).toEqual(before)
  })
})
