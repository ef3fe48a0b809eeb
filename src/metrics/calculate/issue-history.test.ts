import { describe, expect, it } from 'vitest'
import type { TableRow } from '../../database/table.ts'
import { assigneeRows, statusRows, type TracedIssue } from './issue-history.ts'

const at = (hour: number) => new Date(Date.UTC(2024, 0, 1, hour))
const issue: TracedIssue = {
  id: 'i',
  createdAt: at(0),
  status: 'TODO',
  originalStatus: 'Open',
  assignee: 'ann',
  changes: [],
}
const change = (hour: number, from: string, to: string, standardFrom = '', standardTo = '') => ({
  at: at(hour),
  from,
  to,
  standardFrom,
  standardTo,
})
const read = (rows: TableRow[], ...names: string[]) =>
  rows.map(({ table, cells }) =>
    names.map((name) => {
      const cell = cells[table.names.indexOf(name)]
      return cell instanceof Date ? cell.getUTCHours() : cell
    }),
  )

describe('status history', () => {
  const columns = [
    'original_status',
    'status',
    'start_date',
    'end_date',
    'is_first_status',
    'is_current_status',
    'status_time_minutes',
  ]
  it('is one row without a change', () => {
    expect(read(statusRows(issue, at(5)), ...columns)).toEqual([['Open', 'TODO', 0, 5, true, true, 300]])
  })
  it('begins with what the first change came from, and keeps the standard word where a change has none', () => {
    const changes = [change(1, 'New', 'Doing', 'TODO', 'IN_PROGRESS'), change(3, 'Doing', 'Odd')]
    expect(read(statusRows({ ...issue, changes }, at(4)), ...columns)).toEqual([
      ['New', 'TODO', 0, 1, true, false, 60],
      ['Doing', 'IN_PROGRESS', 1, 3, false, false, 120],
      ['Odd', 'IN_PROGRESS', 3, 4, false, true, 60],
    ])
  })
  it('never counts backwards', () => {
    const changes = [change(2, 'a', 'b')]
    expect(read(statusRows({ ...issue, createdAt: at(5), changes }, at(6)), 'status_time_minutes')).toEqual([
      [0],
      [240],
    ])
  })
})

describe('assignee history', () => {
  const columns = ['assignee', 'start_date', 'end_date']
  it('is the assignee from the beginning without a change, and nothing without an assignee', () => {
    expect(read(assigneeRows(issue, at(5)), ...columns)).toEqual([['ann', 0, 5]])
    expect(assigneeRows({ ...issue, assignee: '' }, at(5))).toEqual([])
  })
  it('follows lists', () => {
    const changes = [change(1, 'ann,bob', 'bob,cid'), change(2, 'bob,cid', 'cid'), change(3, 'cid', '')]
    expect(read(assigneeRows({ ...issue, changes }, at(9)), ...columns)).toEqual([
      ['ann', 0, 1],
      ['bob', 0, 2],
      ['cid', 1, 3],
    ])
  })
  it('keeps the beginning if a changelog adds somebody twice', () => {
    const changes = [change(1, '', 'ann'), change(2, 'bob', 'bob,ann')]
    expect(read(assigneeRows({ ...issue, changes }, at(9)), ...columns)).toEqual([['ann', 1, 9]])
  })
})
