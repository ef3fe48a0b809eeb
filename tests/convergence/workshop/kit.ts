/** A made-up tracker: boards that share items, as in many trackers, and their builds. */
import { bigint, key, type RowOf, string } from '../../../src/database/table.ts'
import { cicdScopes } from '../../../src/domain/devops.ts'
import { boards as domainBoards } from '../../../src/domain/ticket.ts'
import { cursor } from '../../../src/plugin-kit/http/index.ts'
import { innerJoin, pluginKit } from '../../../src/plugin-kit/spec/entity.ts'

const kit = pluginKit('workshop')
export const { table } = kit

export const boards = table('boards', 'WorkshopBoard', { id: key(bigint()), name: string(), scope_config_id: bigint() })
export type Board = RowOf<typeof boards>
export interface Rules {
  readonly hotLabel: string
  readonly incidentKind: string
}

export const entity = kit.entityMaker<Board, Rules>({ scopeColumn: 'board_id', scopeKey: 'id' })
export const ofScope = () => bigint((_record: unknown, { scope }: any) => scope.id)

export const boardItems = table('board_items', 'WorkshopBoardItem', {
  board_id: key(ofScope()),
  item_id: key(bigint('id')),
})
/** Selects rows whose item is on the board. `column` contains the id of the item. */
export const onBoard = (column: string) => ({
  joins: { board: innerJoin(boardItems, { connection_id: 'connection_id', item_id: column }) },
  where: ({ id }: Board) => ({ 'board.board_id': id }),
})

export const boardEntity = entity(boards, {
  label: 'Boards',
  domainTypes: ['TICKET', 'CICD'],
  convert: {
    to: [domainBoards, cicdScopes],
    where: ({ id }) => ({ id }),
    replaces: ['workshop_scopes'],
    rows: ({ id, name }, { idOf }) => [
      domainBoards.row({ id: idOf(boards, id), name }),
      cicdScopes.row({ id: idOf(boards, id), name }),
    ],
  },
})

export const people = table('people', 'WorkshopPerson', { id: key(bigint()), name: string() })
/** Raw tables whose records name people. */
export const NAMING = ['workshop_items', 'workshop_query_items', 'workshop_comments', 'workshop_commits']

export const nodes = cursor({
  size: 2,
  sizeParam: 'first',
  param: 'after',
  next: ({ pageInfo }) => (pageInfo.hasNextPage ? pageInfo.endCursor : null),
})
