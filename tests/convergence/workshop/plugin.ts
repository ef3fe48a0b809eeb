/** A plugin that exists only in these tests, and uses the features of the kit. */
import { definePlugin } from '../../../src/plugin-kit/define/define-plugin.ts'
import type { PluginSpec } from '../../../src/plugin-kit/spec/plugin.ts'
import { buildEntity, commitEntity, commits, deployEntity } from './builds.ts'
import {
  commentEntity,
  comments,
  itemEntity,
  items,
  kindEntity,
  labelEntity,
  peopleEntity,
  queryItemEntity,
} from './items.ts'
import { boardEntity, boards, people } from './kit.ts'

const shared = [
  boardEntity,
  labelEntity,
  commentEntity,
  kindEntity,
  peopleEntity,
  buildEntity,
  commitEntity,
  deployEntity,
]

export const workshopSpec: PluginSpec = {
  name: 'workshop',
  title: 'Workshop',
  spelling: 'camel',
  connection: {
    endpoint: 'http://127.0.0.1/',
    fields: { endpoint: { kind: 'url', label: 'Endpoint' }, token: { kind: 'secret', label: 'Token' } },
  },
  scope: {
    table: boards,
    title: 'Board',
    options: { boardId: 'id' },
    params: (connectionId, { id }) => ({ ConnectionId: connectionId, BoardId: Number(id) }),
  },
  scopeConfig: {
    fields: {
      hotLabel: { kind: 'string', label: 'Label of what is urgent', isOptional: true },
      incidentKind: { kind: 'string', label: 'Kind of incidents', isOptional: true },
    },
    prepare: ({ hotLabel = '', incidentKind = '' }) => ({ hotLabel, incidentKind }),
  },
  entities: [itemEntity, ...shared],
  referred: [
    {
      table: people,
      by: [
        { table: items, columns: { connection_id: 'connection_id', id: 'reporter_id' } },
        { table: items, columns: { connection_id: 'connection_id', id: 'assignee_id' } },
        { table: comments, columns: { connection_id: 'connection_id', id: 'author_id' } },
        { table: commits, columns: { connection_id: 'connection_id', id: 'author_id' } },
      ],
    },
  ],
}
export const workshop = definePlugin(workshopSpec)

/** The same data over another interface. */
export const workshopQuery = definePlugin({
  ...workshopSpec,
  name: 'workshop_query',
  title: 'Workshop (queries)',
  settingsOf: workshopSpec,
  entities: [queryItemEntity, ...shared],
})
