/** Small statements cause most of the cost of a run, in Weir and in the database server. A run must not send more than these. */
import { beforeAll, expect, it } from 'vitest'
import { migrate } from '../../src/database/migrate.ts'
import { boards } from '../../src/domain/ticket.ts'
import { runTask } from '../convergence/support/run-task.ts'
import { countStatements } from '../support/count-statements.ts'
import { describeEachDatabase } from '../support/databases.ts'
import { items, madeUp, useMadeUp } from './made-up.ts'

/** Statements by first word, for four lists and the rows made from them: in a first run, and in one that finds little new. */
const MOST = [
  { select: 59, insert: 43, update: 3, delete: 7, begin: 6, commit: 6 },
  { select: 56, insert: 22, update: 2, delete: 11, begin: 3, commit: 3 },
]

/** Pages that wait while another is stored are stored together. On a slow machine less waits, and each list sends one insert more. */
const LISTS = 3

/** Left out, because the length of the period that its windows cover depends on the day. */
const plugin = { ...madeUp, subtasks: madeUp.subtasks.filter(({ name }) => !name.endsWith('Events')) }

describeEachDatabase('the statements of a run', (test) => {
  const { start } = useMadeUp(test)
  beforeAll(() => migrate(test.database, [boards]))

  it('become no more', async () => {
    const source = await start()
    source.stories.push(...items(7))
    source.builds.push(...items(7))
    for (const most of MOST) {
      const { start: begun, ...sent } = await countStatements(() =>
        runTask(test.database, plugin, { connectionId: 1, boardId: 7 }),
      )
      if (begun) sent.begin = begun
      const allowed: Record<string, number> = { ...most, insert: most.insert + LISTS }
      const more = Object.entries(sent).filter(([kind, count]) => count > (allowed[kind] ?? 0))
      expect(Object.fromEntries(more), 'statements that are more than before').toEqual({})
      expect(sent.select, 'all of them are counted').toBeGreaterThan(0)
    }
  })
})
