import { sql } from 'kysely'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { deleteScopeData } from '../../src/control-plane/scopes/scope-data.ts'
import { jira } from '../../src/plugins/jira/plugin.ts'
import { allTables } from '../../src/tables.ts'
import { type FakeJira, issue, startFakeJira, USER } from '../fake-jira/fake-jira.ts'
import { describeOneWithTables } from '../support/databases.ts'
import { emptyTables } from '../support/empty-tables.ts'
import { runSubtask } from '../support/run-subtask.ts'

describeOneWithTables('issues that two boards show', (test) => {
  let fake: FakeJira
  beforeEach(async () => {
    fake = await startFakeJira()
    await emptyTables(test.database, allTables)
    const connection = { endpoint: fake.url, auth_method: 'BasicAuth', ...USER, token: '', proxy: '' }
    await insert('_tool_jira_connections', { id: 1, name: 'tickets', rate_limit_per_hour: 0, ...connection })
    for (const board_id of [5, 6]) {
      await insert('_tool_jira_boards', {
        connection_id: 1,
        board_id,
        project_id: 1,
        name: `Board ${board_id}`,
        jql: '',
      })
    }
  })
  afterEach(() => fake.stop())

  const insert = (table: string, row: object) => test.database.kysely.insertInto(table).values(row).execute()
  const run = async (boardId: number, options: { fullSync?: boolean; scopeConfig?: object } = {}) => {
    const { fullSync = false, ...rest } = options
    for (const { name, isDefault } of jira.subtasks) {
      if (isDefault) await runSubtask(test.database, jira, name, { connectionId: 1, boardId, ...rest }, { fullSync })
    }
  }
  const column = async (query: ReturnType<typeof sql<{ value: unknown }>>) =>
    (await query.execute(test.database.kysely)).rows.map(({ value }) => value)
  const keysOf = (board: number) =>
    column(sql`select i.issue_key as value from board_issues b inner join issues i on i.id = b.issue_id
      where b.board_id = ${`jira:JiraBoard:1:${board}`} order by 1`)
  const onlyOn = (board: number, ...numbers: number[]) =>
    fake.instead.set(`agile/1.0/board/${board}/issue`, {
      status: 200,
      body: { startAt: 0, maxResults: 100, total: numbers.length, issues: numbers.map((number) => issue(number)) },
    })
  const later = (minutes: number) => new Date(Date.now() + minutes * 60_000).toISOString()

  it.each([
    ['the other was collected last', [5, 6]],
    ['this one was collected last', [6, 5]],
  ])('stay on a board when they leave the other, where %s', async (_title, order) => {
    for (const board of order) await run(board)
    const before = await keysOf(5)
    expect(before.length).toBeGreaterThan(2)
    onlyOn(6, 1, 2)
    await run(6, { fullSync: true })
    expect(await keysOf(6)).toEqual(['SHOP-1', 'SHOP-2'])
    expect(await keysOf(5)).toEqual(before)
    await run(5)
    expect(await keysOf(5)).toEqual(before)
  })

  it('go when they leave both, whichever is looked at first', async () => {
    for (const board of [5, 6]) await run(board)
    for (const board of [5, 6]) onlyOn(board, 1, 2)
    for (const board of [6, 5]) await run(board, { fullSync: true })
    expect(await column(sql`select issue_key as value from issues order by 1`)).toEqual(['SHOP-1', 'SHOP-2'])
    expect(await column(sql`select issue_key as value from _tool_jira_issues order by 1`)).toEqual(['SHOP-1', 'SHOP-2'])
    expect(await column(sql`select count(*) as value from board_issues`)).toEqual([4])
  })

  it('stay when the other board is deleted, with the people in them', async () => {
    for (const board of [5, 6]) await run(board)
    const [before, people] = [await keysOf(5), await column(sql`select id as value from accounts order by 1`)]
    expect(people.length).toBeGreaterThan(0)
    await deleteScopeData(test.database, [jira], jira.source!, 1, { board_id: 6 })
    expect(await keysOf(6)).toEqual([])
    expect(await keysOf(5)).toEqual(before)
    expect(await column(sql`select id as value from accounts order by 1`)).toEqual(people)
    await run(5)
    expect(await keysOf(5)).toEqual(before)
    await deleteScopeData(test.database, [jira], jira.source!, 1, { board_id: 5 })
    for (const table of [
      'issues',
      'accounts',
      'board_issues',
      'issue_labels',
      '_tool_jira_issues',
      '_tool_jira_accounts',
    ]) {
      expect(await column(sql`select count(*) as value from ${sql.table(table)}`), table).toEqual([0])
    }
  })

  it('leave a sprint for good, also after a rule was changed', async () => {
    const sprintsOf = () =>
      column(sql`select sprint_id as value from sprint_issues where issue_id = 'jira:JiraIssue:1:10001' order by 1`)
    fake.issues[0] = issue(1, { sprint: { id: 1, name: 'one' }, labels: ['gone'] })
    await run(5, { scopeConfig: {} })
    fake.issues[0] = issue(1, { sprint: { id: 2, name: 'two' }, updated: later(1) })
    await run(5, { scopeConfig: {} })
    expect(await sprintsOf()).toEqual(['jira:JiraSprint:1:2'])
    await run(5, { scopeConfig: { typeMappings: { Story: { standardType: 'REQUIREMENT' } } } })
    expect(await sprintsOf()).toEqual(['jira:JiraSprint:1:2'])
    expect(await column(sql`select label_name as value from issue_labels where label_name = 'gone'`)).toEqual([])
  })

  it('keep what an epic brought once it is on the board itself and has no child any more', async () => {
    const epics = (...numbers: number[]) =>
      fake.instead.set('api/3/search/jql', {
        status: 200,
        body: { issues: numbers.map((number) => issue(number, { labels: [`epic ${number}`] })) },
      })
    const on = (...issues: unknown[]) => fake.issues.splice(0, fake.issues.length, ...(issues as typeof fake.issues))
    const [eight, nine] = [issue(8, { labels: ['epic 8'] }), issue(9, { labels: ['epic 9'] })]
    on(issue(1, { epic: { key: 'SHOP-8' } }), issue(2, { epic: { key: 'SHOP-9' } }), eight, nine)
    epics(8, 9)
    await run(5)
    on(issue(1, { epic: { key: 'SHOP-9' }, updated: later(1) }), issue(2, { epic: { key: 'SHOP-9' } }), eight, nine)
    epics(9)
    await run(5)
    expect(
      await column(sql`select label_name as value from issue_labels where label_name like 'epic%' order by 1`),
    ).toEqual(['epic 8', 'epic 9'])
    expect(await keysOf(5)).toEqual(['SHOP-1', 'SHOP-2', 'SHOP-8', 'SHOP-9'])
  })
})
