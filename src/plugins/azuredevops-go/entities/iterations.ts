import type { RawRecord } from '../../../database/table.ts'
import { bigint, key, string, text, timestamp } from '../../../database/table.ts'
import { boardSprints, sprints } from '../../../domain/ticket.ts'
import { entity, inProject, OF_BOARD, plans, repos, repositoryId, table, versioned } from '../kit.ts'

export const iterations = table(
  'iterations',
  'AzuredevopsIteration',
  {
    id: key(bigint()),
    board_id: string(191, repositoryId),
    name: string(),
    path: text(),
    url: string(),
    start_date: timestamp('attributes.startDate'),
    finish_date: timestamp('attributes.finishDate'),
  },
  OF_BOARD,
)

/** Turns the tree of iterations into a list. Iterations without dates only contain others. */
function* within(node: RawRecord): Generator<RawRecord> {
  const { children = [], ...own } = node
  yield own
  for (const child of children) yield* within(child)
}

function statusAt(now: number, start: Date | null, finish: Date | null): string {
  if (!start || start.getTime() > now) return 'FUTURE'
  return finish && finish.getTime() < now ? 'CLOSED' : 'ACTIVE'
}

export default entity(iterations, {
  label: 'Iterations',
  domainTypes: ['TICKET'],
  raw: 'azuredevops_go_api_iterations',
  collect: {
    when: plans,
    request: ({ scope }) => versioned(inProject(scope, 'wit/classificationnodes/Iterations'), { $depth: 14 }),
    records: (root) => [...within(root)].filter(({ attributes }) => attributes?.startDate),
  },
  convert: {
    to: [sprints, boardSprints],
    rows: (iteration, { idOf }) => {
      const id = idOf(iterations, iteration.id)
      const { name, url, start_date: started_date, finish_date: ended_date } = iteration
      const status = statusAt(Date.now(), started_date, ended_date)
      const board_id = idOf(repos, iteration.board_id)
      const completed_date = status === 'CLOSED' ? ended_date : null
      return [
        sprints.row({ id, name, url, status, started_date, ended_date, completed_date, original_board_id: board_id }),
        boardSprints.row({ board_id, sprint_id: id }),
      ]
    },
  },
})
