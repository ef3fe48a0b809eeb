/** A plugin that exists only here, and uses what the kit offers. */
import { boards as domainBoards } from '../../../src/domain/ticket.ts'
import { definePlugin } from '../../../src/plugin-kit/define-plugin.ts'
import type { PluginSpec } from '../../../src/plugin-kit/plugin.ts'
import { buildEntity, commitEntity, deployEntity } from './builds.ts'
import { commentEntity, itemEntity, kindEntity, labelEntity, peopleEntity, queryItemEntity } from './items.ts'
import { boards } from './kit.ts'

const shared = [labelEntity, commentEntity, kindEntity, peopleEntity, buildEntity, commitEntity, deployEntity]

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
    convert: (board, idOf) => [domainBoards.row({ id: idOf(boards, board.id as number), name: board.name as string })],
  },
  scopeConfig: {
    fields: {
      hotLabel: { kind: 'string', label: 'Label of what is urgent', isOptional: true },
      incidentKind: { kind: 'string', label: 'Kind of incidents', isOptional: true },
    },
    prepare: ({ hotLabel = '', incidentKind = '' }) => ({ hotLabel, incidentKind }),
  },
  entities: [itemEntity, ...shared],
}
export const workshop = definePlugin(workshopSpec)

/** The same things by another interface. */
export const workshopQuery = definePlugin({
  ...workshopSpec,
  name: 'workshop_query',
  title: 'Workshop (queries)',
  settingsOf: workshopSpec,
  entities: [queryItemEntity, ...shared],
})
