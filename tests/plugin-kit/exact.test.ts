import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { sql } from 'kysely'
import { beforeAll, beforeEach, expect, it, onTestFinished } from 'vitest'
import { migrate } from '../../src/database/migrate.ts'
import { readAll } from '../../src/database/read.ts'
import { bigint, indexed, json, key, string, text } from '../../src/database/table.ts'
import { write } from '../../src/database/write.ts'
import { boards as domainBoards, issues as domainIssues } from '../../src/domain/ticket.ts'
import { definePlugin } from '../../src/plugin-kit/define/define-plugin.ts'
import { kitTables } from '../../src/plugin-kit/define/tables.ts'
import { graphql, graphqlRequest } from '../../src/plugin-kit/http/index.ts'
import { quarantine } from '../../src/plugin-kit/raw/quarantine.ts'
import { pluginKit } from '../../src/plugin-kit/spec/entity.ts'
import { byKey, manyByKey } from '../../src/plugin-kit/spec/lookups.ts'
import type { PluginSpec } from '../../src/plugin-kit/spec/plugin.ts'
import { settingsTables } from '../../src/plugin-kit/task/settings-tables.ts'
import { systemTables } from '../../src/system/index.ts'
import { describeEachDatabase } from '../support/databases.ts'
import { emptyTables } from '../support/empty-tables.ts'
import { runSubtask } from '../support/run-subtask.ts'

const { table, entityMaker } = pluginKit('exact')
const boards = table('boards', 'ExactBoard', { id: key(bigint()), name: string(), scope_config_id: bigint() })
const entity = entityMaker<{ id: number }, unknown>({ scopeColumn: 'board_id', scopeKey: 'id' })
const boardOf = (_: unknown, { scope }: any) => scope.id

const stories = table('stories', 'ExactStory', {
  id: key(bigint()),
  board_id: bigint(boardOf),
  parent_id: indexed(bigint()),
  name: text(),
  note: text(),
  fields: json(),
})
const tasks = table('tasks', 'ExactTask', {
  id: key(bigint()),
  board_id: bigint(boardOf),
  story_id: bigint((_: unknown, { input }: any) => input.id),
  story_name: text((_: unknown, { input, lookups }: any) => lookups.stories.get(input.id)?.name),
  children: bigint((_: unknown, { input, lookups }: any) => lookups.children.get(input.id)?.length),
})
const nodes = table('nodes', 'ExactNode', { id: key(bigint()), board_id: bigint(boardOf), parts: json('parts.nodes') })

const spec: PluginSpec = {
  name: 'exact',
  title: 'Exact',
  spelling: 'camel',
  connection: {
    endpoint: 'http://127.0.0.1/',
    fields: { endpoint: { kind: 'url', label: 'Endpoint' }, token: { kind: 'secret', label: 'Token' } },
  },
  scope: {
    table: boards,
    title: 'Board',
    options: { boardId: 'id' },
    params: (connectionId, { id }) => ({ ConnectionId: connectionId, BoardId: id }),
  },
  scopeConfig: { fields: {}, prepare: () => ({}) },
  entities: [
    entity(boards, {
      label: 'Boards',
      domainTypes: ['TICKET'],
      convert: {
        to: [domainBoards],
        where: ({ id }) => ({ id }),
        rows: (board, { idOf }) => [domainBoards.row({ id: idOf(boards, board.id), name: board.name })],
      },
    }),
    entity(stories, {
      label: 'Stories',
      domainTypes: ['TICKET'],
      raw: 'exact_stories',
      collect: { request: () => ({ path: '/stories' }), records: ({ stories }) => stories },
      convert: {
        to: [domainIssues],
        rows(story, { idOf }) {
          if (story.name === 'bad') throw new Error('does not convert')
          return [domainIssues.row({ id: idOf(stories, story.id), title: story.name })]
        },
      },
    }),
    entity(tasks, {
      label: 'Tasks',
      domainTypes: ['TICKET'],
      raw: 'exact_tasks',
      collect: {
        forEach: { table: stories, input: ({ id }: any) => ({ id }) },
        request: ({ input }) => ({ path: `/stories/${input.id}/tasks` }),
      },
      extract: {
        lookups: {
          stories: byKey(stories, 'id', ({ story }) => story),
          children: manyByKey(stories, 'parent_id', ({ story }) => story),
        },
      },
    }),
    entity(nodes, {
      label: 'Nodes',
      domainTypes: ['TICKET'],
      raw: 'exact_nodes',
      collect: {
        request: () => graphqlRequest('query list($pageSize: Int!, $cursor: String) { list }'),
        paging: graphql({ size: 10, connection: (data) => data.list }),
        records: ({ data }) => data.list.nodes,
        completes: [
          {
            list: ({ parts }: any) => parts,
            request: ({ id }: any) =>
              graphqlRequest('query more($id: ID!, $pageSize: Int!, $cursor: String) { x }', { id }),
            paging: graphql({ size: 10, connection: (data) => data.parts }),
          },
        ],
      },
    }),
  ],
}
const exact = definePlugin(spec)
const ID = '9007199254740993'
const NEXT = '9007199254740992'
const TAPD = '1112345678001000123'

describeEachDatabase('records as sent', (test) => {
  const tables = [...new Set([...systemTables, ...kitTables, quarantine, domainIssues, ...exact.tables])]
  beforeAll(() => migrate(test.database, tables))
  beforeEach(async () => {
    await emptyTables(test.database, tables)
  })
  const run = (name: string) => runSubtask(test.database, exact, name, { connectionId: 1, boardId: TAPD })
  const rawData = async (name: string) => {
    const { rows } = await sql<{ data: Buffer }>`select data from ${sql.table(`_raw_${name}`)} order by id`.execute(
      test.database.kysely,
    )
    return rows.map(({ data }) => data.toString())
  }
  async function serve(answer: (path: string, body: any) => string): Promise<string[]> {
    const paths: string[] = []
    const server = createServer(async (request, response) => {
      const chunks: Buffer[] = []
      for await (const chunk of request) chunks.push(chunk)
      const body = Buffer.concat(chunks).toString()
      paths.push(request.url as string)
      response.writeHead(200, { 'content-type': 'application/json' })
      response.end(answer(request.url as string, body && JSON.parse(body)))
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => {
      server.closeAllConnections()
      server.close()
    })
    const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
    const connection = { id: 1, name: 'exact', endpoint, token: 't' } as any
    await write(test.database, [
      settingsTables(spec).connections.row(connection),
      boards.row({ connection_id: 1, id: TAPD as any, name: 'b' }),
    ])
    return paths
  }

  it('raw holds the bytes of each record of a page', async () => {
    const records = [
      `{ "id" : ${ID}, "name":"caf\\u00e9", "fields":{"z":1.0,"a":1e2},\n "note":"one, [two] {\\"three\\\\\\"}" }`,
      '{"note":"naïve","id":1, "z":[ ]}',
    ]
    await serve(() => ` {"total" : 2, "stories" : [\n${records.join('\n ,\n')} ], "next":null} \n`)
    await run('collectStories')
    expect(await rawData('exact_stories')).toEqual(records)
  })

  it('a record that continues elsewhere is whole, and exact', async () => {
    const page = (list: string, hasNextPage: boolean) =>
      `{"nodes":[${list}],"pageInfo":{"hasNextPage":${hasNextPage},"endCursor":"c"}}`
    const whole = `{"id":  1,"parts":${page('{"n":5}', false)}}`
    await serve((_path, { query }) =>
      query.startsWith('query list')
        ? `{"data":{"list":${page(`${whole},{"id":${ID},"parts":${page(`{"n":${NEXT}}`, true)}}`, false)}}}`
        : `{"data":{"parts":${page(`{"n":${TAPD}}`, false)}}}`,
    )
    await run('collectNodes')
    const [first, second] = await rawData('exact_nodes')
    expect(first).toBe(whole)
    expect(second).toContain(ID)
    await run('extractNodes')
    expect(await readAll(test.database, { table: nodes })).toMatchObject([
      { id: 1, parts: [{ n: 5 }] },
      { id: ID, parts: [{ n: NEXT }, { n: TAPD }] },
    ])
  })

  it('numbers past 2^53 are the same in keys, text, JSON, inputs, lookups, domain ids and the quarantine', async () => {
    const story = (id: string, name: string, rest = '') =>
      `{"id":${id},"name":"${name}","note":${id},"fields":{"id":${id},"list":[${TAPD}]}${rest}}`
    const all = [
      story(ID, 'odd'),
      story(NEXT, 'even', `,"parent_id":${ID}`),
      story('1', 'small', `,"parent_id":${ID}`),
      story(`"${TAPD}"`, 'bad'),
    ]
    const paths = await serve((path) => {
      const owner = /stories\/(\d+)\//.exec(path)?.[1]
      return owner ? `[{"id":${owner},"story":${owner}}]` : `{"stories":[${all}]}`
    })
    expect(await run('collectStories')).toMatchObject({ records: 4 })
    expect(await run('extractStories')).toEqual({ records: 4, rows: 4, quarantined: 0 })
    const stored = await readAll(test.database, { table: stories })
    expect(stored.map(({ id, name, note, fields }) => ({ id, name, note, fields }))).toEqual([
      { id: 1, name: 'small', note: '1', fields: { id: 1, list: [TAPD] } },
      { id: NEXT, name: 'even', note: NEXT, fields: { id: NEXT, list: [TAPD] } },
      { id: ID, name: 'odd', note: ID, fields: { id: ID, list: [TAPD] } },
      { id: TAPD, name: 'bad', note: TAPD, fields: { id: TAPD, list: [TAPD] } },
    ])

    await run('collectTasks')
    const asked = ['1', NEXT, ID, TAPD].map((id) => `/stories/${id}/tasks`)
    expect(paths.slice(1).sort()).toEqual(asked.sort())
    expect(await run('extractTasks')).toMatchObject({ rows: 4, quarantined: 0 })
    const made = await readAll(test.database, { table: tasks })
    expect(made.map(({ story_id, story_name, children }) => ({ story_id, story_name, children }))).toEqual([
      { story_id: 1, story_name: 'small', children: 0 },
      { story_id: NEXT, story_name: 'even', children: 0 },
      { story_id: ID, story_name: 'odd', children: 2 },
      { story_id: TAPD, story_name: 'bad', children: 0 },
    ])

    expect(await run('convertStories')).toMatchObject({ rows: 3, quarantined: 1 })
    expect((await readAll(test.database, { table: domainIssues })).map(({ id }) => id)).toEqual([
      'exact:ExactStory:1:1',
      `exact:ExactStory:1:${NEXT}`,
      `exact:ExactStory:1:${ID}`,
    ])
    expect(await readAll(test.database, { table: quarantine })).toMatchObject([{ record_key: `1:${TAPD}` }])

    // A second run knows what it has: nothing is duplicated or lost.
    for (const name of ['collectStories', 'extractStories', 'collectTasks', 'extractTasks']) await run(name)
    expect(await rawData('exact_stories')).toEqual(all)
    expect(await rawData('exact_tasks')).toHaveLength(4)
    expect(await readAll(test.database, { table: tasks })).toHaveLength(4)
  })

  it('neighbours past 2^53 are told apart by every condition', async () => {
    const ids = [NEXT, ID, '9007199254740994', '-9007199254740993', '9223372036854775807']
    await write(
      test.database,
      ids.map((id) => stories.row({ connection_id: 1, id: id as any, name: id })),
    )
    const named = async (where: Record<string, unknown>) =>
      (await readAll(test.database, { table: stories, where })).map(({ name }) => name)
    for (const id of ids) expect(await named({ id })).toEqual([id])
    expect(await named({ id: [5, ID] })).toEqual([ID])
    expect(await named({ id: [ID, '9223372036854775807'] })).toEqual([ID, '9223372036854775807'])
    await sql`delete from ${sql.table(stories.name)} where id in (${sql.join([ID, 7])})`.execute(test.database.kysely)
    expect(await named({ id: [NEXT, ID] })).toEqual([NEXT])
  })
})
