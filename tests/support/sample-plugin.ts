/** A small plugin for tests of the plugin kit: issues with labels, from raw records to domain rows. */
import { bigint, double, key, string, text, timestamp } from '../../src/database/table.ts'
import { boards as domainBoards, issues as domainIssues, issueLabels as domainLabels } from '../../src/domain/ticket.ts'
import { definePlugin } from '../../src/plugin-kit/define/define-plugin.ts'
import { rawTable } from '../../src/plugin-kit/raw/raw-table.ts'
import { pluginKit } from '../../src/plugin-kit/spec/entity.ts'
import type { PluginSpec } from '../../src/plugin-kit/spec/plugin.ts'

const { table, entityMaker } = pluginKit('sample')
export const boards = table('boards', 'SampleBoard', { id: key(bigint()), name: string(), scope_config_id: bigint() })
const entity = entityMaker<{ id: number }, { prefix: string }>({ scopeColumn: 'board_id', scopeKey: 'id' })

export const issues = table('issues', 'SampleIssue', {
  id: key(bigint()),
  board_id: bigint((_issue: unknown, { scope }: any) => scope.id),
  title: string(20),
  body: text(),
  points: double(),
  opened_at: timestamp(),
})
export const labels = table('issue_labels', 'SampleIssueLabel', {
  issue_id: key(bigint()),
  name: key(string()),
  board_id: bigint(),
})
export const rawIssues = rawTable('sample_issues')
export const params = (board: number) => JSON.stringify({ ConnectionId: 1, BoardId: board })

const issueEntity = entity(issues, {
  label: 'Issues',
  domainTypes: ['TICKET'],
  raw: 'sample_issues',
  collect: { request: () => ({ path: '/issues' }), incremental: { filterBy: () => ({}) } },
  extract: {
    owns: [{ table: labels, by: { connection_id: 'connection_id', issue_id: 'id' } }],
    dependsOn: ['prefix'],
    *rows(issue, { read, connectionId, scope }) {
      yield read(issues, issue)
      for (const name of issue.labels ?? []) {
        yield labels.row({ connection_id: connectionId, issue_id: issue.id, name, board_id: scope.id })
      }
    },
  },
  convert: {
    to: [domainIssues],
    isIncremental: true,
    rows(issue, { idOf, scopeConfig }) {
      if (issue.points < 0) throw new Error('points below zero')
      return [
        domainIssues.row({
          id: idOf(issues, issue.id),
          title: scopeConfig.prefix + issue.title,
          description: issue.body,
          created_date: issue.opened_at,
        }),
      ]
    },
  },
})
const labelEntity = entity(labels, {
  label: 'Labels',
  domainTypes: ['TICKET'],
  convert: {
    to: [domainLabels],
    rows: (label, { idOf }) => [domainLabels.row({ issue_id: idOf(issues, label.issue_id), label_name: label.name })],
  },
})

export const boardEntity = entity(boards, {
  label: 'Boards',
  domainTypes: ['TICKET'],
  convert: {
    to: [domainBoards],
    where: ({ id }) => ({ id }),
    rows: (board, { idOf }) => [domainBoards.row({ id: idOf(boards, board.id), name: board.name })],
  },
})

export const sampleSpec: PluginSpec = {
  name: 'sample',
  title: 'Sample',
  spelling: 'camel',
  connection: { endpoint: 'http://127.0.0.1/', fields: {} },
  scope: {
    table: boards,
    title: 'Board',
    options: { boardId: 'id' },
    params: (connectionId, { id }) => ({ ConnectionId: connectionId, BoardId: id }),
  },
  scopeConfig: {
    fields: { prefix: { kind: 'string', label: 'Prefix', isOptional: true } },
    prepare: ({ prefix = '' }) => ({ prefix }),
  },
  entities: [labelEntity, issueEntity, boardEntity],
}
export const sample = definePlugin(sampleSpec)
