/** Mistakes in an entity that the compiler must refuse: `tsc` reports an `@ts-expect-error` without an error behind it. */
import { expect, it } from 'vitest'
import { bigint, key, type RowOf, string, timestamp } from '../../database/table.ts'
import { issues as domainIssues } from '../../domain/ticket.ts'
import { pluginKit } from './entity.ts'
import { byKey } from './lookups.ts'

const kit = pluginKit('typed')
const boards = kit.table('boards', 'TypedBoard', { id: key(bigint()), slug: string() })
type Board = RowOf<typeof boards>
interface Rules {
  readonly prefix: string
}
interface Server {
  readonly isCloud: boolean
}
const table = kit.tableMaker<Board, Rules>()
const entity = kit.entityMaker<Board, Rules, Server>({ scopeColumn: 'board_id', scopeKey: 'id' })

const stories = table('stories', 'TypedStory', {
  id: key(bigint()),
  board_id: bigint((_story, { scope }) => scope.id),
  // @ts-expect-error: the scope has no such column
  slug: string((_story, { scope }) => scope.slugg),
  title: string(100, (story, { scopeConfig }) => scopeConfig.prefix + story.title),
  // @ts-expect-error: there is no such rule
  kind: string((story, { scopeConfig }) => scopeConfig.prefixes + story.kind),
  changed: timestamp(),
})

const tasks = entity(table('tasks', 'TypedTask', { id: key(bigint()), story_id: bigint() }), {
  label: 'Tasks',
  domainTypes: ['TICKET'],
  raw: 'typed_tasks',
  collect: {
    when: ({ server }) => server.isCloud,
    forEach: {
      table: stories,
      // @ts-expect-error: rows of the table have no such column
      only: ({ titel }) => titel !== '',
      input: ({ id, changed }) => ({ story: id, changed }),
      key: ({ story }) => story,
    },
    // @ts-expect-error: the input has no such field
    request: ({ scope, input, server }) => ({ path: `${scope.slug}/${input.storry}/${server.isCloud}` }),
    // @ts-expect-error: the server has no such property
    paging: ({ isClowd }) => isClowd,
  },
  extract: {
    lookups: { stories: byKey(stories, 'id', ({ story }) => story) },
    // @ts-expect-error: the table that is looked up has no such column
    rows: (task, { input, lookups, read }) => [read(stories, task, { title: lookups.stories.get(input.story)?.titel })],
  },
  convert: {
    to: [domainIssues],
    // @ts-expect-error: rows of the table have no such column
    rows: ({ storry_id }, { idOf }) => [domainIssues.row({ id: idOf(stories, storry_id) })],
  },
})
// @ts-expect-error: a lookup goes by a column of its table
byKey(stories, 'idd', ({ id }) => id)

it('an entity keeps what its author wrote', () => {
  expect(tasks.spec.label).toBe('Tasks')
  expect(stories.name).toBe('_tool_typed_stories')
})
