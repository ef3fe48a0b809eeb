/** Collecting from Jira over HTTP: from its boards to the domain, later runs, and boards whose filter was changed. */
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { jira } from '../../src/plugins/jira/plugin.ts'
import { allTables } from '../../src/tables.ts'
import { type FakeJira, issue, startFakeJira, USER } from '../fake-jira/fake-jira.ts'
import { describeOneWithTables } from '../support/databases.ts'
import { emptyTables } from '../support/empty-tables.ts'
import { runSubtask } from '../support/run-subtask.ts'

const OPTIONS = { connectionId: 1, boardId: 5 }

describeOneWithTables('collecting from jira', (test) => {
  let fake: FakeJira
  beforeEach(async () => {
    fake = await startFakeJira()
    await emptyTables(test.database, allTables)
    const connection = { endpoint: fake.url, auth_method: 'BasicAuth', ...USER, token: '', proxy: '' }
    await insert('_tool_jira_connections', { id: 1, name: 'tickets', rate_limit_per_hour: 0, ...connection })
    await insert('_tool_jira_boards', { connection_id: 1, board_id: 5, project_id: 10_000, name: 'Shop', jql: '' })
  })
  afterEach(async () => {
    vi.unstubAllEnvs()
    await fake.stop()
  })
  const insert = (table: string, row: object) => test.database.kysely.insertInto(table).values(row).execute()
  const run = (name: string, how: { fullSync?: boolean } = {}, options = {}) =>
    runSubtask(test.database, jira, name, { ...OPTIONS, ...options }, how)
  const runAll = async (how: { fullSync?: boolean } = {}) => {
    for (const { name, isDefault } of jira.subtasks) if (isDefault) await run(name, how)
  }
  const issueKeys = async () => {
    const rows = await test.database.kysely.selectFrom('issues').select('issue_key').orderBy('issue_key').execute()
    return rows.map(({ issue_key }) => issue_key)
  }
  const storedFilter = async () =>
    (await test.database.kysely.selectFrom('_tool_jira_boards').select('jql').executeTakeFirst())?.jql
  const issueRequests = () => fake.requests.filter((path) => path.startsWith('agile/1.0/board/5/issue'))

  it('goes from the board to the domain, and asks only for changes the second time', async () => {
    await runAll()
    expect(await issueKeys()).toEqual(['SHOP-1', 'SHOP-2', 'SHOP-3'])
    const accounts = await test.database.kysely.selectFrom('accounts').select(['full_name', 'email']).execute()
    expect(accounts).toEqual([{ full_name: 'Ann', email: 'ann@example.org' }])
    fake.requests.length = 0
    fake.issues.push(issue(4, { updated: new Date(Date.now() + 60_000).toISOString() }))
    await runAll()
    expect(await issueKeys()).toEqual(['SHOP-1', 'SHOP-2', 'SHOP-3', 'SHOP-4'])
    expect(issueRequests()).toEqual([expect.stringContaining('updated+%3E%3D'), expect.stringContaining('fields=id')])
  })

  it('looks at the filter of the board before and after everything else', async () => {
    const names = jira.subtasks.map(({ name }) => name)
    expect([names[0], names.at(-1)]).toEqual(['collectBoardFilterBegin', 'collectBoardFilterEnd'])
    await runAll()
    expect(await storedFilter()).toBe(fake.jql)
  })

  it('asks for a full sync when the filter was changed, and is content after it', async () => {
    await runAll()
    fake.jql = 'project = SHOP AND labels = shown'
    fake.issues.splice(0, 2)
    await expect(runAll()).rejects.toThrow(
      /filter of board Shop was changed since the last run\. Run with full sync once/,
    )
    expect(await storedFilter()).not.toBe(fake.jql)
    await runAll({ fullSync: true })
    expect(await issueKeys()).toEqual(['SHOP-3'])
    expect(await storedFilter()).toBe(fake.jql)
    await runAll()
  })

  it('collects everything again by itself when told to, also when it is interrupted', async () => {
    vi.stubEnv('JIRA_JQL_AUTO_FULL_REFRESH', 'true')
    await runAll()
    fake.jql = 'project = SHOP AND labels = shown'
    fake.issues.splice(0, 2)
    await run('collectBoardFilterBegin')
    await runAll()
    expect(await issueKeys()).toEqual(['SHOP-3'])
  })

  it('fails when the filter is changed while it collects, or leaves that to the next run', async () => {
    await run('collectBoardFilterBegin')
    fake.jql = 'project = SHOP AND labels = shown'
    await expect(run('collectBoardFilterEnd')).rejects.toThrow(/was changed while this run collected/)
    vi.stubEnv('JIRA_JQL_AUTO_FULL_REFRESH', 'true')
    await run('collectBoardFilterEnd')
    expect(await storedFilter()).not.toBe(fake.jql)
  })

  it('continues without a filter that it may not see', async () => {
    fake.instead.set('api/2/filter/95', {
      status: 404,
      body: { errorMessages: ['The selected filter is not available.'] },
    })
    await runAll()
    expect(await storedFilter()).toBe('')
    expect(await issueKeys()).toHaveLength(3)
  })

  it('asks for smaller pages where the task says so, and never for larger ones than Jira gives', async () => {
    await run('collectIssues', {}, { pageSize: 2 })
    expect(issueRequests().map((path) => new URLSearchParams(path.split('?')[1]).get('startAt'))).toEqual(['0', '2'])
    for (const [pageSize, asked] of [
      ['1', '1'],
      [1000, '100'],
      ['many', '100'],
      [-5, '100'],
    ] as const) {
      fake.requests.length = 0
      await run('collectIssues', { fullSync: true }, { pageSize })
      expect(new URLSearchParams(issueRequests()[0]?.split('?')[1]).get('maxResults')).toBe(asked)
    }
  })
})
