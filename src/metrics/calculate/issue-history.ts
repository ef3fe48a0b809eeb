/** How long issues stayed in each status and with each assignee, from their changelogs. */
import { sql } from 'kysely'
import type { Database } from '../../database/database.ts'
import type { Table, TableRow } from '../../database/table.ts'
import { write } from '../../database/write.ts'
import { issueAssigneeHistory, issueStatusHistory } from '../../domain/ticket.ts'
import { type Calculation, type CalculationRun, mapped, projectOf, type Sql, swap } from './calculation.ts'

export interface Change {
  readonly at: Date
  readonly from: string
  readonly to: string
  /** In our words. */
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

/** Issues with their changes of one field; an issue without a date of creation has no history. */
async function* tracedIssues({ kysely }: Database, boards: Sql, field: string): AsyncGenerator<TracedIssue> {
  const query = kysely
    .selectFrom(
      sql<Traced>`(select i.id, i.created_date, i.status, i.original_status, i.assignee_id, c.id as change_id,
          c.created_date as at, c.original_from_value, c.original_to_value, c.from_value, c.to_value
        from issues i left join issue_changelogs c on c.issue_id = i.id and c.field_name = ${field}
        where i.id in (select issue_id from board_issues where board_id in (${boards})) and i.created_date is not null)`.as(
        'traced',
      ),
    )
    .selectAll()
    .orderBy('id')
    .orderBy('at')
    .orderBy('change_id' as never)
  let issue: TracedIssue | undefined
  for await (const row of query.stream(1000)) {
    if (issue?.id !== row.id) {
      if (issue) yield issue
      issue = {
        id: row.id,
        createdAt: row.created_date as Date,
        status: row.status ?? '',
        originalStatus: row.original_status ?? '',
        assignee: row.assignee_id ?? '',
        changes: [],
      }
    }
    if (!row.at || !issue) continue
    issue.changes.push({
      at: row.at,
      from: row.original_from_value ?? '',
      to: row.original_to_value ?? '',
      standardFrom: row.from_value ?? '',
      standardTo: row.to_value ?? '',
    })
  }
  if (issue) yield issue
}

const BATCH_ROWS = 5000

const history =
  (table: Table<any>, field: string, rowsOf: (issue: TracedIssue, now: Date) => TableRow[]): Calculation =>
  ({ database, options, signal }: CalculationRun) => {
    const scopeIds: readonly string[] = options.scopeIds ?? []
    const boards = scopeIds.length > 0 ? sql.join(scopeIds) : mapped('boards', projectOf(options))
    const now = new Date()
    return swap(database, async (inside) => {
      await sql`delete from ${sql.table(table.name)} where issue_id in (
        select issue_id from board_issues where board_id in (${boards}))`.execute(inside.kysely)
      let written = 0
      let batch: TableRow[] = []
      const send = async () => {
        signal.throwIfAborted()
        await write(inside, batch)
        written += batch.length
        batch = []
      }
      for await (const issue of tracedIssues(database, boards, field)) {
        batch.push(...rowsOf(issue, now))
        if (batch.length >= BATCH_ROWS) await send()
      }
      await send()
      return written
    })
  }

export const convertIssueStatusHistory = history(issueStatusHistory, 'status', statusRows)
export const convertIssueAssigneeHistory = history(issueAssigneeHistory, 'assignee', assigneeRows)
