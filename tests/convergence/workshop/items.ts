import { bigint, boolean, double, key, string, type TableRow, timestamp } from '../../../src/database/table.ts'
import { accounts } from '../../../src/domain/people.ts'
import {
  boardIssues,
  issues as domainIssues,
  issueAssignees,
  issueComments,
  issueLabels,
} from '../../../src/domain/ticket.ts'
import { offset } from '../../../src/plugin-kit/http/index.ts'
import type { Reconcile } from '../../../src/plugin-kit/spec/collect.ts'
import type { ExtractContext } from '../../../src/plugin-kit/spec/entity.ts'
import { byKey, wholeTable } from '../../../src/plugin-kit/spec/lookups.ts'
import { boardItems, boards, entity, NAMING, nodes, onBoard, people, type Rules, table } from './kit.ts'

export const kinds = table('kinds', 'WorkshopKind', { id: key(bigint()), name: string() })

export const items = table('items', 'WorkshopItem', {
  id: key(bigint()),
  title: string(),
  kind_id: bigint(),
  state: string(20),
  points: double(),
  is_hot: boolean((item, { scopeConfig }) => namesOf(item.labels).includes((scopeConfig as Rules).hotLabel)),
  reporter_id: bigint('reporter.id'),
  assignee_id: bigint('assignee.id'),
  created_date: timestamp('created_at'),
  updated_date: timestamp('updated_at'),
})

export const itemLabels = table('item_labels', 'WorkshopItemLabel', { item_id: key(bigint()), name: key(string()) })

export const comments = table('comments', 'WorkshopComment', {
  id: key(bigint()),
  item_id: bigint((_comment: unknown, { input }: any) => input.id),
  author_id: bigint('author.id'),
  body: string(),
  created_date: timestamp('created_at'),
})

/** Returns names from a list of names, or of nodes with a name. */
const namesOf = (labels: any): string[] => labels?.nodes?.map(({ name }: any) => name) ?? labels ?? []

const extract = {
  writes: [boardItems, people],
  owns: [{ table: itemLabels, by: { connection_id: 'connection_id', item_id: 'id' } }],
  dependsOn: ['hotLabel'],
  *rows(item: any, { read, connectionId }: ExtractContext<any, any, any>): Iterable<TableRow> {
    yield read(items, item)
    yield read(boardItems, item)
    for (const name of namesOf(item.labels)) {
      yield itemLabels.row({ connection_id: connectionId, item_id: item.id, name })
    }
    for (const person of [item.reporter, item.assignee]) if (person) yield read(people, person)
  },
}

const convert = {
  ...onBoard('id'),
  to: [domainIssues, boardIssues, issueAssignees],
  owns: [{ table: issueAssignees, by: { issue_id: 'id' } }],
  replaces: ['workshop_items', 'workshop_query_items'],
  lookups: { kinds: wholeTable(kinds, 'id'), people: byKey(people, 'id', ({ assignee_id }) => assignee_id) },
  dependsOn: ['incidentKind'],
  *rows(item: any, { idOf, scope, scopeConfig, lookups }: any): Iterable<TableRow> {
    const id = idOf(items, item.id)
    const kind = lookups.kinds.get(item.kind_id)?.name ?? ''
    const assignee = lookups.people.get(item.assignee_id)
    yield domainIssues.row({
      id,
      title: item.title,
      type: kind === scopeConfig.incidentKind ? 'INCIDENT' : 'REQUIREMENT',
      original_type: kind,
      priority: item.is_hot ? 'hot' : '',
      original_status: item.state,
      story_point: item.points,
      creator_id: idOf(people, item.reporter_id),
      assignee_name: assignee?.name,
      created_date: item.created_date,
      updated_date: item.updated_date,
    })
    yield boardIssues.row({ board_id: idOf(boards, scope.id), issue_id: id })
    if (assignee) {
      const assignee_id = idOf(people, assignee.id)
      yield issueAssignees.row({ issue_id: id, assignee_id, assignee_name: assignee.name })
    }
  },
}

/** Finds items that left a board or were deleted, by a list of names. `list` is where items are requested by id. */
const reconciledBy = (list: string): Reconcile => ({
  request: ({ scope }) => ({ path: `boards/${scope.id}/names` }),
  paging: offset({ size: 3, total: ({ body }) => body?.total }),
  records: (body) => body.names,
  named: {
    atOnce: 2,
    request: (keys, { scope }) => ({ path: `${list}/${scope.id}/items`, query: { id: keys } }),
  },
})
const filterBy = (since: Date) => ({ since: since.toISOString() })
const common = { label: 'Items', domainTypes: ['TICKET'], extract, convert } as const

export const itemEntity = entity(items, {
  ...common,
  raw: 'workshop_items',
  collect: {
    request: ({ scope }) => ({ path: `boards/${scope.id}/items` }),
    paging: offset({ size: 2, total: ({ body }) => body?.total }),
    records: (body) => body.items,
    incremental: { filterBy },
    reconcile: reconciledBy('boards'),
  },
})

/** The same items as a graph would return them: further labels beyond the first two must be requested. */
export const queryItemEntity = entity(items, {
  ...common,
  raw: 'workshop_query_items',
  collect: {
    request: ({ scope }) => ({ path: `query/boards/${scope.id}/items` }),
    paging: nodes,
    records: (body) => body.nodes,
    // This list cannot be filtered: it also has names of the board from before a start date.
    incremental: { newestFirstBy: 'updated_at' },
    reconcile: { ...reconciledBy('query/boards'), by: 'updated_at' },
    completes: [
      {
        list: ({ labels }) => labels,
        request: ({ id }) => ({ path: `query/items/${id}/labels` }),
        paging: nodes,
      },
    ],
  },
})

export const labelEntity = entity(itemLabels, {
  label: 'Labels',
  domainTypes: ['TICKET'],
  convert: {
    ...onBoard('item_id'),
    to: [issueLabels],
    replaces: ['workshop_items', 'workshop_query_items'],
    rows: (label, { idOf }) => [issueLabels.row({ issue_id: idOf(items, label.item_id), label_name: label.name })],
  },
})

export const commentEntity = entity(comments, {
  label: 'Comments',
  domainTypes: ['TICKET'],
  raw: 'workshop_comments',
  collect: {
    forEach: { table: items, ...onBoard('id'), input: ({ id }) => ({ id }), changedBy: 'updated_date' },
    request: ({ input }) => ({ path: `items/${input.id}/comments` }),
    paging: nodes,
    records: (body) => body.nodes,
    emptyOn: [404],
  },
  extract: {
    writes: [people],
    rows: (comment, { read }) => [read(comments, comment), read(people, comment.author)],
  },
  convert: {
    ...onBoard('item_id'),
    to: [issueComments],
    rows: (comment, { idOf }) => [
      issueComments.row({
        id: idOf(comments, comment.id),
        issue_id: idOf(items, comment.item_id),
        account_id: idOf(people, comment.author_id),
        body: comment.body,
        created_date: comment.created_date as Date,
      }),
    ],
  },
})

export const kindEntity = entity(kinds, {
  label: 'Kinds',
  domainTypes: ['TICKET'],
  raw: 'workshop_kinds',
  collect: { request: () => ({ path: 'kinds' }), isForAll: true },
})

export const peopleEntity = entity(people, {
  label: 'People',
  domainTypes: ['CROSS'],
  convert: {
    to: [accounts],
    replaces: NAMING,
    rows: (person, { idOf }) => [accounts.row({ id: idOf(people, person.id), full_name: person.name })],
  },
})
