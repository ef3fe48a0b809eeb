/** The basis of service reports: every tracker fills an incident's component and its times. */
import { beforeAll, expect, it } from 'vitest'
import { write } from '../../src/database/write.ts'
import { projectMapping } from '../../src/domain/crossdomain.ts'
import { rawTable } from '../../src/plugin-kit/raw/raw-table.ts'
import type { Plugin } from '../../src/plugin-kit/spec/plugin.ts'
import { github } from '../../src/plugins/github/plugin.ts'
import { jira } from '../../src/plugins/jira/plugin.ts'
import { webhook } from '../../src/plugins/webhook/plugin.ts'
import { describeEachWithTables } from '../support/databases.ts'
import { runSubtask } from '../support/run-subtask.ts'
import { calculate } from './calculate.ts'

const CREATED = '2024-03-01T09:00:00Z'
const UPDATED = '2024-03-01T12:00:00Z'
const RESOLVED = '2024-03-01T10:30:00Z'

interface Tracker {
  readonly name: string
  readonly plugin: Plugin
  readonly raw: string
  readonly params: string
  readonly record: object
  readonly subtasks: readonly string[]
  readonly options: Record<string, unknown>
  readonly board: string
  readonly updated?: string
}

const TRACKERS: readonly Tracker[] = [
  {
    name: 'github',
    plugin: github,
    raw: 'github_api_issues',
    params: '{"ConnectionId":1,"Name":"acme/web"}',
    record: {
      id: 11,
      number: 1,
      title: 'Down',
      state: 'closed',
      html_url: 'https://github.com/acme/web/issues/1',
      created_at: CREATED,
      updated_at: UPDATED,
      closed_at: RESOLVED,
      user: { id: 1, login: 'ada' },
      labels: [{ name: 'incident' }, { name: 'component/cart' }],
    },
    subtasks: ['Extract Issues', 'Convert Issues'],
    options: {
      connectionId: 1,
      githubId: 7,
      name: 'acme/web',
      fullName: 'acme/web',
      scopeConfig: { issueTypeIncident: 'incident', issueComponent: 'component/(.*)' },
    },
    board: 'github:GithubRepo:1:7',
  },
  {
    name: 'jira',
    plugin: jira,
    raw: 'jira_api_issues',
    params: '{"ConnectionId":1,"BoardId":5}',
    record: {
      id: '11',
      key: 'OPS-1',
      self: 'https://example.org/rest/agile/1.0/issue/11',
      fields: {
        summary: 'Down',
        created: CREATED,
        updated: UPDATED,
        resolutiondate: RESOLVED,
        issuetype: { id: '1', name: 'Incident', subtask: false },
        status: { name: 'Done', statusCategory: { key: 'done' } },
        project: { id: '10', name: 'Operations' },
        components: [{ name: 'cart' }],
      },
    },
    subtasks: ['extractIssues', 'convertIssues'],
    options: { connectionId: 1, boardId: 5, scopeConfig: { typeMappings: { Incident: { standardType: 'INCIDENT' } } } },
    board: 'jira:JiraBoard:1:5',
  },
  {
    name: 'webhook',
    plugin: webhook,
    raw: 'webhook_issues',
    params: '{"ConnectionId":1}',
    record: {
      issueKey: 'W-1',
      title: 'Down',
      status: 'DONE',
      originalStatus: 'Closed',
      type: 'incident',
      createdDate: CREATED,
      resolutionDate: RESOLVED,
      component: 'cart',
    },
    subtasks: ['extractIssues', 'convertIssues'],
    options: { connectionId: 1 },
    board: 'webhook:1',
    // The webhook sent no time of update, so the last known time is that of the resolution.
    updated: RESOLVED,
  },
]

describeEachWithTables('an incident', (test) => {
  beforeAll(async () => {
    await test.database.kysely.insertInto('_tool_webhook_connections').values({ id: 1, name: 'own' }).execute()
  })

  it.each(TRACKERS)('of $name has its component, its times and how long it took', async (tracker) => {
    const { plugin, raw, params, record, subtasks, options, board, updated = UPDATED } = tracker
    const { database } = test
    const data = Buffer.from(JSON.stringify(record))
    await write(database, [
      rawTable(raw).row({ id: null as never, params, data, created_at: new Date() }),
      projectMapping.row({ project_name: tracker.name, table: 'boards', row_id: board }),
    ])
    for (const name of subtasks) {
      const { quarantined } = await runSubtask(database, plugin, name, options, { fullSync: true })
      expect({ [name]: quarantined }).toEqual({ [name]: 0 })
    }
    await calculate(database, tracker.name)
    const columns = ['component', 'lead_time_minutes', 'created_date', 'updated_date', 'scope_id'] as const
    const query = database.kysely.selectFrom('incidents').select(columns).where('scope_id', '=', board)
    const [incident, ...others] = (await query.execute()) as any[]
    expect(others).toEqual([])
    expect(incident.component).toMatch(/cart$/)
    expect(Number(incident.lead_time_minutes)).toBe(90)
    expect(incident.created_date).toEqual(new Date(CREATED))
    expect(incident.updated_date).toEqual(new Date(updated))
  })
})
