/** A made-up source over real HTTP, with its own clock, and a plugin that uses the kit's features for collecting. */

import { createServer, type IncomingMessage } from 'node:http'
import { afterEach, beforeAll, beforeEach } from 'vitest'
import { migrate } from '../../src/database/migrate.ts'
import { readAll } from '../../src/database/read.ts'
import { bigint, key, string, type Table, timestamp } from '../../src/database/table.ts'
import { write } from '../../src/database/write.ts'
import { boards as domainBoards } from '../../src/domain/ticket.ts'
import { definePlugin } from '../../src/plugin-kit/define/define-plugin.ts'
import { kitTables } from '../../src/plugin-kit/define/tables.ts'
import { cursor, offset, pageNumber } from '../../src/plugin-kit/http/index.ts'
import { gaps } from '../../src/plugin-kit/raw/gaps.ts'
import { receipts } from '../../src/plugin-kit/raw/receipts.ts'
import { pluginKit } from '../../src/plugin-kit/spec/entity.ts'
import type { PluginSpec } from '../../src/plugin-kit/spec/plugin.ts'
import type { SubtaskResult } from '../../src/plugin-kit/spec/subtask.ts'
import { epochMilliseconds, localTime } from '../../src/plugin-kit/spec/times.ts'
import { settingsTables } from '../../src/plugin-kit/task/settings-tables.ts'
import { systemTables } from '../../src/system/index.ts'
import type { TestDatabase } from '../support/databases.ts'
import { emptyTables } from '../support/empty-tables.ts'
import { listening } from '../support/listening.ts'
import { runSubtask } from '../support/run-subtask.ts'

const { table, entityMaker } = pluginKit('madeup')
export const boards = table('boards', 'MadeUpBoard', { id: key(bigint()), name: string(), scope_config_id: bigint() })
const entity = entityMaker<{ id: number }, unknown>({ scopeColumn: 'board_id', scopeKey: 'id' })
const board_id = bigint((_record: unknown, { scope }: any) => scope.id)

/** Filtered by time of change, with a total. */
export const stories = table('stories', 'MadeUpStory', {
  id: key(bigint()),
  board_id,
  number: bigint(),
  title: string(),
  changed: timestamp(),
})
/** Newest first, by cursor, with an ETag. */
export const builds = table('builds', 'MadeUpBuild', { id: key(bigint()), board_id, changed: timestamp() })
/** One list per story. */
export const tasks = table('tasks', 'MadeUpTask', {
  id: key(bigint()),
  board_id,
  story_id: bigint((_record: unknown, { input }: any) => input.story),
})

/** A list has at most ten records, so it is read in windows of time. A window excludes its end. */
export const events = table('events', 'MadeUpEvent', {
  id: key(bigint()),
  board_id,
  happened: timestamp(localTime('happened')),
})
/** With times as numbers. Running steps are requested again, and have pages of their own. */
export const steps = table('steps', 'MadeUpStep', {
  id: key(bigint()),
  board_id,
  run: bigint(),
  state: string(),
  started: timestamp(epochMilliseconds('started')),
})

export const madeUpSpec: PluginSpec = {
  name: 'madeup',
  title: 'Made up',
  spelling: 'camel',
  connection: {
    endpoint: 'http://127.0.0.1/',
    fields: {
      endpoint: { kind: 'url', label: 'Endpoint' },
      token: { kind: 'secret', label: 'Token' },
      timeZone: { kind: 'string', label: 'Time zone', isOptional: true },
    },
  },
  scope: {
    table: boards,
    title: 'Board',
    options: { boardId: 'id' },
    params: (connectionId, { id }) => ({ ConnectionId: connectionId, BoardId: Number(id) }),
    check: ({ id }) => ({ path: `/boards/${id}` }),
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
      raw: 'madeup_stories',
      collect: {
        request: ({ scope }) => ({ path: `/boards/${scope.id}/stories` }),
        paging: pageNumber({ size: 5, total: ({ body }) => body?.total }),
        records: ({ items }) => items,
        isOwn: ({ board }, { scope }) => board === undefined || board === Number(scope.id),
        knownBy: { path: 'number', column: 'number' },
        incremental: { filterBy: (since) => ({ since: since.toISOString() }), by: 'changed' },
      },
    }),
    entity(builds, {
      label: 'Builds',
      domainTypes: ['CICD'],
      raw: 'madeup_builds',
      collect: {
        request: ({ scope }) => ({ path: `/boards/${scope.id}/builds` }),
        paging: cursor({ size: 5, param: 'after', next: ({ next }) => next }),
        records: ({ items }) => items,
        incremental: { newestFirstBy: 'changed' },
      },
    }),
    entity(tasks, {
      label: 'Tasks',
      domainTypes: ['TICKET'],
      raw: 'madeup_tasks',
      collect: {
        forEach: { table: stories, input: ({ id }) => ({ story: Number(id) }), changedBy: 'changed' },
        request: ({ input }) => ({ path: `/stories/${input.story}/tasks` }),
        records: ({ items }) => items,
      },
    }),
    entity(events, {
      label: 'Events',
      domainTypes: ['TICKET'],
      raw: 'madeup_events',
      collect: {
        request: ({ scope }) => ({ path: `/boards/${scope.id}/events` }),
        paging: offset({ size: 5, total: ({ body }) => body?.total }),
        records: ({ items }) => items,
        incremental: { newestFirstBy: localTime('happened') },
        windows: {
          cap: 10,
          earliest: new Date('2026-05-01T00:00:00Z'),
          longest: 7 * 24 * 3_600_000,
          isEndExclusive: true,
          query: ({ from, to }) => ({ from: from.toISOString(), before: to.toISOString() }),
          total: ({ body }) => body.total,
          split: { values: ['red', 'blue'], query: (colour) => ({ colour }) },
        },
      },
    }),
    entity(steps, {
      label: 'Steps',
      domainTypes: ['CICD'],
      raw: 'madeup_steps',
      collect: {
        request: ({ scope }) => ({ path: `/boards/${scope.id}/steps` }),
        paging: offset({ size: 5 }),
        records: ({ items }) => items,
        incremental: {
          newestFirstBy: 'started',
          refetch: {
            where: { state: 'running' },
            request: ({ run }) => ({ path: `/runs/${run}/steps` }),
            paging: offset({ size: 2 }),
          },
        },
      },
    }),
  ],
}
export const madeUp = definePlugin(madeUpSpec)

export interface Item {
  readonly id: number
  readonly number?: number
  changed: string
  readonly board?: number
}
export interface SourceAnswer {
  readonly status?: number
  readonly body?: unknown
  /** Sent instead of a JSON body. */
  readonly text?: string
  readonly headers?: Readonly<Record<string, string>>
}
type Asked = { readonly path: string; readonly query: URLSearchParams }

export interface MadeUpSource {
  readonly url: string
  readonly asked: string[]
  readonly stories: Item[]
  readonly builds: Item[]
  /** Replaces the answer if it returns one. */
  instead: ((asked: Asked) => SourceAnswer | undefined) | undefined
  /** Changes an answer before it is sent. */
  spoil: ((asked: Asked, answer: SourceAnswer) => SourceAnswer) | undefined
  /** The source's clock. Null means that it sends no date. */
  now: (() => number) | null
  stop(): Promise<void>
}

const PAGE = 5

export async function startMadeUpSource(): Promise<MadeUpSource> {
  const source = {
    asked: [] as string[],
    stories: [] as Item[],
    builds: [] as Item[],
    instead: undefined as MadeUpSource['instead'],
    spoil: undefined as MadeUpSource['spoil'],
    now: (() => Date.now()) as MadeUpSource['now'],
  }
  function answer({ path, query }: Asked): SourceAnswer {
    if (/^\/boards\/\d+$/.test(path)) return { body: { id: 7 } }
    if (path.endsWith('/stories')) {
      const since = query.get('since') ?? ''
      const found = source.stories.filter(({ changed }) => changed >= since)
      const start = (Number(query.get('page') ?? 1) - 1) * Number(query.get('per_page') ?? PAGE)
      return { body: { total: found.length, items: found.slice(start, start + PAGE) } }
    }
    if (path.endsWith('/builds')) {
      const sorted = source.builds.toSorted((one, other) => other.changed.localeCompare(one.changed))
      const start = Number(query.get('after') ?? 0)
      const items = sorted.slice(start, start + PAGE)
      const next = start + PAGE < sorted.length ? String(start + PAGE) : null
      return { body: { items, next }, headers: { etag: `"${JSON.stringify(items).length}-${items[0]?.changed}"` } }
    }
    const [, story] = /^\/stories\/(\d+)\/tasks$/.exec(path) ?? []
    return story ? { body: { items: [{ id: Number(story) * 100 }] } } : { status: 404, body: { message: 'Not Found' } }
  }
  const server = createServer((request: IncomingMessage, response) => {
    const url = new URL(request.url ?? '/', 'http://source')
    const asked = { path: url.pathname, query: url.searchParams }
    source.asked.push(request.url ?? '')
    const plain = source.instead?.(asked) ?? answer(asked)
    const { status = 200, body, text, headers = {} } = source.spoil?.(asked, plain) ?? plain
    const isKnown = status === 200 && headers.etag !== undefined && request.headers['if-none-match'] === headers.etag
    response.sendDate = false
    if (source.now) response.setHeader('date', new Date(source.now()).toUTCString())
    response.writeHead(isKnown ? 304 : status, { 'content-type': 'application/json', ...headers })
    response.end(isKnown ? undefined : (text ?? JSON.stringify(body)))
  })
  return Object.assign(source, await listening(server))
}

export const items = (count: number, first = 1): Item[] =>
  Array.from({ length: count }, (_, index) => ({
    id: first + index,
    changed: new Date(Date.UTC(2024, 0, 1) + (first + index) * 60_000).toISOString(),
  }))

/** Prepares an empty database and a source for each test of a block. */
export function useMadeUp(test: TestDatabase) {
  const tables = [...new Set([...systemTables, ...kitTables, ...madeUp.tables])]
  let source: MadeUpSource | undefined
  beforeAll(() => migrate(test.database, tables))
  beforeEach(async () => {
    await emptyTables(test.database, tables)
  })
  afterEach(async () => {
    await source?.stop()
    source = undefined
  })
  const ids = async (of: Table<any>): Promise<number[]> =>
    (await readAll(test.database, { table: of })).map((row: any) => Number(row.id)).sort((one, other) => one - other)
  return {
    async start(): Promise<MadeUpSource> {
      source = await startMadeUpSource()
      const { connections } = settingsTables(madeUpSpec)
      await write(test.database, [
        connections.row({ id: 1, name: 'made up', endpoint: source.url, token: 'secret' } as any),
        boards.row({ connection_id: 1, id: 7, name: 'Seven' } as any),
      ])
      return source
    },
    /** Collects and extracts the subtasks of these labels. Returns the results of collecting, by label. */
    async run(labels: readonly string[], options: Parameters<typeof runSubtask>[4] = {}) {
      const results: Record<string, SubtaskResult> = {}
      const run = (name: string) => runSubtask(test.database, madeUp, name, { connectionId: 1, boardId: 7 }, options)
      for (const label of labels) {
        results[label] = await run(`collect${label}`)
        await run(`extract${label}`)
      }
      return results
    },
    ids,
    gaps: () => readAll(test.database, { table: gaps }),
    receipt: async (raw: string) =>
      (await readAll(test.database, { table: receipts, where: { raw_table: `_raw_madeup_${raw}` } }))[0],
  }
}
