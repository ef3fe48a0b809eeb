import type { RawRecord } from '../../database/table.ts'
import { bigint, key, type RowOf, string, text } from '../../database/table.ts'
import { innerJoin, offset, pluginKit } from '../../plugin-kit/index.ts'
import type { Rules } from './rules.ts'

const kit = pluginKit('jira')

export const boards = kit.table('boards', 'JiraBoard', {
  board_id: key(bigint('id')),
  scope_config_id: bigint(() => 0),
  project_id: bigint('location.projectId'),
  name: string(),
  self: string(),
  type: string(100),
  jql: text(() => ''), // the query of the board's filter, which a later run compares
})
export type Board = RowOf<typeof boards>
export const paramsOf = (connectionId: number, { board_id }: Pick<Board, 'board_id'>) => ({
  ConnectionId: connectionId,
  BoardId: Number(board_id),
})

export const table = kit.tableMaker<Board, Rules>()

export const ofBoard = () => key(bigint((_record, { scope }: { scope: Board }) => scope.board_id))
export const boardIssues = table('board_issues', 'JiraBoardIssue', { board_id: ofBoard(), issue_id: key(bigint('id')) })
/** Rows whose issue is on the board. */
export const onBoard = {
  joins: { board: innerJoin(boardIssues, { connection_id: 'connection_id', issue_id: 'issue_id' }) },
  where: ({ board_id }: Board) => ({ 'board.board_id': board_id }),
}

export const entity = kit.entityMaker<Board, Rules, Server>({ scopeColumn: 'board_id', scopeKey: 'board_id' })

/** Raw tables with whole issues. Most tables get their rows from them, and some get more from a raw table of their own. */
export const ISSUE_SOURCES = ['jira_api_issues', 'jira_api_epics']

interface Server {
  readonly isCloud: boolean
  readonly majorVersion: number
  /** The time zone of the user that the connection logs in as, in which JQL reads times. */
  readonly timeZone: string | undefined
}
export async function probe(get: (path: string) => Promise<RawRecord>): Promise<Server> {
  const { deploymentType, versionNumbers } = await get('api/2/serverInfo')
  const { timeZone } = await get('api/2/myself')
  return { isCloud: deploymentType === 'Cloud', majorVersion: versionNumbers?.[0] ?? 0, timeZone }
}

export const startAt = (size: number) =>
  offset({ size, offsetParam: 'startAt', sizeParam: 'maxResults', total: ({ body }) => body?.total })

/** Reads the ids in `38, 40`, or in `[5e97, 5ecf]` for a field with several people. */
export const idsIn = (list: string | null | undefined): string[] =>
  (list ?? '')
    .replace(/^\[|\]$/g, '')
    .split(',')
    .map((each) => each.trim())
    .filter(Boolean)
