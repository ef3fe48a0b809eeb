/**
 * Another tool, whose name begins with the workshop's and whose boards have the same numbers: it marks its scopes with the same
 * text. It is no kin of the workshop, and nothing that happens to the workshop's data may touch its own.
 */
import { bigint, key, string } from '../../../src/database/table.ts'
import { boardIssues, boards as domainBoards, issues } from '../../../src/domain/ticket.ts'
import { definePlugin } from '../../../src/plugin-kit/define/define-plugin.ts'
import { offset } from '../../../src/plugin-kit/http/index.ts'
import { pluginKit } from '../../../src/plugin-kit/spec/entity.ts'
import { workshopSpec } from './plugin.ts'

const kit = pluginKit('workshop_annex')

const boards = kit.table('boards', 'AnnexBoard', { id: key(bigint()), name: string(), scope_config_id: bigint() })
const items = kit.table('items', 'AnnexItem', { id: key(bigint()), board_id: key(bigint()), title: string() })

const entity = kit.entityMaker<{ readonly id: number }, unknown>((each, { id }) =>
  'board_id' in each.columns ? { board_id: id } : {},
)

const boardEntity = entity(boards, {
  label: 'Boards',
  domainTypes: ['TICKET'],
  convert: {
    to: [domainBoards],
    where: ({ id }) => ({ id }),
    rows: ({ id, name }, { idOf }) => [domainBoards.row({ id: idOf(boards, id), name })],
  },
})

const itemEntity = entity(items, {
  label: 'Items',
  domainTypes: ['TICKET'],
  raw: 'workshop_annex_items',
  collect: {
    request: ({ scope }) => ({ path: `boards/${scope.id}/items` }),
    paging: offset({ size: 2, total: ({ body }) => body?.total }),
    records: (body) => body.items,
  },
  extract: {
    rows: ({ id, title }, { connectionId, scope }) => [
      items.row({ connection_id: connectionId, id, board_id: scope.id, title }),
    ],
  },
  convert: {
    to: [issues, boardIssues],
    rows: ({ id, title, board_id }, { idOf }) => [
      issues.row({ id: idOf(items, id, board_id), title }),
      boardIssues.row({ board_id: idOf(boards, board_id), issue_id: idOf(items, id, board_id) }),
    ],
  },
})

export const workshopAnnex = definePlugin({
  name: 'workshop_annex',
  title: 'Annex of the workshop',
  spelling: 'camel',
  connection: workshopSpec.connection,
  scope: { ...workshopSpec.scope, table: boards },
  scopeConfig: { fields: {}, prepare: () => ({}) },
  entities: [boardEntity, itemEntity],
})
