/** Cases from raw records to the domain that DevLake's own tests do not cover. */
import { beforeEach, expect, it } from 'vitest'
import { describeOneWithTables } from '../../../tests/support/databases.ts'
import { emptyTables } from '../../../tests/support/empty-tables.ts'
import { runSubtask } from '../../../tests/support/run-subtask.ts'
import { write } from '../../database/write.ts'
import { rawTable } from '../../plugin-kit/raw/raw-table.ts'
import { allTables } from '../../tables.ts'
import { jira } from './plugin.ts'

const BOARD = { connectionId: 1, boardId: 5 }
const SHA = '0123456789abcdef0123456789abcdef01234567'
const ann = { accountId: 'ann', displayName: 'Ann', active: true, avatarUrls: { '48x48': 'https://example.org/a.png' } }
const bob = { key: 'JIRAUSER2', displayName: 'Bob', emailAddress: 'bob@example.org' }

const issue = (id: number, fields: object = {}, more: object = {}) => ({
  id: String(id),
  key: `K-${id}`,
  self: `https://example.org/jira/rest/agile/1.0/issue/${id}`,
  fields: {
    summary: `Issue ${id}`,
    created: '2024-03-01T09:00:00.999+0200',
    updated: '2024-03-09T10:00:00.000+0200',
    issuetype: { id: '1', name: 'Story', subtask: false },
    status: { name: 'Open', statusCategory: { key: 'new' } },
    project: { id: '10', name: 'Project' },
    ...fields,
  },
  ...more,
})

describeOneWithTables('jira', (at) => {
  beforeEach(async () => {
    const mine = allTables.filter(({ name }) => !name.startsWith('_tool_') || name.startsWith('_tool_jira'))
    await emptyTables(at.database, mine)
  })

  const store = (name: string, records: readonly unknown[], input: unknown = null) =>
    write(
      at.database,
      records.map((record) =>
        rawTable(`jira_api_${name}`).row({
          id: null as never,
          params: '{"ConnectionId":1,"BoardId":5}',
          data: Buffer.from(JSON.stringify(record)),
          input,
          created_at: new Date(),
        }),
      ),
    )
  const run = async (names: string, scopeConfig: object = {}, fullSync = true) => {
    for (const name of names.split(' ')) {
      const { quarantined } = await runSubtask(at.database, jira, name, { ...BOARD, scopeConfig }, { fullSync })
      expect({ [name]: quarantined }).toEqual({ [name]: 0 })
    }
  }
  const all = (table: string, ...columns: string[]): Promise<any[]> =>
    at.database.kysely
      .selectFrom(table)
      .select(columns)
      .orderBy(columns[0] as string)
      .execute()

  it('reads an issue with custom fields', async () => {
    await store('issues', [
      issue(1, {
        customfield_1: '2.5',
        customfield_2: '2024-05-06T07:08:09.000-0300',
        resolutiondate: '2024-03-01T09:02:59.000+0200',
        timeoriginalestimate: 119,
        components: [{ name: 'api' }, { name: 'web' }],
        fixVersions: [{ name: '1.0' }, { name: '1.1' }],
        description: { type: 'doc', content: [{ type: 'paragraph', content: [{ type: 'text', text: 'Hello' }] }] },
        creator: bob,
        assignee: ann,
        parent: { id: '9', key: 'K-9' },
        epic: { key: 'K-8' },
      }),
      issue(2, { duedate: '2024-05-06', customfield_1: 'many' }),
      issue(3, { created: null }),
    ])
    await run('extractIssues convertIssues', { storyPointField: 'customfield_1', dueDateField: 'customfield_2' })
    const [first, ...others] = await at.database.kysely.selectFrom('issues').selectAll().orderBy('id').execute()
    expect(first).toMatchObject({
      id: 'jira:JiraIssue:1:1',
      url: 'https://example.org/jira/browse/K-1',
      type: 'STORY',
      original_type: 'Story',
      status: 'TODO',
      story_point: 2.5,
      due_date: new Date('2024-05-06T10:08:09.000Z'),
      lead_time_minutes: 2,
      original_estimate_minutes: 1,
      time_spent_minutes: null,
      component: 'api,web',
      fix_versions: '1.0,1.1',
      description: 'Hello',
      creator_id: 'jira:JiraAccount:1:JIRAUSER2',
      assignee_id: 'jira:JiraAccount:1:ann',
      parent_issue_id: 'jira:JiraIssue:1:9',
      epic_key: 'K-8',
    })
    expect(others).toMatchObject([
      { id: 'jira:JiraIssue:1:2', story_point: 0, due_date: null, lead_time_minutes: null },
    ])
    expect(await all('_tool_jira_accounts', 'account_id', 'name', 'email')).toEqual([
      { account_id: 'JIRAUSER2', name: 'Bob', email: 'bob@example.org' },
      { account_id: 'ann', name: 'Ann', email: '' },
    ])
    await run('extractIssues convertIssues')
    expect(await all('issues', 'id', 'due_date')).toEqual([
      { id: 'jira:JiraIssue:1:1', due_date: null },
      { id: 'jira:JiraIssue:1:2', due_date: new Date('2024-05-05T22:00:00.000Z') },
    ])
  })

  it('keeps no assignee, label, sprint or link that an issue lost since the last run', async () => {
    const links = [
      {
        type: { id: '3', name: 'Blocks', inward: 'is blocked by', outward: 'blocks' },
        inwardIssue: { id: '7', key: 'K-7' },
      },
      {
        type: { id: '3', name: 'Blocks', inward: 'is blocked by', outward: 'blocks' },
        outwardIssue: { id: '8', key: 'K-8' },
      },
    ]
    const convert = 'extractIssues convertIssues convertIssueLabels convertSprintIssues convertIssueRelationships'
    await store('issues', [
      issue(1, { assignee: ann, labels: ['x', 'y'], issuelinks: links, sprint: { id: 3 }, closedSprints: [{ id: 2 }] }),
      issue(2, { assignee: ann, labels: ['z'] }),
    ])
    await run(convert)
    expect(await all('issue_relationships', 'target_issue_id', 'original_type', 'source_issue_id')).toEqual([
      { source_issue_id: 'jira:JiraIssue:1:1', target_issue_id: 'jira:JiraIssue:1:7', original_type: 'is blocked by' },
      { source_issue_id: 'jira:JiraIssue:1:1', target_issue_id: 'jira:JiraIssue:1:8', original_type: 'blocks' },
    ])
    expect(await all('sprint_issues', 'sprint_id')).toEqual(
      ['2', '3'].map((id) => ({ sprint_id: `jira:JiraSprint:1:${id}` })),
    )

    await store('issues', [issue(1, { assignee: bob, labels: ['y'], sprint: { id: 3 } })])
    await run(convert, {}, false)
    expect(await all('issue_assignees', 'issue_id', 'assignee_id')).toEqual([
      { issue_id: 'jira:JiraIssue:1:1', assignee_id: 'jira:JiraAccount:1:JIRAUSER2' },
      { issue_id: 'jira:JiraIssue:1:2', assignee_id: 'jira:JiraAccount:1:ann' },
    ])
    expect(await all('issue_labels', 'label_name')).toEqual([{ label_name: 'y' }, { label_name: 'z' }])
    expect(await all('_tool_jira_sprint_issues', 'sprint_id')).toEqual([{ sprint_id: 3 }])
    expect(await all('_tool_jira_issue_relationships', 'issue_id')).toEqual([])
  })

  it('takes comments, worklogs and changes from the issue and from their own requests', async () => {
    const dates = { created: '2024-03-02T00:00:00.000+0000', updated: '2024-03-03T00:00:00.000+0000' }
    const worklog = (id: number, seconds: number) => ({
      ...dates,
      id: String(id),
      issueId: '1',
      author: ann,
      started: '2024-03-01T00:00:00.000+0000',
      timeSpentSeconds: seconds,
    })
    const history = (id: number, ...items: object[]) => ({ id: String(id), author: ann, created: dates.created, items })
    await store('status', [{ id: '11', name: 'Open', statusCategory: { key: 'new' } }])
    await store('issue_fields', [
      { id: 'customfield_9', name: 'Reviewers', custom: true, schema: { type: 'array', items: 'user' } },
    ])
    await store('issues', [
      issue(
        1,
        {
          comment: { total: 1, comments: [{ ...dates, id: '21', author: bob, body: 'first' }] },
          worklog: { total: 21, worklogs: [worklog(31, 119)] },
        },
        {
          changelog: {
            total: 1,
            histories: [history(41, { field: 'Sprint', from: '', to: '3, 4', toString: 'Three, Four' })],
          },
        },
      ),
    ])
    const input = { issue_id: 1, update_time: '2024-03-09T08:00:00.000Z' }
    await store('issue_comments', [{ ...dates, id: '22', author: ann, body: 'second' }], input)
    await store('worklogs', [worklog(32, 3600)], input)
    const status = {
      field: 'status',
      fieldId: 'status',
      from: '11',
      fromString: 'Old name',
      to: '12',
      toString: 'Gone',
    }
    const people = { field: 'Reviewers', from: null, fromString: null, to: '[ann, bob]', toString: '[Ann, Bob]' }
    const assignee = { field: 'assignee', from: 'carl', fromString: 'Carl', to: 'ann', toString: 'Ann' }
    await store('issue_changelogs', [history(42, status, people, assignee)], input)
    await run(
      'extractStatus extractIssueFields extractIssues extractIssueComments extractIssueChangelogs extractWorklogs',
    )
    await run('ConvertIssueComments convertWorklogs convertIssueChangelogs')

    expect(await all('issue_comments', 'id', 'body', 'account_id')).toEqual([
      { id: 'jira:JiraIssueComment:1:1:21', body: 'first', account_id: 'jira:JiraAccount:1:JIRAUSER2' },
      { id: 'jira:JiraIssueComment:1:1:22', body: 'second', account_id: 'jira:JiraAccount:1:ann' },
    ])
    expect(await all('issue_worklogs', 'id', 'time_spent_minutes', 'logged_date')).toEqual([
      { id: 'jira:JiraWorklog:1:1:31', time_spent_minutes: 1, logged_date: new Date(dates.updated) },
      { id: 'jira:JiraWorklog:1:1:32', time_spent_minutes: 60, logged_date: new Date(dates.updated) },
    ])
    expect(await all('_tool_jira_worklogs', 'worklog_id', 'issue_updated')).toEqual([
      { worklog_id: '31', issue_updated: new Date(input.update_time) },
      { worklog_id: '32', issue_updated: new Date(input.update_time) },
    ])
    const changes = ['original_from_value', 'original_to_value', 'from_value', 'to_value']
    expect(await all('issue_changelogs', 'id', ...changes)).toEqual(
      [
        ['41:Sprint', '', 'jira:JiraSprint:1:3,jira:JiraSprint:1:4', '', ''],
        ['42:Reviewers', '', 'jira:JiraAccount:1:ann,jira:JiraAccount:1:bob', '', ''],
        ['42:assignee', 'jira:JiraAccount:1:carl', 'jira:JiraAccount:1:ann', '', ''],
        ['42:status', 'Open', 'Gone', 'TODO', ''],
      ].map(([id, ...values]) => ({
        id: `jira:JiraIssueChangelogItems:1:${id}`,
        ...Object.fromEntries(changes.map((name, index) => [name, values[index]])),
      })),
    )
    expect(await all('_tool_jira_accounts', 'account_id', 'name')).toEqual([
      { account_id: 'JIRAUSER2', name: 'Bob' },
      { account_id: 'ann', name: 'Ann' },
      { account_id: 'bob', name: '' },
      { account_id: 'carl', name: '' },
    ])
  })

  it('converts sprints, epics outside the board and accounts', async () => {
    await store('sprints', [{ id: 3, state: 'active', name: 'Three', originBoardId: 6 }])
    await store('issues', [issue(1)])
    await store('epics', [issue(8, { issuetype: { id: '2', name: 'Epic' } })])
    await store('users', [{ ...ann, timeZone: 'Europe/Berlin' }])
    await run('extractSprints convertSprints extractIssues extractEpics convertIssues extractAccounts convertAccounts')
    expect(await all('sprints', 'id', 'status', 'original_board_id', 'ended_date')).toEqual([
      { id: 'jira:JiraSprint:1:3', status: 'ACTIVE', original_board_id: 'jira:JiraBoard:1:6', ended_date: null },
    ])
    expect(await all('board_sprints', 'board_id')).toEqual([{ board_id: 'jira:JiraBoard:1:5' }])
    expect(await all('issues', 'id', 'type', '_raw_data_table')).toEqual([
      { id: 'jira:JiraIssue:1:1', type: 'STORY', _raw_data_table: '_raw_jira_api_issues' },
      { id: 'jira:JiraIssue:1:8', type: 'EPIC', _raw_data_table: '_raw_jira_api_epics' },
    ])
    expect(await all('accounts', 'id', 'full_name', 'avatar_url')).toEqual([
      { id: 'jira:JiraAccount:1:ann', full_name: 'Ann', avatar_url: 'https://example.org/a.png' },
    ])
  })

  it('finds commits in remote links and in the development panel', async () => {
    const regex = 'https://git.example/(?P<namespace>[^/]+)/(?P<repo_name>[^/]+)/commit/(?P<commit_sha>\\w{40})'
    const rules = { remotelinkRepoPattern: [{ pattern: '', regex }] }
    await store('issues', [issue(1), issue(2)])
    const links = [`https://git.example/one/two/commit/${SHA}`, 'https://wiki.example/page', undefined]
    await store(
      'remotelinks',
      links.map((url, id) => ({ id, self: 's', object: url && { url, title: 't' } })),
      { issue_id: 1 },
    )
    const commits = [{ id: SHA, url: `https://hub.example/one/two/commits/${SHA}` }]
    const detail = [
      { repositories: [{ url: 'https://hub.example/one/two', commits }, { url: 'https://hub.example/none' }] },
    ]
    await store('development_panels', [{ detail }], { issue_id: 2 })
    await run(
      'extractIssues extractRemotelinks ExtractDevelopmentPanel convertIssueCommits convertIssueRepoCommits',
      rules,
    )
    expect(await all('_tool_jira_remotelinks', 'remotelink_id', 'url', 'title')).toEqual(
      links.map((url, id) => ({ remotelink_id: id, url: url ?? '', title: url ? 't' : '' })),
    )
    expect(await all('issue_commits', 'issue_id', 'commit_sha')).toEqual(
      [1, 2].map((id) => ({ issue_id: `jira:JiraIssue:1:${id}`, commit_sha: SHA })),
    )
    expect(await all('issue_repo_commits', 'issue_id', 'repo_url', 'host', 'namespace', 'repo_name')).toEqual([
      {
        issue_id: 'jira:JiraIssue:1:1',
        repo_url: 'https://git.example/one/two.git',
        host: 'git.example',
        namespace: 'one',
        repo_name: 'two',
      },
      {
        issue_id: 'jira:JiraIssue:1:2',
        repo_url: 'https://hub.example/one/two',
        host: '',
        namespace: '',
        repo_name: '',
      },
    ])
  })
})
