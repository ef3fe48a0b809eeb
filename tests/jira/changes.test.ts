/** After changes, moves and removals in Jira, later runs store the same as a first run would. */
import { sql } from 'kysely'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { jira } from '../../src/plugins/jira/plugin.ts'
import { allTables } from '../../src/tables.ts'
import { type FakeJira, startFakeJira, USER } from '../fake-jira/fake-jira.ts'
import { describeOneWithTables } from '../support/databases.ts'
import { emptyTables } from '../support/empty-tables.ts'
import { runSubtask } from '../support/run-subtask.ts'

const BOARDS = [5, 6]
const SETTINGS = new Set(['_tool_jira_connections', '_tool_jira_boards', '_tool_jira_scope_configs'])
const TABLES = allTables.filter(({ name }) => !/^_(tool|raw)_(?!jira)/.test(name))
/** Tables with data: without raw records and without the state that runs keep. */
const DATA = TABLES.filter(({ name }) => !/^_(raw|weir|devlake)_/.test(name) && !SETTINGS.has(name))
/** Columns about the origin of a row and the time when it was written. */
const ABOUT = /^(_raw_data_\w+|created_at|updated_at)$/
const PATTERN = { remotelinkCommitShaPattern: 'commit/(\\w{40})' }
const commitUrl = (digit: string) => `https://git.example/shop/commit/${digit.repeat(40)}`

describeOneWithTables('what changes in jira', (test) => {
  let fake: FakeJira
  let scopeConfig: object
  beforeEach(async () => {
    fake = await startFakeJira()
    scopeConfig = {}
    await forget(() => true)
    const connection = { endpoint: fake.url, auth_method: 'BasicAuth', ...USER, token: '', proxy: '' }
    await insert('_tool_jira_connections', { id: 1, name: 'tickets', rate_limit_per_hour: 0, ...connection })
    for (const board_id of BOARDS)
      await insert('_tool_jira_boards', {
        connection_id: 1,
        board_id,
        project_id: 10_000,
        name: `Board ${board_id}`,
        jql: '',
      })
  })
  afterEach(() => fake.stop())
  const insert = (table: string, row: object) => test.database.kysely.insertInto(table).values(row).execute()
  const forget = (isMeant: (name: string) => boolean) =>
    emptyTables(
      test.database,
      TABLES.filter(({ name }) => isMeant(name)),
    )
  const isRun = ({ name, isDefault }: { name: string; isDefault: boolean }) => isDefault || /IssueComments/.test(name)
  const run = async (...boards: number[]) => {
    for (const boardId of boards)
      for (const subtask of jira.subtasks.filter(isRun))
        await runSubtask(test.database, jira, subtask.name, { connectionId: 1, boardId, scopeConfig })
  }
  const all = async (table: string, ...columns: string[]): Promise<any[]> =>
    test.database.kysely
      .selectFrom(table)
      .select(columns)
      .orderBy(columns[0] as string)
      .execute()
  const everything = async () => {
    const tables: Record<string, string[]> = {}
    for (const { name } of DATA) {
      const rows = await test.database.kysely.selectFrom(name).selectAll().execute()
      const plain = rows.map((row) => JSON.stringify(Object.entries(row).filter(([column]) => !ABOUT.test(column))))
      if (plain.length > 0) tables[name] = plain.sort()
    }
    return tables
  }
  /** Checks convergence: the stored rows equal those that a run on an empty database would store. */
  const expectConverged = async (...boards: number[]) => {
    const stored = await everything()
    await forget((name) => !SETTINGS.has(name))
    await run(...boards)
    expect(stored).toEqual(await everything())
  }
  const requests = (part: string) => fake.requests.filter((path) => path.includes(part))

  it('lets comments, worklogs, links, labels and changes go', async () => {
    const [comment] = [fake.addComment('SHOP-1', 'one'), fake.addComment('SHOP-1', 'two')]
    const worklog = fake.addWorklog('SHOP-1')
    const link = fake.linkIssues('SHOP-1', 'SHOP-2')
    const change = fake.addChange('SHOP-3', { field: 'priority', fromString: 'Low', toString: 'High' })
    fake.setLabels('SHOP-2', ['big', 'new'])
    await run(5)
    expect(await all('issue_worklogs', 'id')).toHaveLength(1)
    expect(await all('issue_relationships', 'source_issue_id')).toHaveLength(2)
    fake.deleteComment('SHOP-1', comment.id)
    fake.deleteWorklog('SHOP-1', worklog.id)
    fake.unlinkIssues(link.id)
    fake.deleteChange('SHOP-3', change.id)
    fake.setLabels('SHOP-2', [])
    await run(5)
    expect(await all('issue_comments', 'body')).toEqual([{ body: 'two' }])
    for (const table of ['issue_worklogs', 'issue_relationships', 'issue_labels', 'issue_changelogs'])
      expect({ [table]: (await sql`select * from ${sql.table(table)}`.execute(test.database.kysely)).rows }).toEqual({
        [table]: [],
      })
    await expectConverged(5)
  })

  it('reads lists that continue past the issue as a whole, and takes them back when they become short', {
    timeout: 300_000,
  }, async () => {
    const worklogs = Array.from({ length: 60 }, () => fake.addWorklog('SHOP-1'))
    const comments = Array.from({ length: 130 }, (_, index) => fake.addComment('SHOP-1', `text ${index}`))
    for (let index = 0; index < 110; index++) fake.addChange('SHOP-2', { field: 'Rank', toString: `${index}` })
    await run(5)
    expect(await all('issue_worklogs', 'id')).toHaveLength(60)
    expect(await all('issue_comments', 'id')).toHaveLength(130)
    expect(await all('_tool_jira_issue_changelogs', 'changelog_id')).toHaveLength(110)
    for (const { id } of [...worklogs.slice(0, 5), ...worklogs.slice(50)]) fake.deleteWorklog('SHOP-1', id)
    for (const { id } of comments.slice(20, 60)) fake.deleteComment('SHOP-1', id)
    await run(5)
    expect(await all('issue_worklogs', 'id')).toHaveLength(45)
    expect(await all('issue_comments', 'id')).toHaveLength(90)
    for (const { id } of worklogs.slice(5, 40)) fake.deleteWorklog('SHOP-1', id)
    await run(5)
    expect(await all('issue_worklogs', 'id')).toHaveLength(10)
    await expectConverged(5)
  })

  it('finds deleted issues, and what hung on them', async () => {
    fake.linkIssues('SHOP-1', 'SHOP-2')
    const epic = fake.createIssue({ fields: { summary: 'Epic' } })
    fake.setEpic('SHOP-3', epic.key)
    fake.addWorklog('SHOP-2', 60, { accountId: 'bob', displayName: 'Bob' })
    await run(5)
    expect(await all('accounts', 'full_name')).toEqual([{ full_name: 'Ann' }, { full_name: 'Bob' }])
    fake.deleteIssue('SHOP-2')
    fake.deleteIssue(epic.key)
    await run(5)
    expect(await all('issues', 'issue_key', 'epic_key')).toEqual([
      { issue_key: 'SHOP-1', epic_key: '' },
      { issue_key: 'SHOP-3', epic_key: '' },
    ])
    expect(await all('issue_relationships', 'source_issue_id')).toEqual([])
    expect(await all('accounts', 'full_name')).toEqual([{ full_name: 'Ann' }])
    await expectConverged(5)
  })

  it('compares by one small request, and lists names only when the numbers differ', async () => {
    for (let index = 0; index < 150; index++) fake.createIssue()
    await run(5)
    fake.requests.length = 0
    await run(5)
    expect(requests('fields=id')).toHaveLength(1)
    fake.deleteIssue('SHOP-2')
    fake.requests.length = 0
    await run(5)
    expect(requests('fields=id')).toHaveLength(2)
    expect(await all('issues', 'id')).toHaveLength(152)
    await expectConverged(5)
  })

  it('follows an issue to another project, and off the board and onto it', async () => {
    fake.setBoards('SHOP-3', [6])
    fake.linkIssues('SHOP-1', 'SHOP-3')
    const child = fake.createIssue({ boards: [5] })
    fake.setEpic(child.key, 'SHOP-1')
    fake.editIssue(child.key, { parent: { id: '10001', key: 'SHOP-1' } })
    await run(5)
    expect(await all('issues', 'issue_key')).toHaveLength(3)
    fake.moveToProject('10001', 'PAY')
    fake.setBoards('10002', [6])
    fake.setBoards('10003', [5])
    await run(5)
    expect(await all('issues', 'id', 'original_project')).toEqual([
      { id: 'jira:JiraIssue:1:10001', original_project: 'Payments' },
      { id: 'jira:JiraIssue:1:10003', original_project: 'Shop' },
      { id: `jira:JiraIssue:1:${child.id}`, original_project: 'Shop' },
    ])
    await expectConverged(5)
  })

  it('keeps what another board shows', async () => {
    const sprint = fake.createSprint('One', [5, 6])
    fake.setSprint('SHOP-1', sprint.id)
    fake.addComment('SHOP-1')
    await run(5, 6)
    fake.setBoards('10001', [5])
    fake.setBoards('10002', [6])
    await run(5, 6)
    const on = async (board: number) =>
      (await all('board_issues', 'issue_id', 'board_id'))
        .filter(({ board_id }) => board_id.endsWith(`:${board}`))
        .map(({ issue_id }) => issue_id.slice(-1))
    expect([await on(5), await on(6)]).toEqual([
      ['1', '3'],
      ['2', '3'],
    ])
    await expectConverged(5, 6)
  })

  it('lets an epic go with its last child, and keeps one that the board shows itself', {
    timeout: 300_000,
  }, async () => {
    const [shown, hidden] = [fake.createIssue({ boards: [5] }), fake.createIssue({ boards: [] })]
    fake.setLabels(shown.key, ['big'])
    fake.setEpic('SHOP-1', shown.key)
    fake.setEpic('SHOP-2', hidden.key)
    await run(5)
    expect(await all('issues', 'id')).toHaveLength(5)
    fake.setEpic('SHOP-1', null)
    fake.setEpic('SHOP-2', null)
    await run(5)
    expect(await all('issues', 'id')).toHaveLength(4)
    expect(await all('issue_labels', 'label_name')).toEqual([{ label_name: 'big' }])
    await expectConverged(5)
  })

  it('asks for remote links where a pattern needs them, of all issues once one is set', {
    timeout: 300_000,
  }, async () => {
    const link = fake.addRemoteLink('SHOP-1', commitUrl('a'))
    const epic = fake.createIssue({ boards: [] })
    fake.setEpic('SHOP-2', epic.key)
    await run(5)
    expect(requests('/remotelink')).toEqual([])
    scopeConfig = PATTERN
    await run(5)
    expect(requests('/remotelink')).toHaveLength(4)
    expect(await all('issue_commits', 'commit_sha')).toEqual([{ commit_sha: 'a'.repeat(40) }])
    fake.addRemoteLink('SHOP-3', commitUrl('b'))
    fake.deleteRemoteLink('SHOP-1', link.id)
    await run(5)
    expect(await all('issue_commits', 'commit_sha')).toEqual([{ commit_sha: 'b'.repeat(40) }])
    scopeConfig = {}
    await run(5)
    for (const table of ['issue_commits', '_tool_jira_remotelinks']) expect(await all(table, 'issue_id')).toEqual([])
    await expectConverged(5)
    scopeConfig = PATTERN
    await run(5)
    await expectConverged(5)
  })

  it('asks for remote links of epics only when they changed', async () => {
    const long = new Date(Date.now() - 10 * 24 * 3_600_000)
    fake.now = () => long
    scopeConfig = PATTERN
    const epics = [fake.createIssue({ boards: [] }), fake.createIssue({ boards: [] })]
    fake.setEpic('SHOP-1', epics[0].key)
    fake.setEpic('SHOP-2', epics[1].key)
    // After the day in which changed issues may be requested twice.
    fake.now = () => new Date(long.getTime() + 2 * 24 * 3_600_000)
    await run(5)
    expect(requests('/remotelink')).toHaveLength(5)
    fake.requests.length = 0
    await run(5)
    expect(requests('/remotelink')).toEqual([])
    fake.now = () => new Date()
    fake.addRemoteLink(epics[1].key, commitUrl('c'))
    await run(5)
    expect(requests('/remotelink')).toEqual([`api/2/issue/${epics[1].id}/remotelink`])
    expect(await all('issue_commits', 'commit_sha')).toEqual([{ commit_sha: 'c'.repeat(40) }])
  })

  it('stores what the server says of itself', async () => {
    await run(5)
    expect(await all('_tool_jira_server_infos', 'version', 'deployment_type', 'version_numbers')).toMatchObject([
      { version: '1001.0.0', deployment_type: 'Cloud' },
    ])
  })
})
