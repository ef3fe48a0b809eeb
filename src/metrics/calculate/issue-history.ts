/** Calculates from changelogs how long issues stayed in each status and with each assignee. */

import { sql } from 'kysely'
import type { Database } from '../../database/database.ts'
import { among, inPieces } from '../../database/pieces.ts'
import type { AnyTable } from '../../database/table.ts'
import { defineTable, key, string, type TableRow } from '../../database/table.ts'
import { issueAssigneeHistory, issueStatusHistory } from '../../domain/ticket.ts'
import { accountOfAssignee } from './account-of-assignee.ts'
import {
  type Calculation,
  type CalculationRun,
  type Forgetting,
  mapped,
  mappedByOthers,
  projectOf,
  type Sql,
} from './calculation.ts'
import { inTurn, remove, replaceRows, writeInto } from './results.ts'

/** When a project is removed, its histories are removed too. Those of the boards in this table are kept. */
export const tracedBoards = defineTable(
  '_weir_traced_boards',
  { board_id: key(string()) },
  {
    meaning: 'Boards that a task named whose project does not have them: somebody wants the histories of their issues.',
  },
)

interface Change {
  readonly at: Date
  readonly from: string
  readonly to: string
  /** The standard words of the domain model. */
  readonly standardFrom: string
  readonly standardTo: string
}
export interface TracedIssue {
  readonly id: string
  readonly createdAt: Date
  readonly status: string
  readonly originalStatus: string
  readonly assignee: string
  readonly changes: Change[]
}
interface Stay {
  readonly word: string
  readonly standard: string
  readonly start: Date
}

export function statusRows({ id, createdAt, status, originalStatus, changes }: TracedIssue, now: Date): TableRow[] {
  const [first] = changes
  const stays: Stay[] = [
    first
      ? { word: first.from, standard: first.standardFrom, start: createdAt }
      : { word: originalStatus, standard: status, start: createdAt },
  ]
  for (const { at, to, standardTo } of changes) {
    stays.push({ word: to, standard: standardTo || (stays.at(-1) as Stay).standard, start: at })
  }
  return stays.map(({ word, standard, start }, index) => {
    const end = stays[index + 1]?.start ?? now
    return issueStatusHistory.row({
      issue_id: id,
      original_status: word,
      start_date: start,
      status: standard,
      end_date: end,
      is_current_status: index === stays.length - 1,
      is_first_status: index === 0,
      status_time_minutes: Math.trunc(Math.max(0, end.getTime() - start.getTime()) / 60_000),
    })
  })
}

const assigneesIn = (list: string) =>
  list
    .split(',')
    .map((each) => each.trim())
    .filter(Boolean)

export function assigneeRows({ id, createdAt, assignee, changes }: TracedIssue, now: Date): TableRow[] {
  const since = new Map<string, Date>()
  const rows: TableRow[] = []
  const close = (who: string, end: Date) => {
    rows.push(
      issueAssigneeHistory.row({ issue_id: id, assignee: who, start_date: since.get(who) as Date, end_date: end }),
    )
    since.delete(who)
  }
  for (const who of assigneesIn(changes[0] ? changes[0].from : assignee)) since.set(who, createdAt)
  for (const { at, from, to } of changes) {
    const before = assigneesIn(from)
    const after = assigneesIn(to)
    for (const who of before) if (!after.includes(who) && since.has(who)) close(who, at)
    for (const who of after) if (!before.includes(who) && !since.has(who)) since.set(who, at)
  }
  for (const who of [...since.keys()]) close(who, now)
  return rows
}

interface Traced {
  readonly id: string
  readonly created_date: Date | null
  readonly status: string | null
  readonly original_status: string | null
  readonly assignee_id: string | null
  readonly at: Date | null
  readonly original_from_value: string | null
  readonly original_to_value: string | null
  readonly from_value: string | null
  readonly to_value: string | null
}

const BATCH_ISSUES = 1000

/** Reads issues with their changes of one field, a page at a time. An issue without a date of creation has no history. */
async function* tracedIssues({ kysely }: Database, issues: Sql, field: string): AsyncGenerator<TracedIssue[]> {
  for (let last = ''; ; ) {
    const page = sql`select id from issues where id in (${issues}) and created_date is not null and id > ${last}
      order by id limit ${sql.lit(BATCH_ISSUES)}`
    const { rows } =
      await sql<Traced>`select i.id, i.created_date, i.status, i.original_status, ${accountOfAssignee('i')} as assignee_id,
        c.created_date as at, c.original_from_value, c.original_to_value, c.from_value, c.to_value
      from (${page}) p inner join issues i on i.id = p.id
      left join issue_changelogs c on c.issue_id = i.id and c.field_name = ${field}
      order by i.id, c.created_date, c.id`.execute(kysely)
    const found = [...Map.groupBy(rows, ({ id }) => id).values()].map(tracedIssue)
    if (found.length > 0) yield found
    if (found.length < BATCH_ISSUES) return
    last = (found.at(-1) as TracedIssue).id
  }
}

function tracedIssue(rows: readonly Traced[]): TracedIssue {
  const [first] = rows as [Traced]
  return {
    id: first.id,
    createdAt: first.created_date as Date,
    status: first.status ?? '',
    originalStatus: first.original_status ?? '',
    assignee: first.assignee_id ?? '',
    changes: rows.flatMap(({ at, original_from_value, original_to_value, from_value, to_value }) =>
      at
        ? [
            {
              at,
              from: original_from_value ?? '',
              to: original_to_value ?? '',
              standardFrom: from_value ?? '',
              standardTo: to_value ?? '',
            },
          ]
        : [],
    ),
  }
}

const onBoards = (condition: Sql) => sql`select issue_id from board_issues where ${condition}`

/** Issues on the boards that a task names, or on those of its project. */
function* issuesOf({ scopeIds = [], ...options }: CalculationRun['options']): Generator<Sql> {
  if (scopeIds.length === 0) yield onBoards(sql`board_id in (${mapped('boards', projectOf(options))})`)
  for (const piece of inPieces(scopeIds)) yield onBoards(among(sql`board_id`, piece))
}

async function noteBoards(inside: Database, { projectName, scopeIds = [] }: CalculationRun['options']): Promise<void> {
  const { rows } = await sql<{ row_id: string }>`${mapped('boards', projectName ?? '')}`.execute(inside.kysely)
  const own = new Set(rows.map(({ row_id }) => row_id))
  const others = scopeIds.filter((board_id: string) => !own.has(board_id))
  await writeInto(
    inside,
    tracedBoards,
    others.map((board_id: string) => tracedBoards.row({ board_id })),
  )
}

const history =
  (table: AnyTable, field: string, rowsOf: (issue: TracedIssue, now: Date) => TableRow[]): Calculation =>
  ({ database, options, signal }: CalculationRun) =>
    inTurn(database, table.name, async (inside) => {
      await noteBoards(inside, options)
      const now = new Date()
      let written = 0
      for (const issues of issuesOf(options)) {
        const isGone = sql`not exists (select 1 from issues i where i.id = issue_id)`
        written += await replaceRows(inside, table, [sql`issue_id in (${issues})`, isGone], async (target) => {
          let made = 0
          for await (const batch of tracedIssues(inside, issues, field)) {
            signal.throwIfAborted()
            made += await writeInto(
              inside,
              target,
              batch.flatMap((issue) => rowsOf(issue, now)),
            )
          }
          return made
        })
      }
      return written
    })

export const convertIssueStatusHistory = history(issueStatusHistory, 'status', statusRows)
export const convertIssueAssigneeHistory = history(issueAssigneeHistory, 'assignee', assigneeRows)

const forgetHistory =
  (table: AnyTable): Forgetting =>
  (inside, project) => {
    const others = [mappedByOthers('boards', project), sql`select board_id from ${sql.table(tracedBoards.name)}`]
    const isOnlyHere = others.map((boards) => sql`issue_id not in (${onBoards(sql`board_id in (${boards})`)})`)
    const isHere = sql`issue_id in (${onBoards(sql`board_id in (${mapped('boards', project)})`)})`
    return remove(inside, table, sql.join([isHere, ...isOnlyHere], sql` and `))
  }

export const forgetStatusHistory = forgetHistory(issueStatusHistory)
export const forgetAssigneeHistory = forgetHistory(issueAssigneeHistory)
