/** A source of boards with items, for tests with many worker processes. Their threads load this file too. */
import { bigint, key, string } from '../../../src/database/table.ts'
import { boards as domainBoards } from '../../../src/domain/ticket.ts'
import { definePlugin } from '../../../src/plugin-kit/define/define-plugin.ts'
import { pageNumber, quotaFromHeaders } from '../../../src/plugin-kit/http/index.ts'
import { pluginKit } from '../../../src/plugin-kit/spec/entity.ts'
import type { Plugin } from '../../../src/plugin-kit/spec/plugin.ts'

const { table, entityMaker } = pluginKit('fleet')
export const boards = table('boards', 'FleetBoard', { id: key(bigint()), name: string(), scope_config_id: bigint() })
const entity = entityMaker<{ id: number }, object>({ scopeColumn: 'board_id', scopeKey: 'id' })

export const PAGE = 2
export const items = table('items', 'FleetItem', {
  id: key(bigint()),
  board_id: bigint((_item: unknown, { scope }: any) => scope.id),
  title: string(),
})

const itemEntity = entity(items, {
  label: 'Items',
  domainTypes: ['TICKET'],
  raw: 'fleet_items',
  collect: { request: ({ scope }) => ({ path: `/boards/${scope.id}/items` }), paging: pageNumber({ size: PAGE }) },
})

/** Names of boards whose task ends the process that runs it, or fills the memory of its thread. */
export const DEADLY = { process: 'ends its process', thread: 'fills the memory' }

/** Fills the memory in pieces, because one large array would end the whole process. */
function fillMemory(): never {
  const kept: number[][] = []
  for (;;) kept.push(new Array(100_000).fill(0.5))
}

const boardEntity = entity(boards, {
  label: 'Boards',
  domainTypes: ['TICKET'],
  convert: {
    to: [domainBoards],
    where: ({ id }) => ({ id }),
    rows(board, { idOf }) {
      if (board.name === DEADLY.process) process.kill(process.pid, 'SIGKILL')
      if (board.name === DEADLY.thread) fillMemory()
      return [domainBoards.row({ id: idOf(boards, board.id), name: board.name })]
    },
  },
})

export const fleet = definePlugin({
  name: 'fleet',
  title: 'Fleet',
  spelling: 'camel',
  connection: {
    endpoint: 'http://127.0.0.1/',
    fields: {
      endpoint: { kind: 'url', label: 'Endpoint' },
      token: { kind: 'secret', label: 'Token' },
      rateLimitPerHour: { kind: 'integer', label: 'Requests per hour', isOptional: true },
    },
    limits: {
      quota: quotaFromHeaders({
        remaining: 'x-ratelimit-remaining',
        reset: 'x-ratelimit-reset',
        limit: 'x-ratelimit-limit',
      }),
    },
  },
  scope: {
    table: boards,
    title: 'Board',
    options: { boardId: 'id' },
    params: (connectionId, { id }) => ({ ConnectionId: connectionId, BoardId: id }),
  },
  scopeConfig: { fields: {}, prepare: () => ({}) },
  entities: [itemEntity, boardEntity],
})
export const plugins: readonly Plugin[] = [fleet]
